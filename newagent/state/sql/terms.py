"""Semesters and courses, written: putting a semester, importing a timetable file, deleting a course."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from newagent.calendars.model import Course, ImportResult, Meeting, merged
from newagent.errors import InputError, NotFoundError, RefusedError
from newagent.schedule.calendar import Semester
from newagent.state.sql.keys import check_user, new_id, sought
from newagent.state.sql.reading import read_courses, semester_in_force
from newagent.state.sql.tables import NAME_LENGTH, event_slots, events, item_slots, semesters
from newagent.state.sql.transaction import Transaction


@dataclass(frozen=True)
class Imported:
    """What an import did, course by course; `absent` are stored courses that the file does not have."""

    added: tuple[Course, ...]
    changed: tuple[Course, ...]
    unchanged: tuple[Course, ...]
    absent: tuple[Course, ...]

    def as_json(self) -> dict[str, Any]:
        """Counts, and the names of what is new, other or absent."""
        groups = {"added": self.added, "changed": self.changed, "unchanged": self.unchanged, "absent": self.absent}
        details = {
            name: [{"name": course.name, "location": course.location} for course in group]
            for name, group in groups.items()
            if name != "unchanged"
        }
        counts = {name: len(group) for name, group in groups.items()}
        return {"courses": len(self.added + self.changed + self.unchanged), **counts, "details": details}


async def put_semester(connection: Transaction, user_id: str, semester: Semester) -> int:
    """Stores a semester and puts it in force; one with the same first day is replaced. Returns its id.

    Raises `RefusedError("semester_too_small")` when something stored in it would lie outside.
    """
    semester_id = await _write_semester(connection, user_id, semester)
    weeks, sections = await _extent(connection, semester_id)
    if weeks > semester.weeks or sections > len(semester.sections):
        raise RefusedError(
            "semester_too_small",
            f"the stored timetable needs {weeks} weeks and {sections} sections a day",
            weeks=weeks,
            sections=sections,
        )
    return semester_id


async def import_courses(connection: Transaction, user_id: str, result: ImportResult, *, replace: bool) -> Imported:
    """Stores the semester and the courses of a file; a course is known by its name and place.

    Stored courses that the file does not have stay, or go with `replace`. The semester is extended where they need
    more of it. Raises `InputError`: meeting_outside_semester, name_too_long.
    """
    given = merged(result.courses)
    for course in given:
        _check(course, result.semester)
    semester_id = await _write_semester(connection, user_id, result.semester)
    stored = {(course.name, course.location): course for course in await read_courses(connection, semester_id)}
    added: list[Course] = []
    changed: list[Course] = []
    unchanged: list[Course] = []
    for course in given:
        before = stored.pop((course.name, course.location), None)
        if before is None:
            added.append(course)
            made = await connection.execute(
                insert(events).values(
                    semester_id=semester_id,
                    name=course.name,
                    location=course.location,
                    can_embed=course.can_embed,
                )
            )
            await _add_meetings(connection, new_id(made), course.meetings)
        elif (before.meetings, before.can_embed) == (course.meetings, course.can_embed):
            unchanged.append(course)
        else:
            changed.append(course)
            await connection.execute(update(events).where(events.c.id == before.id).values(can_embed=course.can_embed))
            await connection.execute(delete(event_slots).where(event_slots.c.event_id == before.id))
            await _add_meetings(connection, before.id, course.meetings)
    absent = tuple(Course(c.name, c.location, c.meetings, c.can_embed) for c in stored.values())
    if replace and stored:
        await connection.execute(delete(events).where(events.c.id.in_([course.id for course in stored.values()])))
    await _fit_semester(connection, user_id, semester_id, result.semester)
    return Imported(tuple(added), tuple(changed), tuple(unchanged), absent)


async def remove_course(connection: Transaction, user_id: str, course_id: int) -> None:
    """Deletes a course with its meetings. Raises `NotFoundError("unknown_course")`."""
    await semester_in_force(connection, user_id, hold=True)
    mine = select(semesters.c.id).where(semesters.c.user_id == user_id)
    gone = await connection.execute(
        delete(events).where(events.c.id == sought(course_id), events.c.semester_id.in_(mine))
    )
    if gone.rowcount != 1:
        raise NotFoundError("unknown_course", f"there is no course {course_id}")


def _check(course: Course, semester: Semester) -> None:
    for what in (course.name, course.location):
        if len(what) > NAME_LENGTH:
            raise InputError("name_too_long", f"a course's name and place have at most {NAME_LENGTH} characters")
    for meeting in course.meetings:
        fits = (
            1 <= meeting.week <= semester.weeks
            and 1 <= meeting.day_of_week <= 7
            and semester.holds(semester.date_of(meeting.week, meeting.day_of_week))
            and 1 <= meeting.start <= meeting.end <= len(semester.sections)
        )
        if not fits:
            words = f"「{course.name}」 meets outside the semester: {meeting.as_json()}"
            raise InputError("meeting_outside_semester", words, course=course.name, meeting=meeting.as_json())


async def _write_semester(connection: Transaction, user_id: str, semester: Semester) -> int:
    check_user(user_id)
    in_force = await semester_in_force(connection, user_id, hold=True)
    query = select(semesters.c.id).where(semesters.c.user_id == user_id, semesters.c.start_date == semester.start_date)
    semester_id = (await connection.execute(query)).scalar()
    values: dict[str, Any] = {
        "weeks": semester.weeks,
        "time_zone": semester.time_zone,
        "sections": semester.model_dump(mode="json")["sections"],
    }
    if in_force is None or semester_id != in_force.id:
        last = select(func.max(semesters.c.chosen)).where(semesters.c.user_id == user_id)
        values["chosen"] = ((await connection.execute(last)).scalar() or 0) + 1
    if semester_id is None:
        row = insert(semesters).values(user_id=user_id, start_date=semester.start_date, **values)
        return new_id(await connection.execute(row))
    await connection.execute(update(semesters).where(semesters.c.id == semester_id).values(**values))
    return semester_id


async def _fit_semester(connection: Transaction, user_id: str, semester_id: int, semester: Semester) -> None:
    """Extends a semester where something stored in it needs more weeks or sections than the file gave."""
    weeks, sections = await _extent(connection, semester_id)
    if weeks <= semester.weeks and sections <= len(semester.sections):
        return
    try:
        wider = semester.extended(sections).model_copy(update={"weeks": max(weeks, semester.weeks)})
    except ValueError as error:
        raise RefusedError("semester_too_small", f"the stored timetable needs {sections} sections: {error}") from None
    await _write_semester(connection, user_id, wider)


async def _extent(connection: Transaction, semester_id: int) -> tuple[int, int]:
    """The last week and the last section that something stored in a semester takes; 0 where there is nothing."""
    of_courses = select(func.max(event_slots.c.week).label("week"), func.max(event_slots.c.section).label("section"))
    of_courses = of_courses.join(events, events.c.id == event_slots.c.event_id)
    of_items = select(func.max(item_slots.c.week).label("week"), func.max(item_slots.c.section).label("section"))
    one = (await connection.execute(of_courses.where(events.c.semester_id == semester_id))).one()
    other = (await connection.execute(of_items.where(item_slots.c.semester_id == semester_id))).one()
    return max(one.week or 0, other.week or 0), max(one.section or 0, other.section or 0)


async def _add_meetings(connection: Transaction, event_id: int, meetings: tuple[Meeting, ...]) -> None:
    rows = [
        {
            "event_id": event_id,
            "week": meeting.week,
            "day_of_week": meeting.day_of_week,
            "section": section,
            "meeting": meeting.start,
        }
        for meeting in meetings
        for section in range(meeting.start, meeting.end + 1)
    ]
    if rows:
        await connection.execute(insert(event_slots), rows)
