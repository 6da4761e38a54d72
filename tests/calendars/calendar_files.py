"""Small timetable files for the tests of this directory, and what they should yield."""

from __future__ import annotations

import datetime as dt

from newagent.calendars.importer import read_timetable
from newagent.calendars.model import ImportResult
from newagent.schedule.calendar import Semester

TERM = Semester(start_date=dt.date(2026, 3, 2))  # a Monday; 18 weeks of 12 sections in Asia/Shanghai
HEADER = "课程名称,星期,开始节数,结束节数,老师,地点,周数"


def read(text: str | bytes, name: str = "t.csv", semester: Semester = TERM) -> ImportResult:
    """Reads a file that is given as a text or as bytes."""
    return read_timetable(text.encode() if isinstance(text, str) else text, semester, filename=name)


def rows(*lines: str, header: str = HEADER) -> ImportResult:
    """Reads a CSV with these rows."""
    return read("\n".join((header, *lines)))


def event(*lines: str, start: str = "20260302T080000", end: str = "20260302T094000") -> str:
    """A VEVENT named after its UID `e`, Monday of week 1, sections 1 and 2, in Shanghai."""
    own = {line.partition(":")[0].partition(";")[0] for line in lines}
    usual = (
        "UID:e",
        "SUMMARY:高数",
        f"DTSTART;TZID=Asia/Shanghai:{start}",
        f"DTEND;TZID=Asia/Shanghai:{end}",
    )
    kept = [line for line in usual if line.partition(":")[0].partition(";")[0] not in own]
    return "\r\n".join(("BEGIN:VEVENT", *kept, *(line for line in lines if line), "END:VEVENT"))


def calendar(*parts: str) -> str:
    """A VCALENDAR of events, time zones and lines; the first one begins on line 3."""
    return "\r\n".join(("BEGIN:VCALENDAR", "VERSION:2.0", *parts, "END:VCALENDAR", ""))


def events(*parts: str, semester: Semester = TERM) -> ImportResult:
    """Reads a calendar of these events."""
    return read(calendar(*parts), "t.ics", semester)


def codes(result: ImportResult) -> list[tuple[bool, tuple[str, ...]]]:
    """Of every row whether it was taken, and the codes of its reasons."""
    return [(row.taken, tuple(reason.code for reason in row.reasons)) for row in result.report]


def places(result: ImportResult) -> list[tuple[int, int, int, int]]:
    """The meetings of all courses as (week, weekday, first section, last section), in order of the courses."""
    return [(m.week, m.day_of_week, m.start, m.end) for course in result.courses for m in course.meetings]


def weeks(result: ImportResult) -> list[int]:
    """The weeks of the only course."""
    (course,) = result.courses
    return [meeting.week for meeting in course.meetings]
