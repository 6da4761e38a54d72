"""Reads a user's stored timetable into `Facts`."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Row, select

from newagent.calendars.model import Meeting
from newagent.errors import RefusedError, StoreError
from newagent.schedule.calendar import Semester
from newagent.schedule.model import TaskClass
from newagent.state.sql.facts import Facts, StoredClass, StoredCourse, StoredItem, StoredSemester
from newagent.state.sql.tables import event_slots, events, item_slots, semesters, task_classes, task_items
from newagent.state.sql.transaction import Transaction


async def semester_in_force(connection: Transaction, user_id: str, *, hold: bool = False) -> StoredSemester | None:
    """The user's semester that was put last; with `hold` no one else changes the timetable until the end."""
    query = select(semesters).where(semesters.c.user_id == user_id).order_by(semesters.c.chosen.desc()).limit(1)
    row = (await connection.execute(query.with_for_update() if hold else query)).first()
    if row is None:
        return None
    semester = Semester(start_date=row.start_date, weeks=row.weeks, time_zone=row.time_zone, sections=row.sections)
    return StoredSemester(row.id, semester)


async def read_facts(connection: Transaction, user_id: str, *, hold: bool = False) -> Facts:
    """The whole timetable. Raises `RefusedError("no_semester")`."""
    stored = await semester_in_force(connection, user_id, hold=hold)
    if stored is None:
        raise RefusedError("no_semester", "there is no semester yet; import a timetable first")
    courses = await read_courses(connection, stored.id)
    classes = await read_classes(connection, user_id)
    return Facts(stored.id, stored.semester, courses, classes)


async def read_courses(connection: Transaction, semester_id: int) -> tuple[StoredCourse, ...]:
    """The courses of a semester by row, meetings in order."""
    slots = await connection.execute(
        select(event_slots)
        .join(events, events.c.id == event_slots.c.event_id)
        .where(events.c.semester_id == semester_id)
    )
    sections: dict[int, dict[tuple[int, int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in slots:
        sections[row.event_id][row.week, row.day_of_week, row.meeting].append(row.section)
    query = select(events).where(events.c.semester_id == semester_id).order_by(events.c.id)
    return tuple(
        StoredCourse(row.id, row.name, row.location, row.can_embed, _meetings(sections[row.id]))
        for row in await connection.execute(query)
    )


async def read_classes(connection: Transaction, user_id: str) -> tuple[StoredClass, ...]:
    """The user's task classes by row, items in order."""
    places = await _places(connection, user_id)
    items: dict[int, list[StoredItem]] = defaultdict(list)
    of_user = select(task_items).join(task_classes, task_classes.c.id == task_items.c.task_class_id)
    query = of_user.where(task_classes.c.user_id == user_id).order_by(task_items.c.item_order)
    for row in await connection.execute(query):
        semester_id, place = places.get(row.id, (None, None))
        items[row.task_class_id].append(
            StoredItem(row.id, row.name, row.item_order, row.duration, row.priority, semester_id, place)
        )
    found = select(task_classes).where(task_classes.c.user_id == user_id).order_by(task_classes.c.id)
    return tuple(StoredClass(_task_class(row), tuple(items[row.id])) for row in await connection.execute(found))


async def _places(connection: Transaction, user_id: str) -> dict[int, tuple[int, Meeting]]:
    query = select(item_slots).where(item_slots.c.user_id == user_id).order_by(item_slots.c.section)
    sections: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in await connection.execute(query):
        sections[row.task_item_id].append(row)
    return {
        item_id: (rows[0].semester_id, Meeting(rows[0].week, rows[0].day_of_week, rows[0].section, rows[-1].section))
        for item_id, rows in sections.items()
    }


def _meetings(sections: dict[tuple[int, int, int], list[int]]) -> tuple[Meeting, ...]:
    return tuple(sorted(Meeting(week, day, min(held), max(held)) for (week, day, _), held in sections.items()))


def _task_class(row: Row[Any]) -> TaskClass:
    try:
        return TaskClass.model_validate({**row.document, "id": row.id, "name": row.name})
    except ValidationError as error:
        raise StoreError("snapshot_unreadable", f"the stored task class {row.id} cannot be read: {error}") from None
