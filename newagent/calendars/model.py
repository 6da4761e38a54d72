"""What an import yields and an export takes: courses with their meetings, and a report line by line."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from newagent.calendars.reasons import Reason
from newagent.schedule.calendar import Semester
from newagent.texts import Locale


@dataclass(frozen=True, order=True)
class Meeting:
    """One meeting of a course: a week, a weekday (1 is Monday), and its first and last section."""

    week: int
    day_of_week: int
    start: int
    end: int

    def as_json(self) -> dict[str, int]:
        """The meeting as a slot of a JSON document."""
        return {"week": self.week, "day_of_week": self.day_of_week, "start": self.start, "end": self.end}


@dataclass(frozen=True)
class Course:
    """A course, known by its name and its place ("" if it has none), with its meetings in order.

    `can_embed` says that study may be placed inside its meetings; a file says so in a column of its own.
    """

    name: str
    location: str
    meetings: tuple[Meeting, ...]
    can_embed: bool = False

    def as_json(self) -> dict[str, Any]:
        """The course as `import --json` prints it."""
        return {
            "name": self.name,
            "location": self.location,
            "slots": [meeting.as_json() for meeting in self.meetings],
        }


@dataclass(frozen=True)
class LineReport:
    """What became of a row of a CSV, a course of a JSON document or an event of a calendar.

    `line` is where it begins, counted from 1. `reasons` say why it was not taken, or what to know about it if it was.
    """

    line: int
    taken: bool
    reasons: tuple[Reason, ...] = ()
    course: str | None = None

    def reason(self, locale: Locale = "zh") -> str:
        """All reasons as one text, "" if there is none."""
        return ("；" if locale == "zh" else "; ").join(reason.text(locale) for reason in self.reasons)


@dataclass(frozen=True)
class Overlap:
    """A section that several courses want; their names in order."""

    week: int
    day_of_week: int
    section: int
    courses: tuple[str, ...]


@dataclass(frozen=True)
class ImportResult:
    """A whole file, read. `semester` has the sections that the file made necessary."""

    semester: Semester
    courses: tuple[Course, ...] = ()
    report: tuple[LineReport, ...] = ()
    overlaps: tuple[Overlap, ...] = field(default=())

    def as_json(self, locale: Locale = "zh") -> dict[str, Any]:
        """The document that `newagent import --json` prints."""
        return {
            "sections": len(self.semester.sections),
            "weeks": self.semester.weeks,
            "courses": [course.as_json() for course in self.courses],
            "report": [
                {"line": row.line, "taken": row.taken, "reason": row.reason(locale), "course": row.course}
                for row in self.report
            ],
            "overlaps": [
                {
                    "week": overlap.week,
                    "day_of_week": overlap.day_of_week,
                    "section": overlap.section,
                    "courses": list(overlap.courses),
                }
                for overlap in self.overlaps
            ],
        }


def clean(text: str) -> str:
    """A name or a place as it is kept: runs of white space are one space, control characters are gone."""
    visible = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))
    return " ".join(visible.split()).strip(" \ufeff")


def merged(courses: Iterable[Course]) -> tuple[Course, ...]:
    """Courses by name and place: each once, its meetings in order, overlapping ones of a day made one."""
    meetings: dict[tuple[str, str], set[Meeting]] = {}
    embeddable: set[tuple[str, str]] = set()
    for course in courses:
        key = (course.name, course.location)
        meetings.setdefault(key, set()).update(course.meetings)
        if course.can_embed:
            embeddable.add(key)
    return tuple(Course(*key, united(meetings[key]), can_embed=key in embeddable) for key in sorted(meetings))


def united(meetings: Iterable[Meeting]) -> tuple[Meeting, ...]:
    """Meetings in order, those that share a section made one; neighbours without a shared section stay two."""
    result: list[Meeting] = []
    for meeting in sorted(set(meetings)):
        last = result[-1] if result else None
        if last and (last.week, last.day_of_week) == (meeting.week, meeting.day_of_week) and meeting.start <= last.end:
            result[-1] = Meeting(last.week, last.day_of_week, last.start, max(last.end, meeting.end))
        else:
            result.append(meeting)
    return tuple(result)


def overlaps_of(courses: Iterable[Course]) -> tuple[Overlap, ...]:
    """The sections that more than one course wants, in order."""
    wanted: dict[tuple[int, int, int], list[str]] = {}
    for course in courses:
        for meeting in course.meetings:
            for section in range(meeting.start, meeting.end + 1):
                wanted.setdefault((meeting.week, meeting.day_of_week, section), []).append(course.name)
    return tuple(Overlap(*place, tuple(sorted(names))) for place, names in sorted(wanted.items()) if len(names) > 1)
