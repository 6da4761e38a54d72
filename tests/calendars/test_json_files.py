from __future__ import annotations

import json
from typing import Any

import pytest

from newagent.errors import InputError
from tests.calendars.calendar_files import TERM, codes, places, read, rows, weeks

SLOT = {"week": 1, "day_of_week": 1, "start": 1, "end": 2}


def courses(*courses: Any, **fields: Any) -> Any:
    return read(json.dumps({"courses": courses, **fields}, ensure_ascii=False), "t.json")


def course(*slots: Any, **fields: Any) -> dict[str, Any]:
    return {"name": "高数", "slots": list(slots) or [SLOT], **fields}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["t.json", "t.txt"])
def test_what_an_import_prints_can_be_imported(indent: int | None, name: str) -> None:
    result = rows("线代,1,1,2,,A,1-16双", "体育,3,11,13,,,2", "线代,2,1,2,,B,1")
    again = read(json.dumps(result.as_json(), ensure_ascii=False, indent=indent), name)
    assert again.courses == result.courses
    assert again.semester == result.semester


def test_an_array_of_courses_alone() -> None:
    assert places(read(f"\n [{json.dumps(course())}]", "t.txt")) == [(1, 1, 1, 2)]


def test_the_report_tells_the_line_on_which_a_course_begins() -> None:
    text = """{"name": "courses", "note": {"courses": [1, {"a": [2]}]},
    "courses": [1],
    "courses": [
        {"name": "a, [b", "slots": [{"week": 1, "day_of_week": 1,
                   "start": 1, "end": 2}]}, 7,
        "x]", null,
        [1, {"courses": []}],\r\n{"name": "c\\"]", "slots": [{"week": 1, "day_of_week": 2, "start": 1, "end": 2}]}
    ], "last": ["courses"]}"""
    result = read(text, "t.json")
    assert [(row.line, row.taken, row.course) for row in result.report] == [
        (4, True, "a, [b"),
        (5, False, None),
        (6, False, None),
        (6, False, None),
        (7, False, None),
        (8, True, 'c"]'),
    ]


def test_weeks_as_a_text_as_numbers_and_one_by_one() -> None:
    when = {"day_of_week": 1, "start": 1, "end": 2}
    assert weeks(courses(course({**when, "weeks": "1-5单"}))) == [1, 3, 5]
    assert weeks(courses(course({**when, "weeks": [2, 4]}))) == [2, 4]
    assert weeks(courses(course({**when, "week": 3}, {**when, "week": 2}))) == [2, 3]


def test_places_and_hosts() -> None:
    result = courses(course(location=" A  1 ", can_embed=True), course(location=None, name="乙"))
    assert [(one.name, one.location, one.can_embed) for one in result.courses] == [
        ("乙", "", False),
        ("高数", "A 1", True),
    ]


@pytest.mark.parametrize(
    ("malformed", "code", "detail"),
    [
        ({"slots": [SLOT]}, "bad_course", "name"),
        ({"name": 5, "slots": [SLOT]}, "bad_course", "name"),
        ({"name": " ", "slots": [SLOT]}, "no_name", None),
        ({"name": "a"}, "bad_course", "slots"),
        ({"name": "a", "slots": []}, "bad_course", "slots"),
        ({"name": "a", "slots": {}}, "bad_course", "an array is missing"),
        ({"name": "a", "slots": [1]}, "bad_course", "day_of_week"),
        ({"name": "a", "slots": [SLOT], "location": 3}, "bad_course", "location"),
        ({"name": "a", "slots": [SLOT], "can_embed": "yes"}, "bad_course", "can_embed"),
        (course({**SLOT, "day_of_week": 8}), "bad_course", "day_of_week"),
        (course({**SLOT, "day_of_week": True}), "bad_course", "day_of_week"),
        (course({**SLOT, "start": 0}), "bad_course", "start"),
        (course({**SLOT, "start": 1.0}), "bad_course", "start"),
        (course({**SLOT, "start": 3}), "bad_course", "end"),
        (course({**SLOT, "end": 100}), "bad_course", "end"),
        (course({**SLOT, "week": None}), "bad_course", "week"),
        (course({**SLOT, "week": 61}), "bad_course", "week"),
        (course({**SLOT, "weeks": {}}), "bad_course", "an array is missing"),
        (course({**SLOT, "weeks": "x"}), "bad_course", "cannot read the weeks 'x'"),
        (course({**SLOT, "weeks": []}), "bad_course", "slots"),
        (course({**SLOT, "end": 40}), "no_room", None),
        (course({**SLOT, "week": 19}), "outside_semester", None),
        ([], "bad_course", "name"),
    ],
)
def test_courses_that_are_not_taken(malformed: Any, code: str, detail: str | None) -> None:
    result = courses(malformed, course(name="乙"))
    assert codes(result) == [(False, (code,)), (True, ())]
    if detail is not None:
        assert result.report[0].reason() == f"这门课的格式不对：{detail}"


def test_days_off_and_a_day_that_follows_another() -> None:
    """Friday 1 May is off and made up for on Saturday 9 May, which has a course of its own."""
    friday = course({**SLOT, "weeks": "8-10", "day_of_week": 5}, name="周五课")
    saturday = course({**SLOT, "weeks": "10", "day_of_week": 6, "start": 3, "end": 4}, name="周六课")
    monday = course({**SLOT, "weeks": "9-10"}, name="周一课")
    result = courses(
        friday, saturday, monday, days_off=["2026-05-01"], make_up=[{"date": "2026-05-09", "follows": "2026-05-01"}]
    )
    assert {one.name: [(m.week, m.day_of_week) for m in one.meetings] for one in result.courses} == {
        "周五课": [(8, 5), (10, 5), (10, 6)],
        "周一课": [(9, 1), (10, 1)],
    }
    assert codes(result) == [(True, ("adjusted",)), (False, ("all_off",)), (True, ())]
    assert result.report[0].reason() == "按调休移动 1 次、放假取消 0 次"


def test_a_day_may_be_followed_while_it_takes_place_itself() -> None:
    result = courses(course({**SLOT, "week": 1}), make_up=[{"date": "2026-03-07", "follows": "2026-03-02"}])
    assert places(result) == [(1, 1, 1, 2), (1, 6, 1, 2)]
    off = courses(course({**SLOT, "weeks": "1-3"}), days_off=["2026-03-02"])
    assert weeks(off) == [2, 3]
    assert off.report[0].reason("en") == "0 times moved to a make-up day, 1 times off"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "bad_json"),
        ('{"courses": [NaN]}', "bad_json"),
        ("[" * 100_000, "bad_json"),
        ('{"courses": [' + "9" * 10_000 + "]}", "bad_json"),
        ("{}", "bad_document"),
        ('{"courses": {}}', "bad_document"),
        ('{"courses": [], "days_off": "2026-05-01"}', "bad_document"),
        ('{"courses": [], "days_off": [5]}', "bad_document"),
        ('{"courses": [], "days_off": ["May"]}', "bad_document"),
        ('{"courses": [], "make_up": [{"date": "2026-05-01"}]}', "bad_document"),
        ('{"courses": [], "make_up": [1]}', "bad_document"),
        (
            json.dumps({"courses": [], "make_up": [{"date": "2026-05-01", "follows": "2026-05-02"}] * 101}),
            "bad_document",
        ),
        ('{"courses": []}', "nothing_to_import"),
        ("[]", "nothing_to_import"),
        (json.dumps({"courses": [course({**SLOT, "weeks": "1-60"})] * 5_001}), "too_many_rows"),
        (json.dumps({"courses": [course(*[{**SLOT, "weeks": "1-60"}] * 1_001)]}), "too_many_rows"),
    ],
    ids=range(16),
)
def test_documents_that_are_no_timetable(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "t.json")
    assert caught.value.code == code
    assert caught.value.message


def test_a_json_file_that_holds_another_thing() -> None:
    with pytest.raises(InputError) as caught:
        read("3", "t.json", TERM)
    assert caught.value.code == "bad_document"
