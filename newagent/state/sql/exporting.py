"""The stored timetable as an export takes it: courses with their meetings, and applied study items."""

from __future__ import annotations

from dataclasses import dataclass

from newagent.calendars.ics_export import StudyItem
from newagent.calendars.model import Course
from newagent.schedule.calendar import Semester
from newagent.state.sql.facts import Facts


@dataclass(frozen=True)
class StoredTimetable:
    """A semester with its courses by name and place, and its applied items in order of time."""

    semester: Semester
    courses: tuple[Course, ...]
    study: tuple[StudyItem, ...]


def stored_timetable(facts: Facts) -> StoredTimetable:
    """The timetable of the semester in force. The uid of an item is its row, the same at every export."""
    courses = sorted(facts.courses, key=lambda course: (course.name, course.location))
    study = [
        StudyItem(f"task_item-{item.id}", item.name, one.task_class.name, **item.place.as_json())
        for one in facts.classes
        for item in one.items
        if item.place is not None and item.semester_id == facts.semester_id
    ]
    return StoredTimetable(
        facts.semester,
        tuple(Course(course.name, course.location, course.meetings, course.can_embed) for course in courses),
        tuple(sorted(study, key=lambda item: (item.week, item.day_of_week, item.start))),
    )
