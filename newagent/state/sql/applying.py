"""A preview meets the timetable as it is stored now: what would be written, and everything that is in the way. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from newagent.schedule.calendar import Semester
from newagent.schedule.edits import placed
from newagent.schedule.model import ScheduleState, Slot, Task
from newagent.schedule.rules import place_faults
from newagent.state.sql.facts import Facts, build_state


@dataclass(frozen=True)
class Wish:
    """An item of a preview and the place it has there."""

    task: Task
    date: dt.date
    slot: Slot

    def as_row(self, semester: Semester) -> dict[str, Any]:
        """What is written of it, as a JSON document."""
        week, day_of_week = semester.position(self.date)
        return {
            "task_item_id": self.task.source_id,
            "task_class_id": self.task.task_class_id,
            "name": self.task.name,
            "week": week,
            "day_of_week": day_of_week,
            "date": self.date.isoformat(),
            "start": self.slot.start,
            "end": self.slot.end,
        }

    def conflict(self, code: str, message: str) -> dict[str, Any]:
        """Why it cannot be written, as a JSON document."""
        return {
            "code": code,
            "message": message,
            "task_id": self.task.id,
            "task_item_id": self.task.source_id,
            "name": self.task.name,
            "date": self.date.isoformat(),
            "start": self.slot.start,
            "end": self.slot.end,
        }


def wishes_of(schedule: ScheduleState, task_class_ids: Collection[int] | None) -> list[Wish]:
    """The suggested items of a preview; only those of the classes where these are given."""
    return [
        Wish(task, schedule.window.days[task.slot.day - 1].date, task.slot)
        for task in schedule.items
        if task.status == "suggested"
        and task.slot is not None
        and (task_class_ids is None or task.task_class_id in task_class_ids)
    ]


def conflicts_of(facts: Facts, schedule: ScheduleState, wishes: list[Wish]) -> list[dict[str, Any]]:
    """Every reason why a wish cannot be written: a code of `newagent.schedule.rules.CODES`, already_applied, or
    outside_semester.

    The places are put into a state made of the facts over the preview's days, all at once, and the rules are asked.
    """
    dates = tuple(facts.semester.dates(schedule.window.days[0].date, schedule.window.days[-1].date))
    if not dates:
        return [_outside(wish) for wish in wishes]
    scope = {wish.task.task_class_id for wish in wishes if wish.task.task_class_id is not None}
    fresh = build_state(facts, dates, scope)
    day_of = {day.date: day.day for day in fresh.window.days}
    stored = {task.source_id: task for task in fresh.items}
    applied = {item.id for one in facts.classes for item in one.items if item.place is not None}
    conflicts: list[dict[str, Any]] = []
    legal: list[tuple[Wish, Task]] = []
    for wish in wishes:
        task = stored.get(wish.task.source_id)
        if wish.task.source_id in applied:
            conflicts.append(wish.conflict("already_applied", f"「{wish.task.name}」 is in the timetable already"))
        elif task is None or task.task_class_id != wish.task.task_class_id:
            conflicts.append(wish.conflict("unknown_task", f"「{wish.task.name}」 is no longer there"))
        elif task.sections != wish.task.sections:
            conflicts.append(wish.conflict("duration_mismatch", f"「{task.name}」 has {task.sections} section(s) now"))
        elif wish.date not in day_of:
            conflicts.append(_outside(wish))
        else:
            legal.append((wish, placed(fresh, task, wish.slot.evolve(day=day_of[wish.date]))))
    trial = fresh.with_tasks(task for _, task in legal)
    return [*conflicts, *_rule_conflicts(trial, legal)]


def _rule_conflicts(trial: ScheduleState, legal: list[tuple[Wish, Task]]) -> Iterator[dict[str, Any]]:
    for wish, task in legal:
        for fault in place_faults(trial, task):
            yield wish.conflict(fault.code, fault.message)


def _outside(wish: Wish) -> dict[str, Any]:
    return wish.conflict("outside_semester", "the day is not in the semester")
