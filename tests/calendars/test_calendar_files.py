from __future__ import annotations

import icalendar
import pytest
import recurring_ical_events

from newagent.calendars.collect import MAX_ROWS
from newagent.calendars.model import Course, Meeting
from newagent.errors import InputError
from tests.calendars.calendar_files import TERM, calendar, codes, event, events, places, read, weeks

WEEKLY = "RRULE:FREQ=WEEKLY;COUNT=4"
BERLIN = TERM.model_copy(update={"time_zone": "Europe/Berlin"})


def test_an_event_is_a_course_with_its_meetings() -> None:
    result = events(event("LOCATION:A1", WEEKLY))
    assert result.courses == (Course("高数", "A1", tuple(Meeting(week, 1, 1, 2) for week in (1, 2, 3, 4))),)
    assert result.as_json()["report"] == [{"line": 3, "taken": True, "reason": "", "course": "高数"}]


def test_the_lines_of_the_report_are_those_of_the_file() -> None:
    folded = event("UID:1").replace("SUMMARY:高数", "SUMMARY:高\r\n 数")
    assert [(row.line, row.course) for row in events(folded, event("UID:2")).report] == [(3, "高数"), (10, "高数")]


def test_a_line_folded_in_the_middle_of_a_character() -> None:
    name = "高等数学".encode()
    data = calendar(event("SUMMARY:?")).encode().replace(b"?", name[:4] + b"\r\n " + name[4:])
    assert [course.name for course in read(data).courses] == ["高等数学"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends(newline: str) -> None:
    text = calendar(event("LOCATION:A1", WEEKLY)).replace("\r\n", newline)
    assert weeks(read(text)) == [1, 2, 3, 4]


def test_bom_and_gb18030() -> None:
    text = calendar(event())
    assert read(b"\xef\xbb\xbf" + text.encode()).courses == read(text.encode("gb18030")).courses == read(text).courses


def test_escaped_texts_and_parameters() -> None:
    result = events(event(r"SUMMARY;LANGUAGE=zh:数学\, 一\; 二\n三\\四", 'LOCATION;ALTREP="http://a:1/;b":楼\\,1'))
    assert [(course.name, course.location) for course in result.courses] == [("数学, 一; 二 三\\四", "楼,1")]


@pytest.mark.parametrize(
    ("start", "end", "place"),
    [
        ("080000", "094000", (1, 2)),
        ("110000", "120000", (4, 4)),
        ("082200", "090000", (1, 1)),
        ("082300", "094000", (2, 2)),
        ("080000", "091800", (1, 2)),
        ("080000", "091700", (1, 1)),
        ("100000", "150000", (3, 5)),
        ("215000", "233000", (12, 12)),
        ("000000", "235900", (1, 12)),
        ("121500", "133000", None),
        ("080000", "080000", None),
        ("224000", "232500", None),
    ],
)
def test_an_event_takes_the_sections_of_which_it_covers_more_than_half(
    start: str, end: str, place: tuple[int, int] | None
) -> None:
    result = events(event(start=f"20260302T{start}", end=f"20260302T{end}"))
    if place is None:
        assert codes(result) == [(False, ("no_section",))]
    else:
        assert places(result) == [(1, 1, *place)]


def test_an_event_over_midnight_takes_sections_of_both_days() -> None:
    result = events(event(start="20260302T204000", end="20260303T094000"))
    assert places(result) == [(1, 1, 11, 12), (1, 2, 1, 2)]


def test_a_duration_instead_of_an_end_and_neither() -> None:
    plain = event().replace("\r\nDTEND;TZID=Asia/Shanghai:20260302T094000", "")
    assert places(events(plain.replace("END:", "DURATION:PT1H40M\r\nEND:"))) == [(1, 1, 1, 2)]
    assert codes(events(plain)) == [(False, ("no_section",))]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=WEEKLY", list(range(1, 19))),
        ("FREQ=WEEKLY;INTERVAL=2;COUNT=3", [1, 3, 5]),
        ("FREQ=WEEKLY;UNTIL=20260315T235959Z", [1, 2]),
        ("FREQ=WEEKLY;UNTIL=20260316T000000Z", [1, 2, 3]),
        ("FREQ=WEEKLY;UNTIL=20260316T080000", [1, 2, 3]),
        ("FREQ=WEEKLY;UNTIL=20260316", [1, 2, 3]),
        ("FREQ=WEEKLY;UNTIL=99991231T235959Z", list(range(1, 19))),
        ("freq=weekly;count=2;byday=mo;wkst=su", [1, 2]),
        ("FREQ=DAILY;INTERVAL=7;COUNT=2", [1, 2]),
        ("FREQ=MONTHLY;BYDAY=1MO;COUNT=2", [1, 6]),
        ("FREQ=MONTHLY;COUNT=2", [1]),
        ("FREQ=YEARLY", [1]),
        ("FREQ=WEEKLY;BYMONTH=4", [1, 6, 7, 8, 9]),
    ],
)
def test_recurrence(rule: str, expected: list[int]) -> None:
    result = events(event(f"RRULE:{rule}"))
    assert [m.week for m in result.courses[0].meetings if m.day_of_week == 1] == expected


def test_several_days_a_week() -> None:
    result = events(event("RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=4"))
    assert places(result) == [(1, 1, 1, 2), (1, 3, 1, 2), (2, 1, 1, 2), (2, 3, 1, 2)]


def test_dates_left_out_and_added() -> None:
    result = events(
        event(
            WEEKLY,
            "EXDATE;TZID=Asia/Shanghai:20260309T080000",
            "EXDATE:20260316T000000Z",
            "RDATE;TZID=Asia/Shanghai:20260305T101500,20260306T101500",
            "RDATE;VALUE=PERIOD:20260307T000000Z/PT1H",
        )
    )
    assert places(result) == [(1, 1, 1, 2), (1, 4, 3, 4), (1, 5, 3, 4), (1, 6, 1, 2), (4, 1, 1, 2)]


def test_a_date_excludes_what_starts_on_that_day() -> None:
    assert weeks(events(event(WEEKLY, "EXDATE;VALUE=DATE:20260309"))) == [1, 3, 4]


def test_a_moved_occurrence_is_a_row_of_its_own() -> None:
    result = events(
        event(WEEKLY, "LOCATION:A"),
        event("RECURRENCE-ID;TZID=Asia/Shanghai:20260309T080000", start="20260312T101500", end="20260312T115500"),
    )
    assert result.courses == (
        Course("高数", "", (Meeting(2, 4, 3, 4),)),
        Course("高数", "A", tuple(Meeting(week, 1, 1, 2) for week in (1, 3, 4))),
    )
    assert [row.line for row in result.report] == [3, 11]


@pytest.mark.parametrize("moved", ["RECURRENCE-ID:20260309T000000Z", "RECURRENCE-ID;VALUE=DATE:20260309"])
def test_other_ways_to_name_the_moved_occurrence(moved: str) -> None:
    result = events(event(WEEKLY), event(moved, start="20260310T080000", end="20260310T094000"))
    assert places(result) == [(1, 1, 1, 2), (2, 2, 1, 2), (3, 1, 1, 2), (4, 1, 1, 2)]


def test_all_later_occurrences_moved() -> None:
    result = events(
        event(WEEKLY),
        event(
            "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Asia/Shanghai:20260316T080000",
            start="20260317T101500",
            end="20260317T115500",
        ),
    )
    assert places(result) == [(1, 1, 1, 2), (2, 1, 1, 2), (3, 2, 3, 4), (4, 2, 3, 4)]


def test_all_later_occurrences_moved_by_years() -> None:
    moved = event("RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Asia/Shanghai:20200316T080000")
    assert codes(events(event(WEEKLY), moved)) == [(False, ("unsupported_rule",))] * 2


def test_a_cancelled_occurrence_does_not_take_place() -> None:
    result = events(event(WEEKLY), event("RECURRENCE-ID;TZID=Asia/Shanghai:20260309T080000", "STATUS:CANCELLED"))
    assert weeks(result) == [1, 3, 4]
    assert codes(result) == [(True, ()), (False, ("cancelled",))]


def test_an_occurrence_made_all_day_or_nameless_leaves_its_place_too() -> None:
    result = events(
        event(WEEKLY),
        event(
            "RECURRENCE-ID;TZID=Asia/Shanghai:20260309T080000",
            "DTSTART;VALUE=DATE:20260309",
            "DTEND;VALUE=DATE:20260310",
        ),
        event("RECURRENCE-ID;TZID=Asia/Shanghai:20260316T080000", "SUMMARY:"),
    )
    assert weeks(result) == [1, 4]
    assert codes(result) == [(True, ()), (False, ("all_day",)), (False, ("no_name",))]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("STATUS:CANCELLED",), "cancelled"),
        (("status:cancelled",), "cancelled"),
        (("SUMMARY:  ",), "no_name"),
        (("DTSTART;VALUE=DATE:20260302", "DTEND;VALUE=DATE:20260303"), "all_day"),
        (("DTSTART;VALUE=DATE:20260302", "DTEND:"), "bad_event"),
        (("DTEND;TZID=Asia/Shanghai:20260303T080000",), "all_day"),
        (("DTSTART:20250302T080000", "DTEND:20250302T094000"), "outside_semester"),
        (("DTSTART:20270302T080000", "DTEND:20270302T094000"), "outside_semester"),
        (("RRULE:FREQ=WEEKLY;COUNT=2", "EXDATE:20260302T080000,20260309T080000"), "no_occurrence"),
        (("RRULE:FREQ=WEEKLY;UNTIL=20250101",), "no_occurrence"),
        (("RRULE:FREQ=SECONDLY",), "unsupported_rule"),
        (("RRULE:FREQ=DAILY;COUNT=1", "RRULE:FREQ=WEEKLY;COUNT=1"), "unsupported_rule"),
        (("RRULE:FREQ=WEEKLY", "EXRULE:FREQ=WEEKLY;INTERVAL=2"), "unsupported_rule"),
        (("EXRULE:FREQ=WEEKLY;INTERVAL=2",), "unsupported_rule"),
        (("DTSTART:yesterday",), "bad_event"),
        (("DTSTART:PT1H",), "bad_event"),
        (("DTSTART:080000",), "bad_event"),
        (("DTSTART:20260302T080000/PT1H",), "bad_event"),
        (("DTSTART:18990302T080000",), "bad_event"),
        (("DTSTART:00010101T000000", "DTEND:00010101T010000"), "bad_event"),
        (("DTEND;VALUE=DATE:20260302",), "bad_event"),
        (("DTEND:20260302T070000",), "bad_event"),
        (("DTEND:20260302T256000",), "bad_event"),
        (("EXDATE:a,b",), "bad_event"),
        (("EXDATE:" + ",".join(["20260309T080000"] * 1_001),), "bad_event"),
        (('SUMMARY;X="a:b',), "bad_event"),
        (("SUMMARY",), "bad_event"),
    ],
)
def test_events_that_are_not_taken(lines: tuple[str, ...], code: str) -> None:
    result = events(event(*lines), event("UID:other", "SUMMARY:乙"))
    assert codes(result) == [(False, (code,)), (True, ())]
    assert result.report[0].reason("zh")
    assert result.report[0].reason("en")
    assert [course.name for course in result.courses] == ["乙"]


@pytest.mark.parametrize(
    ("duration", "code"), [("DURATION:20260302T094000", "bad_event"), ("DURATION:-PT1H", "bad_event")]
)
def test_durations_that_are_none(duration: str, code: str) -> None:
    plain = event().replace("DTEND;TZID=Asia/Shanghai:20260302T094000", duration)
    assert codes(events(plain)) == [(False, (code,))]


def test_a_series_before_the_semester_whose_rest_is_cancelled() -> None:
    rest = "EXDATE;TZID=Asia/Shanghai:20260302T080000"
    early = event("RRULE:FREQ=WEEKLY;COUNT=2", rest, start="20260223T080000", end="20260223T094000")
    assert codes(events(early)) == [(False, ("no_occurrence",))]


def test_an_event_without_a_start() -> None:
    plain = event().replace("DTSTART;TZID=Asia/Shanghai:20260302T080000\r\n", "")
    result = events(plain)
    assert codes(result) == [(False, ("bad_event",))]
    assert result.report[0].reason() == "这个日程的格式不对：DTSTART"


def test_an_event_that_is_never_closed_costs_only_itself() -> None:
    result = events(event("SUMMARY:甲").replace("\r\nEND:VEVENT", ""), event("UID:2", "SUMMARY:乙"))
    assert codes(result) == [(False, ("bad_event",)), (True, ())]
    assert result.report[0].course == "甲"


def test_properties_of_alarms_and_unknown_ones_are_not_those_of_the_event() -> None:
    alarm = "BEGIN:VALARM\r\nSUMMARY:铃\r\nDTSTART:x\r\nEND:VALARM"
    result = events(event(alarm, "X-ODD;;=:?", "DESCRIPTION:no colon needed\r\nbroken line"))
    assert [course.name for course in result.courses] == ["高数"]


def test_other_components_are_not_reported() -> None:
    result = events("BEGIN:VTODO\r\nSUMMARY:x\r\nEND:VTODO", event(), "END:NOTHING")
    assert codes(result) == [(True, ())]


def test_several_calendars_in_one_file_and_a_cancelled_one() -> None:
    text = calendar("METHOD:CANCEL", event()) + calendar(event("UID:2", "SUMMARY:乙"))
    assert codes(read(text)) == [(False, ("cancelled",)), (True, ())]


def test_a_newer_version_replaces_an_older_one() -> None:
    result = events(event(WEEKLY, "SEQUENCE:1"), event(WEEKLY, "SEQUENCE:2", "LOCATION:B"), event(WEEKLY, "SEQUENCE:x"))
    assert [course.location for course in result.courses] == ["B"]
    assert codes(result) == [(False, ("superseded",)), (True, ()), (False, ("superseded",))]


def test_a_later_version_of_a_moved_occurrence_replaces_an_earlier_one() -> None:
    moved = [
        event(
            "RECURRENCE-ID;TZID=Asia/Shanghai:20260309T080000", start=f"2026031{day}T080000", end=f"2026031{day}T084500"
        )
        for day in (0, 1)
    ]
    result = events(*moved, event("RRULE:FREQ=WEEKLY;COUNT=2"))
    assert places(result) == [(1, 1, 1, 2), (2, 3, 1, 1)]
    assert codes(result) == [(False, ("superseded",)), (True, ()), (True, ())]


def test_different_events_with_the_same_uid_or_none_are_all_taken() -> None:
    result = events(
        event("SUMMARY:甲"),
        event("SUMMARY:乙"),
        event("UID:", "SUMMARY:丙"),
        event("UID:", "SUMMARY:丁"),
        event("SUMMARY:戊"),
    )
    assert [course.name for course in result.courses] == ["丁", "丙", "乙", "戊", "甲"]


def test_what_lies_outside_the_semester_is_left_out_and_told() -> None:
    before = events(event("RRULE:FREQ=WEEKLY;COUNT=3", start="20260223T080000", end="20260223T094000"))
    assert weeks(before) == [1, 2]
    after = events(event("RRULE:FREQ=WEEKLY;COUNT=20"))
    assert weeks(after) == list(range(1, 19))
    assert codes(before) == codes(after) == [(True, ("some_outside",))]


def test_times_without_sections_are_left_out_and_told() -> None:
    result = events(event(WEEKLY, "RDATE;TZID=Asia/Shanghai:20260303T121500"))
    assert places(result) == [(week, 1, 1, 2) for week in (1, 2, 3, 4)]
    assert codes(result) == [(True, ("some_no_section",))]
    assert result.report[0].reason() == "有 1 次没有占到任何一节，没有取"


def test_utc_times_are_put_into_the_zone_of_the_semester() -> None:
    assert places(events(event("DTSTART:20260302T000000Z", "DTEND:20260302T014000Z"))) == [(1, 1, 1, 2)]


def test_floating_times_are_those_of_the_semester() -> None:
    result = events(event("DTSTART:20260302T080000", "DTEND:20260302T094000", WEEKLY), semester=BERLIN)
    assert weeks(result) == [1, 2, 3, 4]


def test_a_rule_keeps_its_local_time_when_clocks_change() -> None:
    local = event("DTSTART;TZID=Europe/Berlin:20260323T080000", "DTEND;TZID=Europe/Berlin:20260323T094000", WEEKLY)
    assert [place[1:] for place in places(events(local, semester=BERLIN))] == [(1, 1, 2)] * 4
    utc = event("DTSTART:20260323T070000Z", "DTEND:20260323T084000Z", WEEKLY)
    assert [place[1:] for place in places(events(utc, semester=BERLIN))] == [(1, 1, 2), (1, 2, 3), (1, 2, 3), (1, 2, 3)]


def test_a_calendar_with_a_zone_of_its_own_recurs_in_that_zone() -> None:
    utc = event("DTSTART:20260323T070000Z", "DTEND:20260323T084000Z", WEEKLY)
    floating = event("UID:2", "DTSTART:20260323T101500", "DTEND:20260323T115500", WEEKLY)
    result = events("X-WR-TIMEZONE:Europe/Berlin", utc, floating, semester=BERLIN)
    assert {place[1:] for place in places(result)} == {(1, 1, 2), (1, 3, 4)}


def test_a_course_that_hosts_study_comes_back_as_one() -> None:
    result = events(event("X-NEWAGENT-CAN-EMBED:TRUE"), event("UID:2", "SUMMARY:乙", "X-NEWAGENT-CAN-EMBED:no"))
    assert {course.name: course.can_embed for course in result.courses} == {"高数": True, "乙": False}


def test_a_calendar_without_events() -> None:
    with pytest.raises(InputError) as caught:
        events()
    assert caught.value.code == "nothing_to_import"


def test_as_many_events_as_a_person_can_read() -> None:
    with pytest.raises(InputError) as caught:
        events(*["BEGIN:VEVENT\r\nEND:VEVENT"] * (MAX_ROWS + 1))
    assert caught.value.code == "too_many_rows"


def test_as_many_occurrences_as_a_person_can_have() -> None:
    with pytest.raises(InputError) as caught:
        events(*(event(f"UID:{number}", "RRULE:FREQ=DAILY") for number in range(100)))
    assert caught.value.code == "too_many_occurrences"


def test_components_nested_without_end() -> None:
    with pytest.raises(InputError) as caught:
        events(*["BEGIN:X"] * 10_000)
    assert caught.value.code == "nothing_to_import"


def test_a_fault_of_the_library_is_told_as_one_of_the_event(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise AttributeError("no such thing")

    with monkeypatch.context() as patch:
        patch.setattr(recurring_ical_events, "of", fails)
        result = events(event(WEEKLY), event("RECURRENCE-ID:20260309T000000Z"))
        assert codes(result) == [(False, ("bad_event",))] * 2
        assert result.report[0].reason() == "这个日程的格式不对：no such thing"
    with monkeypatch.context() as patch:
        patch.setattr(icalendar.vDDDTypes, "from_ical", fails)
        assert codes(events(event())) == [(False, ("bad_event",))]
