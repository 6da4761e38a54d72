from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from icalendar import Calendar

from newagent.calendars.collect import MAX_TEXT
from newagent.calendars.ics_export import StudyItem, export_ics
from newagent.calendars.importer import read_timetable
from newagent.calendars.model import Course, Meeting, clean, merged
from newagent.errors import InputError
from newagent.schedule.calendar import DEFAULT_SECTIONS, Semester
from tests.calendars.calendar_files import TERM, codes, read

COURSE = Course("线代; 一, 二\\n", "A,1", (Meeting(1, 1, 1, 2), Meeting(3, 1, 1, 2)))
ITEM = StudyItem("task-7", "第1章 习题", "概率论, 复习", 2, 7, 11, 12)


def lines(data: bytes) -> list[str]:
    return data.replace(b"\r\n ", b"").decode().split("\r\n")


def test_an_event_for_every_meeting_and_item() -> None:
    exported = lines(export_ics(TERM, [COURSE], [ITEM]))
    assert exported[:6] == [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//newagent//timetable//EN",
        "CALSCALE:GREGORIAN",
        "METHOD:PUBLISH",
        "BEGIN:VTIMEZONE",
    ]
    first = exported.index("BEGIN:VEVENT")
    assert exported[first : first + 8] == [
        "BEGIN:VEVENT",
        "SUMMARY:线代\\; 一\\, 二\\\\n",
        "DTSTART;TZID=Asia/Shanghai:20260302T080000",
        "DTEND;TZID=Asia/Shanghai:20260302T094000",
        "DTSTAMP:20260302T000000Z",
        exported[first + 5],
        "LOCATION:A\\,1",
        "END:VEVENT",
    ]
    assert [line for line in exported if line.startswith("DTSTART;")] == [
        "DTSTART;TZID=Asia/Shanghai:20260302T080000",
        "DTSTART;TZID=Asia/Shanghai:20260315T205000",
        "DTSTART;TZID=Asia/Shanghai:20260316T080000",
    ]
    assert "CATEGORIES:概率论\\, 复习" in exported
    assert exported[-2:] == ["END:VCALENDAR", ""]


def test_lines_are_folded_and_end_in_crlf() -> None:
    data = export_ics(TERM, [Course("很长的课程名" * 30, "地点" * 90, COURSE.meetings)])
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert max(len(line) for line in data.split(b"\r\n")) <= 75
    for line in data.split(b"\r\n"):
        line.decode()  # never folded in the middle of a character


def uids(data: bytes) -> list[str]:
    return [line for line in lines(data) if line.startswith("UID:")]


def test_ids_are_stable_and_unique() -> None:
    data = export_ics(TERM, [COURSE], [ITEM])
    assert len(set(uids(data))) == 3
    moved = StudyItem(ITEM.uid, "另一个名字", "x", 5, 1, 1, 2)
    assert set(uids(export_ics(TERM, [], [moved]))) <= set(uids(data))
    others = Course("甲", "", (Meeting(1, 1, 1, 2),))
    assert set(uids(data)) < set(uids(export_ics(TERM, [others, COURSE], [ITEM])))


def test_the_order_of_the_arguments_does_not_matter() -> None:
    other = Course("甲", "", (Meeting(1, 1, 1, 2), Meeting(2, 3, 5, 8)), can_embed=True)
    assert export_ics(TERM, [COURSE, other], [ITEM]) == export_ics(TERM, [other, COURSE], [ITEM])


def test_what_hosts_study_is_marked() -> None:
    host = Course("鉴赏", "", (Meeting(1, 1, 1, 2),), can_embed=True)
    assert read(export_ics(TERM, [host, COURSE]), "t.ics").courses == merged([host, COURSE])


def test_no_courses_at_all() -> None:
    assert "BEGIN:VEVENT" not in lines(export_ics(TERM, []))


@pytest.mark.parametrize(
    "meeting",
    [Meeting(19, 1, 1, 2), Meeting(0, 7, 1, 2), Meeting(1, 1, 12, 13), Meeting(1, 1, 0, 1), Meeting(1, 1, 3, 2)],
)
def test_what_lies_outside_the_semester_is_refused(meeting: Meeting) -> None:
    with pytest.raises(InputError) as caught:
        export_ics(TERM, [Course("a", "", (meeting,))])
    assert (caught.value.code, caught.value.data) == ("outside_semester", meeting.as_json())


@pytest.mark.parametrize(
    ("zone", "start", "changes"),
    [
        ("Asia/Shanghai", dt.date(2026, 3, 2), ["20260301T080000 +0800 +0800"]),
        (
            "Europe/Berlin",
            dt.date(2026, 3, 2),
            ["20260301T010000 +0100 +0100", "20260329T020000 +0100 +0200"],
        ),
        (
            "Europe/Berlin",
            dt.date(2026, 9, 7),
            ["20260906T020000 +0200 +0200", "20261025T030000 +0200 +0100", "20270328T020000 +0100 +0200"],
        ),
        (
            "Africa/Cairo",  # summer time twice, around Ramadan
            dt.date(2010, 4, 12),
            [
                "20100411T020000 +0200 +0200",
                "20100430T000000 +0200 +0300",
                "20100811T000000 +0300 +0200",
                "20100910T000000 +0200 +0300",
                "20101001T000000 +0300 +0200",
            ],
        ),
        (
            "Africa/Casablanca",
            dt.date(2026, 1, 12),
            ["20260111T010000 +0100 +0100", "20260215T030000 +0100 +0000", "20260322T020000 +0000 +0100"],
        ),
    ],
)
def test_the_zone_tells_its_changes_in_the_semester(zone: str, start: dt.date, changes: list[str]) -> None:
    semester = Semester(start_date=start, weeks=30, time_zone=zone)
    (component,) = Calendar.from_ical(export_ics(semester, [])).walk("VTIMEZONE")
    assert component["TZID"] == zone
    told = [
        f"{part['DTSTART'].to_ical().decode()} {part['TZOFFSETFROM'].to_ical()} {part['TZOFFSETTO'].to_ical()}"
        for part in component.subcomponents
    ]
    assert told == changes


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "Asia/Chongqing", "US/Eastern", "Australia/Sydney", "Asia/Kolkata"])
def test_zones_come_back(zone: str) -> None:
    semester = Semester(start_date=dt.date(2026, 3, 2), time_zone=zone)
    weekly = Course("a", "", tuple(Meeting(week, 7, 1, 12) for week in range(1, 19)))
    assert read(export_ics(semester, [weekly]), "t.ics", semester).courses == (weekly,)


@st.composite
def semesters(draw: st.DrawFn) -> Semester:
    sections = DEFAULT_SECTIONS[: draw(st.integers(1, 12))]
    semester = Semester(
        start_date=dt.date(2026, 3, 2) + dt.timedelta(days=draw(st.integers(0, 13))),
        weeks=draw(st.integers(1, 30)),
        time_zone=draw(
            st.sampled_from(["Asia/Shanghai", "Europe/Berlin", "America/New_York", "UTC", "Asia/Kathmandu"])
        ),
        sections=sections,
    )
    return semester.extended(len(sections) + draw(st.integers(0, 1)))


@st.composite
def terms(draw: st.DrawFn) -> tuple[Semester, tuple[Course, ...]]:
    semester = draw(semesters())
    first = semester.start_date.isoweekday()
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(clean)

    def meeting(week: int, day: int, start: int, length: int) -> Meeting:
        day = max(day, first) if week == 1 else day
        return Meeting(week, day, start, min(start + length, len(semester.sections)))

    meetings = st.builds(
        meeting,
        st.integers(1, semester.weeks),
        st.integers(1, 7),
        st.integers(1, len(semester.sections)),
        st.integers(0, 3),
    )
    course = st.builds(
        Course, text.filter(bool), text, st.lists(meetings, min_size=1, max_size=6).map(tuple), st.booleans()
    )
    return semester, merged(draw(st.lists(course, max_size=4)))


@settings(max_examples=50, deadline=None)
@given(terms())
def test_what_is_exported_comes_back_the_same(term: tuple[Semester, tuple[Course, ...]]) -> None:
    semester, courses = term
    data = export_ics(semester, courses)
    if not courses:
        return
    result = read_timetable(data, semester, filename="t.ics")
    assert result.courses == courses
    assert result.semester == semester
    assert {row.taken for row in result.report} == {True}
    assert {code for _, reasons in codes(result) for code in reasons} == set()
    assert export_ics(semester, result.courses) == data


def test_study_items_come_back_with_name_and_place() -> None:
    (course,) = read(export_ics(TERM, [], [ITEM]), "t.ics").courses
    assert course == Course(ITEM.name, "", (Meeting(2, 7, 11, 12),))


def test_the_longest_name_comes_back() -> None:
    long = Course("长" * MAX_TEXT, "地" * MAX_TEXT, (Meeting(1, 1, 1, 2),))
    assert read(export_ics(TERM, [long]), "t.ics").courses == (long,)


SCRIPT = """
import hashlib
from newagent.calendars.ics_export import StudyItem, export_ics
from newagent.calendars.importer import read_timetable
from newagent.calendars.sample import sample_term
semester, data, classes = sample_term()
result = read_timetable(data, semester, filename="t.csv")
items = [StudyItem(str(n), "复习", "概率论", n, 7, 1, 2) for n in range(1, 9)]
exported = export_ics(result.semester, result.courses, items)
again = read_timetable(exported, semester, filename="t.ics")
floating = exported.replace(b";TZID=Asia/Shanghai", b"")
assert read_timetable(floating, semester, filename="t.ics").courses == again.courses
told = (exported, result.as_json(), again.as_json(), classes)
print(hashlib.sha256(repr(told).encode()).hexdigest())
"""


def test_two_machines_export_and_import_the_same() -> None:
    """Whatever their time zone, their locale and the seed of their hashes."""
    told = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "TZ": zone, "PYTHONHASHSEED": seed, "LC_ALL": locale},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for zone, seed, locale in (("Asia/Shanghai", "1", "C.UTF-8"), ("America/New_York", "2", "C"))
    }
    assert len(told) == 1
    assert len(told.pop().strip()) == 64


@pytest.mark.parametrize(
    ("zone", "start"),
    [
        ("Africa/Cairo", dt.date(2010, 4, 12)),
        ("Europe/Berlin", dt.date(2026, 9, 7)),
        ("America/New_York", dt.date(2026, 2, 2)),
        ("Africa/Casablanca", dt.date(2026, 1, 12)),
        ("Australia/Lord_Howe", dt.date(2026, 2, 2)),
        ("Asia/Shanghai", dt.date(2026, 2, 2)),
    ],
)
def test_a_reader_without_a_list_of_zones_reads_the_same_times(zone: str, start: dt.date) -> None:
    semester = Semester(start_date=start, weeks=30, time_zone=zone)
    daily = Course("a", "", tuple(Meeting(week, day, 1, 12) for week in range(1, 31) for day in range(1, 8)))
    exported = export_ics(semester, [daily]).replace(zone.encode(), b"Custom")
    result = read(exported, "t.ics", semester)
    assert result.courses == (daily,)
    assert set(codes(result)) == {(True, ())}
