"""The stored timetable of one user inside one transaction: loaded as a state, and written from a preview."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import exc, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from newagent.errors import RefusedError
from newagent.schedule.edits import placed
from newagent.schedule.model import ScheduleState, Slot, Task
from newagent.schedule.rules import place_faults
from newagent.state.sql.facts import Facts, build_state, days_of, scope_of
from newagent.state.sql.reading import read_facts
from newagent.state.sql.tables import item_slots


class SqlTimetable:
    """See `newagent.state.store.Timetable`."""

    def __init__(self, connection: AsyncConnection, user_id: str) -> None:
        self._connection = connection
        self._user_id = user_id

    async def load_state(self, task_class_ids: tuple[int, ...] | None, now: dt.datetime) -> ScheduleState:
        """See `Timetable.load_state`."""
        facts = await read_facts(self._connection, self._user_id)
        today = now.astimezone(facts.semester.zone).date()
        scope = scope_of(facts, task_class_ids, today)
        dates = days_of(facts, scope, today)
        return build_state(facts, dates, {one.task_class.id for one in scope})

    async def apply(self, schedule: ScheduleState, task_class_ids: tuple[int, ...] | None) -> list[dict[str, Any]]:
        """See `Timetable.apply`; the user's semester is held, so that of two writers one sees the other's rows."""
        facts = await read_facts(self._connection, self._user_id, hold=True)
        wanted = [
            (task, schedule.window.days[task.slot.day - 1].date, task.slot)
            for task in schedule.items
            if task.status == "suggested" and task.slot and (not task_class_ids or task.task_class_id in task_class_ids)
        ]
        written, conflicts = _meet(facts, schedule, wanted)
        if conflicts:
            raise _conflict(conflicts)
        try:
            if written:
                await self._connection.execute(insert(item_slots), self._rows(facts, written))
        except exc.IntegrityError:
            raise _conflict([]) from None
        return written

    def _rows(self, facts: Facts, written: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {
                "semester_id": facts.semester_id,
                "user_id": self._user_id,
                "week": row["week"],
                "day_of_week": row["day_of_week"],
                "section": section,
                "task_item_id": row["task_item_id"],
                "part": part,
            }
            for row in written
            for part, section in enumerate(range(row["start"], row["end"] + 1), 1)
        ]


def _meet(
    facts: Facts, schedule: ScheduleState, wanted: list[tuple[Task, dt.date, Slot]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What is to be written of a preview, and every conflict with the timetable as it is stored now.

    The suggested places are put into a state of today's facts over the preview's days, and the same rules as
    everywhere are asked.
    """
    semester = facts.semester
    dates = tuple(semester.dates(schedule.window.days[0].date, schedule.window.days[-1].date))
    if not dates:
        return [], [_fault("outside_semester", "the day is not in the semester", *one) for one in wanted]
    fresh = build_state(facts, dates, {task.task_class_id for task, _, _ in wanted if task.task_class_id is not None})
    by_row = {task.source_id: task for task in fresh.items}
    applied = {item.id for one in facts.classes for item in one.items if item.place is not None}
    day_of = {day.date: day.day for day in fresh.window.days}
    conflicts: list[dict[str, Any]] = []
    meeting: dict[int, tuple[Task, dt.date, Slot]] = {}
    for task, date, slot in wanted:
        stored, day = by_row.get(task.source_id), day_of.get(date)
        if task.source_id in applied:
            conflicts.append(
                _fault("already_applied", f"「{task.name}」 is in the timetable already", task, date, slot)
            )
        elif stored is None or stored.task_class_id != task.task_class_id:
            conflicts.append(_fault("unknown_task", f"「{task.name}」 is no longer there", task, date, slot))
        elif stored.sections != task.sections:
            words = f"「{task.name}」 has {stored.sections} section(s) now"
            conflicts.append(_fault("duration_mismatch", words, task, date, slot))
        elif day is None:
            conflicts.append(_fault("outside_semester", "the day is not in the semester", task, date, slot))
        else:
            meeting[stored.id] = (task, date, slot.evolve(day=day))
    trial = fresh.with_tasks(placed(fresh, fresh.by_id[key], slot) for key, (_, _, slot) in meeting.items())
    for key, (task, date, slot) in meeting.items():
        for fault in place_faults(trial, trial.by_id[key]):
            conflicts.append(_fault(fault.code, fault.message, task, date, slot))
    return [_row(facts, *one) for one in meeting.values()], conflicts


def _row(facts: Facts, task: Task, date: dt.date, slot: Slot) -> dict[str, Any]:
    week, day_of_week = facts.semester.position(date)
    return {
        "task_item_id": task.source_id,
        "task_class_id": task.task_class_id,
        "name": task.name,
        "week": week,
        "day_of_week": day_of_week,
        "date": date.isoformat(),
        "start": slot.start,
        "end": slot.end,
    }


def _fault(code: str, message: str, task: Task, date: dt.date, slot: Slot) -> dict[str, Any]:
    return {
        "code": code,
        "message": message,
        "task_id": task.id,
        "task_item_id": task.source_id,
        "name": task.name,
        "date": date.isoformat(),
        "start": slot.start,
        "end": slot.end,
    }


def _conflict(conflicts: list[dict[str, Any]]) -> RefusedError:
    return RefusedError(
        "timetable_conflict",
        f"the timetable has changed: {len(conflicts)} place(s) of the preview are no longer legal, nothing was written",
        conflicts=conflicts,
    )
