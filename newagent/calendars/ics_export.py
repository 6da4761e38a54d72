"""The export of a timetable as iCalendar: one event an occurrence, in the semester's time zone.

The bytes depend on the arguments alone: no clock, no time zone of the machine, no random ids.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import icalendar

from newagent.calendars.ics_event import EMBED_PROPERTY
from newagent.calendars.ics_timezone import time_zone
from newagent.calendars.model import Course, Meeting, clean
from newagent.errors import InputError
from newagent.schedule.calendar import Semester

_icalendar: Any = icalendar
_DOMAIN = "newagent"


@dataclass(frozen=True)
class StudyItem:
    """An item of a task class at its place. `uid` names it for good, wherever it is moved: its row, not its place."""

    uid: str
    name: str
    class_name: str
    week: int
    day_of_week: int
    start: int
    end: int


def export_ics(semester: Semester, courses: Iterable[Course], items: Iterable[StudyItem] = ()) -> bytes:
    """The courses' meetings and the study items as an iCalendar file, in order of time.

    An event lasts from the start of its first section to the end of its last; the class of an item is its category.
    Raises `InputError` outside_semester for what lies outside the weeks or the section table.
    """
    calendar = _icalendar.Calendar()
    calendar["PRODID"] = "-//newagent//timetable//EN"
    calendar["VERSION"] = "2.0"
    calendar["CALSCALE"] = "GREGORIAN"
    calendar["METHOD"] = "PUBLISH"
    calendar.add_component(time_zone(semester))
    events = [_course_event(semester, course, meeting) for course in courses for meeting in course.meetings]
    events.extend(_item_event(semester, item) for item in items)
    for event in sorted(events, key=lambda event: (event["DTSTART"].dt, str(event["UID"]))):
        calendar.add_component(event)
    exported: bytes = calendar.to_ical()
    return exported


def _course_event(semester: Semester, course: Course, meeting: Meeting) -> Any:
    event = _event(semester, meeting, course.name)
    identity = (course.name, course.location, meeting.week, meeting.day_of_week, meeting.start, meeting.end)
    event["UID"] = f"course-{_digest(*identity)}@{_DOMAIN}"
    if course.location:
        event["LOCATION"] = _icalendar.vText(clean(course.location))
    if course.can_embed:
        event[EMBED_PROPERTY] = "TRUE"
    return event


def _item_event(semester: Semester, item: StudyItem) -> Any:
    event = _event(semester, Meeting(item.week, item.day_of_week, item.start, item.end), item.name)
    event["UID"] = f"item-{_digest(item.uid)}@{_DOMAIN}"
    event["CATEGORIES"] = _icalendar.vCategory([clean(item.class_name)])
    return event


def _event(semester: Semester, meeting: Meeting, name: str) -> Any:
    date = semester.date_of(meeting.week, meeting.day_of_week)
    if not semester.holds(date) or not 1 <= meeting.start <= meeting.end <= len(semester.sections):
        raise InputError("outside_semester", f"{name} lies outside the semester", **meeting.as_json())
    first, last = semester.sections[meeting.start - 1], semester.sections[meeting.end - 1]
    event = _icalendar.Event()
    event["SUMMARY"] = _icalendar.vText(clean(name))
    event["DTSTAMP"] = _icalendar.vDDDTypes(dt.datetime.combine(semester.start_date, dt.time.min, tzinfo=dt.UTC))
    for key, time in (("DTSTART", first.start), ("DTEND", last.end)):
        event[key] = _icalendar.vDDDTypes(semester.instant(date, time))
    return event


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
