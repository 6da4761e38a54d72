"""The stored timetable as an export takes it: courses by week, weekday and sections, and applied study items."""

from __future__ import annotations

from dataclasses import dataclass

from newagent.calendars.model import Course, Meeting
from newagent.schedule.calendar import Semester
from newagent.state.sql.facts import Facts


@dataclass(frozen=True)
class StudyItem:
    """An applied item: `item_id` is its stored row, the same at every export."""

    item_id: int
    name: str
    task_class: str
    meeting: Meeting


@dataclass(frozen=True)
class StoredTimetable:
    """A semester with its courses and applied items, both in order."""

    semester: Semester
    courses: tuple[Course, ...]
    study: tuple[StudyItem, ...]


def stored_timetable(facts: Facts) -> StoredTimetable:
    """The timetable of the semester in force."""
    courses = sorted(facts.courses, key=lambda course: (course.name, course.location))
    study = [
        StudyItem(item.id, item.name, one.task_class.name, item.place)
        for one in facts.classes
        for item in one.items
        if item.place is not None and item.semester_id == facts.semester_id
    ]
    return StoredTimetable(
        facts.semester,
        tuple(Course(course.name, course.location, course.meetings, course.can_embed) for course in courses),
        tuple(sorted(study, key=lambda item: (item.meeting, item.item_id))),
    )
