from __future__ import annotations

import pytest

from newagent.calendars.collect import MAX_ROWS, MAX_TEXT
from newagent.calendars.model import Course, Meeting
from newagent.errors import InputError
from tests.calendars.calendar_files import HEADER, TERM, codes, places, read, rows, weeks

ROW = "高等数学,1,1,2,王老师,3教201,1-2"
RANGES = "课程名称,星期,开始节数,结束节数,老师,地点,开始周,结束周,单双周(0全1单2双)"


def test_a_row_is_a_course_with_its_meetings() -> None:
    result = rows(ROW)
    assert result.courses == (Course("高等数学", "3教201", (Meeting(1, 1, 1, 2), Meeting(2, 1, 1, 2))),)
    assert result.semester == TERM
    assert result.overlaps == ()
    assert result.as_json() == {
        "sections": 12,
        "weeks": 18,
        "courses": [
            {
                "name": "高等数学",
                "location": "3教201",
                "slots": [
                    {"week": 1, "day_of_week": 1, "start": 1, "end": 2},
                    {"week": 2, "day_of_week": 1, "start": 1, "end": 2},
                ],
            }
        ],
        "report": [{"line": 2, "taken": True, "reason": "", "course": "高等数学"}],
        "overlaps": [],
    }


@pytest.mark.parametrize(
    ("parity", "expected"),
    [("0", [1, 2, 3, 4, 5]), ("1", [1, 3, 5]), ("2", [2, 4]), ("", [1, 2, 3, 4, 5]), ("双周", [2, 4])],
)
def test_the_shape_with_first_and_last_week(parity: str, expected: list[int]) -> None:
    assert weeks(rows(f"高数,1,1,2,,,1,5,{parity}", header=RANGES)) == expected


@pytest.mark.parametrize(
    "ends",
    [",5,0", "1,,0", "5,1,0", "a,5,0", "1,5,3", "2,2,1", "1,99,0"],
)
def test_first_and_last_week_that_name_no_weeks(ends: str) -> None:
    result = rows(f"高数,1,1,2,,,{ends}", header=RANGES)
    assert codes(result) == [(False, ("bad_weeks",))]
    assert result.courses == ()


@pytest.mark.parametrize(
    "header",
    [
        "name,day,start,end,teacher,location,weeks",
        "Course, Weekday ,Start Section,End Section,Teacher,Room,Weeks",
        "课程名,周几,开始节次,结束节次,教师,上课教室,周次",
        '"课程名称","星期","开始节数","结束节数","老师","地点","周数"',
    ],
)
def test_names_of_columns(header: str) -> None:
    result = rows("高数,2,3,4,王,A1,3", header=header)
    assert places(result) == [(3, 2, 3, 4)]
    assert result.courses[0].location == "A1"


def test_columns_in_any_order_and_further_ones() -> None:
    result = rows("x,3,4,A1,2,高数,3,y", header="学分,开始节数,结束节数,地点,星期,课程名称,周数,备注")
    assert places(result) == [(3, 2, 3, 4)]


@pytest.mark.parametrize("sections", ["3-4", "第3-4节", "第3节-第4节", "3~4", "3 - 4"])
def test_one_column_of_sections(sections: str) -> None:
    assert places(rows(f"高数,2,{sections},A1,3", header="课程,星期,节次,地点,周数")) == [(3, 2, 3, 4)]


def test_a_single_section_in_one_column() -> None:
    assert places(rows("高数,2,第5节,A1,3", header="课程,星期,节次,地点,周数")) == [(3, 2, 5, 5)]


@pytest.mark.parametrize("delimiter", ["\t", ";", "，", "|"])
def test_delimiters(delimiter: str) -> None:
    text = "\n".join((HEADER, "高数,1,1,2,王,A1,3")).replace(",", delimiter)
    assert places(read(text)) == [(3, 1, 1, 2)]


@pytest.mark.parametrize(
    ("text", "day"),
    [("7", 7), ("日", 7), ("天", 7), ("周三", 3), ("星期五", 5), ("礼拜六", 6), ("２", 2), ("Mon", 1), ("SUNDAY", 7)],
)
def test_weekdays(text: str, day: int) -> None:
    assert places(rows(f"高数,{text},1,2,,,1")) == [(1, day, 1, 2)]


@pytest.mark.parametrize(
    ("row", "code", "words"),
    [
        (",1,1,2,,,1", "no_name", "没有课程名称"),
        (" \u3000,1,1,2,,,1", "no_name", "没有课程名称"),
        ("a,8,1,2,,,1", "bad_weekday", "星期“8”看不懂，应为 1 到 7"),
        ("a,0,1,2,,,1", "bad_weekday", "星期“0”看不懂，应为 1 到 7"),
        ("a,,1,2,,,1", "bad_weekday", "星期“”看不懂，应为 1 到 7"),
        ("a,1,3,2,,,1", "bad_sections", "节次“3-2”不对，应为从小到大的正整数"),
        ("a,1,0,2,,,1", "bad_sections", "节次“0-2”不对，应为从小到大的正整数"),
        ("a,1,x,2,,,1", "bad_sections", "节次“x-2”不对，应为从小到大的正整数"),
        ("a,1,,,,,1", "bad_sections", "节次“-”不对，应为从小到大的正整数"),
        ("a,1,1,2,,,abc", "bad_weeks", "周数“abc”看不懂"),
        ("a,1,1,2", "bad_weeks", "周数“”看不懂"),
        ("a,1,1,2,,,2-5,7-9", "too_many_fields", "列数比表头多；含逗号的周数要加引号"),
        ("a,1,1,30,,,1", "no_room", "第30节排不下：一天到不了那么晚"),
        ("a,1,14,14,,,1", "no_room", "第14节排不下：一天到不了那么晚"),
        ("a,1,1,2,,,19-20", "outside_semester", "全部在学期之外"),
        ('a,1,1,2,,"A1,1', "bad_quotes", "引号没有成对或不在字段两端"),
        ('a,1,1,2,,"A"1,1', "bad_quotes", "引号没有成对或不在字段两端"),
    ],
)
def test_rows_that_are_not_taken(row: str, code: str, words: str) -> None:
    result = rows(row, ROW)
    assert codes(result) == [(False, (code,)), (True, ())]
    first = result.as_json()["report"][0]
    assert (first["line"], first["reason"]) == (2, words)
    assert [course.name for course in result.courses] == ["高等数学"]


def test_a_long_cell_is_quoted_short() -> None:
    (row,) = rows(f"a,{'x' * 300},1,2,,,1").report
    assert row.reason() == f"星期“{'x' * 39}…”看不懂，应为 1 到 7"


def test_the_report_speaks_english_too() -> None:
    (row,) = rows("a,8,1,2,,,1").as_json("en")["report"]
    assert row["reason"] == "cannot read the weekday “8”: it is 1 to 7"


def test_weeks_partly_outside_the_semester() -> None:
    result = rows("a,1,1,2,,,17-20")
    assert weeks(result) == [17, 18]
    assert codes(result) == [(True, ("some_weeks_outside",))]
    assert result.report[0].reason() == "第19、20周有在学期之外的，没有取"


def test_a_term_that_starts_on_a_wednesday() -> None:
    wednesday = TERM.model_copy(update={"start_date": TERM.date_of(1, 3)})
    result = read(f"{HEADER}\na,1,1,2,,,1-2\nb,3,1,2,,,1-2", semester=wednesday)
    assert places(result) == [(2, 1, 1, 2), (1, 3, 1, 2), (2, 3, 1, 2)]
    assert codes(result) == [(True, ("some_weeks_outside",)), (True, ())]


def test_a_thirteenth_section_extends_the_table_once() -> None:
    result = rows("a,6,11,13,,,2", "b,7,13,13,,,2")
    assert codes(result) == [(True, ("extended",)), (True, ())]
    assert result.report[0].reason() == "课表延长到 13 节"
    assert result.as_json()["sections"] == 13
    last = result.semester.sections[-1]
    assert (last.start.isoformat(), last.end.isoformat(), last.period) == ("22:40:00", "23:25:00", "evening")


def test_sixteen_sections_where_the_day_has_room() -> None:
    short = TERM.model_copy(update={"sections": TERM.sections[:4]})
    result = read(f"{HEADER}\na,1,15,16,,,1", semester=short)
    assert places(result) == [(1, 1, 15, 16)]
    assert len(result.semester.sections) == 16


def test_a_course_without_a_place_and_one_in_two_places() -> None:
    result = rows("体育,3,7,8,,,1", "线代,1,1,2,,A,1", "线代,1,3,4,,B,1")
    assert [(course.name, course.location) for course in result.courses] == [("体育", ""), ("线代", "A"), ("线代", "B")]


def test_several_rows_of_one_course_are_one_course() -> None:
    result = rows("线代,4,1,2,,A,1", "线代,2,5,6,,A,2双")
    assert places(result) == [(1, 4, 1, 2), (2, 2, 5, 6)]
    assert codes(result) == [(True, ()), (True, ())]


def test_the_same_row_twice_is_told_and_merged() -> None:
    result = rows(ROW, ROW)
    assert result.courses == rows(ROW).courses
    assert codes(result) == [(True, ()), (True, ("duplicate",))]


def test_meetings_that_share_a_section_are_one_and_neighbours_stay_two() -> None:
    assert places(rows("a,1,1,2,,,1", "a,1,2,3,,,1", "a,1,4,5,,,1")) == [(1, 1, 1, 3), (1, 1, 4, 5)]


def test_overlaps_are_shown_and_both_taken() -> None:
    result = rows("乙,1,2,3,,,1", "甲,1,1,2,,,1", "甲,1,1,2,,B,1")
    assert all(row.taken for row in result.report)
    assert result.as_json()["overlaps"] == [
        {"week": 1, "day_of_week": 1, "section": 1, "courses": ["甲", "甲"]},
        {"week": 1, "day_of_week": 1, "section": 2, "courses": ["乙", "甲", "甲"]},
    ]


@pytest.mark.parametrize(
    ("flag", "embeds", "notes"),
    [
        ("是", True, ()),
        ("1", True, ()),
        ("Yes", True, ()),
        ("", False, ()),
        ("否", False, ()),
        ("?", False, ("unknown_flag",)),
    ],
)
def test_a_column_says_which_courses_host_study(flag: str, embeds: bool, notes: tuple[str, ...]) -> None:
    result = rows(f"鉴赏,1,1,2,,,1,{flag}", header=f"{HEADER},水课")
    assert [course.can_embed for course in result.courses] == [embeds]
    assert codes(result) == [(True, notes)]


def test_blank_lines_and_rows_of_commas_are_no_rows() -> None:
    result = rows("", ROW, " , ,,,,,", '" ",,', "", "乙,2,1,2,,,1", "")
    assert [row.line for row in result.report] == [3, 7]


def test_lines_before_the_header_are_skipped() -> None:
    assert [row.line for row in read(f"2026年春季课表\n\n{HEADER}\n{ROW}").report] == [4]


def test_line_breaks_of_any_kind_and_inside_quotes() -> None:
    result = read(f'{HEADER}\r\n"高\n数",1,1,2,,"A\r\n1",1\r{ROW}\n')
    assert [(row.line, row.course) for row in result.report] == [(2, "高 数"), (5, "高等数学")]
    assert {course.location for course in result.courses} == {"A 1", "3教201"}


def test_an_unclosed_quote_costs_its_own_row_only() -> None:
    result = rows('"甲,1,1,2,,,1', ROW, "乙,2,1,2,,,1")
    assert codes(result) == [(False, ("bad_quotes",)), (True, ()), (True, ())]


def test_a_cell_longer_than_any_csv_field() -> None:
    result = rows(f"{'x' * 200_000},1,1,2,,,1", ROW)
    assert codes(result) == [(False, ("bad_quotes",)), (True, ())]


def test_control_characters_and_white_space_in_names() -> None:
    result = rows("\u200b 高\x07等\t 数 学 ,1,1,2,, A\u3000 1 ,1")
    assert [(course.name, course.location) for course in result.courses] == [("\u200b 高等 数 学", "A 1")]


def test_names_that_are_too_long_are_cut() -> None:
    result = rows(f"{'长' * 300},1,1,2,,{'地' * 201},1")
    (course,) = result.courses
    assert (len(course.name), len(course.location)) == (MAX_TEXT, MAX_TEXT)
    assert course.name.endswith("长…")
    assert codes(result) == [(True, ("shortened",))]


@pytest.mark.parametrize(
    "header", ["课程名称,星期,开始节数,周数", "课程名称,开始节数,结束节数,周数", "a,b", "星期,开始节数,结束节数,周数"]
)
def test_a_header_that_lacks_a_column(header: str) -> None:
    with pytest.raises(InputError) as caught:
        rows(ROW, header=header)
    assert caught.value.code == "no_header"


def test_only_a_header() -> None:
    with pytest.raises(InputError) as caught:
        rows()
    assert caught.value.code == "nothing_to_import"


def test_as_many_rows_as_a_person_can_read() -> None:
    assert len(rows(*["a,8,1,2,,,1"] * MAX_ROWS).report) == MAX_ROWS
    with pytest.raises(InputError) as caught:
        rows(*["a,8,1,2,,,1"] * (MAX_ROWS + 1))
    assert (caught.value.code, caught.value.data) == ("too_many_rows", {"limit": MAX_ROWS})


def test_blank_rows_that_only_a_parser_sees_are_counted_too() -> None:
    with pytest.raises(InputError) as caught:
        rows(*['" ",'] * (MAX_ROWS + 1))
    assert caught.value.code == "too_many_rows"


def test_as_many_meetings_as_a_person_can_have() -> None:
    with pytest.raises(InputError) as caught:
        rows(*[f"a,{1 + row % 7},1,12,,,1-18" for row in range(3_400)])
    assert caught.value.code == "too_many_rows"
