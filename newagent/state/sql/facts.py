"""A user's stored timetable as values, and the `ScheduleState` made of it. Pure: no database here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from newagent.calendars.model import Meeting
from newagent.errors import NotFoundError, RefusedError
from newagent.schedule.calendar import Semester
from newagent.schedule.model import Day, ScheduleState, Slot, Task, TaskClass, Window


@dataclass(frozen=True)
class StoredSemester:
    """A semester and its row."""

    id: int
    semester: Semester


@dataclass(frozen=True)
class StoredCourse:
    """A course and its row, with its meetings in order."""

    id: int
    name: str
    location: str
    can_embed: bool
    meetings: tuple[Meeting, ...]


@dataclass(frozen=True)
class StoredItem:
    """An item of a task class; `place` is where it was applied, in the semester with `semester_id`."""

    id: int
    name: str
    order: int
    duration: int | None
    priority: int | None
    semester_id: int | None = None
    place: Meeting | None = None


@dataclass(frozen=True)
class StoredClass:
    """A task class with its items in order."""

    task_class: TaskClass
    items: tuple[StoredItem, ...]

    def duration_of(self, item: StoredItem) -> int:
        """An item's length in sections: its own, else its share of the class's total rounded half up, else 2."""
        total, count = self.task_class.total_slots, len(self.items)
        return item.duration or (max(1, (2 * total + count) // (2 * count)) if total else 2)


@dataclass(frozen=True)
class Facts:
    """Everything stored of a user's timetable in the semester that is in force."""

    semester_id: int
    semester: Semester
    courses: tuple[StoredCourse, ...]
    classes: tuple[StoredClass, ...]


def scope_of(facts: Facts, task_class_ids: tuple[int, ...] | None, today: dt.date) -> tuple[StoredClass, ...]:
    """The classes to plan: those named, else all that have not ended.

    Raises `NotFoundError("unknown_task_class")`, and `RefusedError` with no_task_class, or outside_semester where
    all have ended.
    """
    if not facts.classes:
        raise RefusedError("no_task_class", "there is no task class yet")
    if task_class_ids is None:
        alive = tuple(one for one in facts.classes if (one.task_class.end_date or facts.semester.end_date) >= today)
        if not alive:
            raise RefusedError("outside_semester", "all task classes have ended")
        return alive
    known = {one.task_class.id: one for one in facts.classes}
    unknown = [task_class_id for task_class_id in task_class_ids if task_class_id not in known]
    if unknown:
        names = ", ".join(map(str, unknown))
        raise NotFoundError("unknown_task_class", f"there is no task class {names}", task_class_ids=unknown)
    return tuple(known[task_class_id] for task_class_id in sorted(set(task_class_ids)))


def days_of(facts: Facts, scope: Iterable[StoredClass], today: dt.date) -> tuple[dt.date, ...]:
    """The dates of the window: from the later of today and the first start of the classes to their last end.

    Raises `RefusedError("outside_semester")` when none of them is a day of the semester.
    """
    semester, classes = facts.semester, [one.task_class for one in scope]
    first = min(task_class.start_date or semester.start_date for task_class in classes)
    last = max(task_class.end_date or semester.end_date for task_class in classes)
    dates = tuple(semester.dates(max(first, today), last))
    if not dates:
        raise RefusedError(
            "outside_semester",
            f"the task classes have no day left in the semester {semester.start_date} to {semester.end_date}",
        )
    return dates


def build_state(facts: Facts, dates: tuple[dt.date, ...], scope: Collection[int]) -> ScheduleState:
    """The state of a window: courses that meet in it, the items of the classes in scope, what is applied of others.

    An item that was applied outside the window, or in another semester, is done with and not part of the state;
    durations are given for every item, since they are shares of whole classes.
    """
    semester = facts.semester
    days = {date: Day(day=n, week=w, day_of_week=d, date=date) for n, date, w, d in _numbered(semester, dates)}
    day_at = {(day.week, day.day_of_week): day.day for day in days.values()}
    tasks: list[Task] = []
    for course in facts.courses:
        slots = tuple(slot for meeting in course.meetings if (slot := _slot(day_at, meeting)))
        if slots:
            tasks.append(_course(len(tasks) + 1, course, slots))
    classes: list[TaskClass] = []
    for one in facts.classes:
        in_scope = one.task_class.id in scope
        items = [
            (item, slot)
            for item in one.items
            for slot in [_slot(day_at, item.place) if item.place and item.semester_id == facts.semester_id else None]
            if slot is not None or (in_scope and item.place is None)
        ]
        if items or in_scope:
            classes.append(one.task_class)
        tasks += [_item(len(tasks) + n, one, item, slot) for n, (item, slot) in enumerate(items, 1)]
    return ScheduleState(
        window=Window(sections=len(semester.sections), periods=semester.periods, days=tuple(days.values())),
        tasks=tuple(tasks),
        task_classes=tuple(classes),
    )


def _numbered(semester: Semester, dates: Iterable[dt.date]) -> Iterator[tuple[int, dt.date, int, int]]:
    for number, date in enumerate(dates, 1):
        yield (number, date, *semester.position(date))


def _slot(day_at: dict[tuple[int, int], int], meeting: Meeting) -> Slot | None:
    day = day_at.get((meeting.week, meeting.day_of_week))
    return None if day is None else Slot(day=day, start=meeting.start, end=meeting.end)


def _course(task_id: int, course: StoredCourse, slots: tuple[Slot, ...]) -> Task:
    return Task(
        id=task_id,
        source="event",
        source_id=course.id,
        name=course.name,
        kind="course",
        status="existing",
        locked=True,
        can_embed=course.can_embed,
        location=course.location,
        slots=slots,
    )


def _item(task_id: int, one: StoredClass, item: StoredItem, slot: Slot | None) -> Task:
    return Task(
        id=task_id,
        source="task_item",
        source_id=item.id,
        name=item.name,
        kind="task",
        task_class_id=one.task_class.id,
        order=item.order,
        duration=slot.end - slot.start + 1 if slot else one.duration_of(item),
        priority=item.priority,
        status="existing" if slot else "pending",
        slots=(slot,) if slot else (),
    )
