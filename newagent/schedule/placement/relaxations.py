"""What would make an impossible placement possible: every relaxation is tried by placing with it, none is larger
than needed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from newagent.schedule.edits import placed
from newagent.schedule.model import Day, ScheduleState, TaskClass
from newagent.schedule.placement.problem import movable

MAX_EXTENSION = 210
"""Days by which a window is extended at most: the length of the longest semester."""

Relaxation = dict[str, Any]


def relax(state: ScheduleState, relaxation: Relaxation) -> ScheduleState:
    """The state as it would be with a relaxation of a report granted; for trying it, nothing is kept.

    `extend_window` appends days, which are free and flagged `assumed`, and moves the ends of the classes it names;
    `drop_items` takes the items out, `rebuild` makes the suggested items of its classes pending where the agent may.
    """
    match relaxation["kind"]:
        case "extend_window":
            return _extended(state, relaxation["task_class_ids"], relaxation["days"])
        case "free_block":
            block = relaxation["block"]
            return _with_class(
                state,
                relaxation["task_class_id"],
                lambda klass: {"excluded_slots": tuple(b for b in klass.excluded_slots if b != block)},
            )
        case "free_weekday":
            weekday = relaxation["day_of_week"]
            return _with_class(
                state,
                relaxation["task_class_id"],
                lambda klass: {"excluded_days_of_week": tuple(d for d in klass.excluded_days_of_week if d != weekday)},
            )
        case "allow_filler":
            return _with_class(state, relaxation["task_class_id"], lambda _: {"allow_filler_course": True})
        case "drop_items":
            dropped = set(relaxation["task_ids"])
            return state.evolve(tasks=tuple(task for task in state.tasks if task.id not in dropped))
        case "rebuild":
            freed = [task for task in state.items if task.task_class_id in relaxation["task_class_ids"]]
            return state.with_tasks(
                placed(state, task, None) for task in freed if task.status == "suggested" and movable(state, task)
            )
        case kind:
            raise ValueError(f"no relaxation of kind {kind!r}")


def helpful(
    state: ScheduleState, class_ids: Sequence[int], left: Sequence[int], helps: Callable[[ScheduleState], bool]
) -> list[Relaxation]:
    """The relaxations that `helps` confirms. `left` are the ids of the items that the smallest drop leaves out."""
    found: list[Relaxation] = []
    extension = _smallest_extension(state, class_ids, helps)
    if extension is not None:
        found.append(extension)
    found.extend(relaxation for relaxation in _freedoms(state, class_ids) if helps(relax(state, relaxation)))
    found.append({"kind": "drop_items", "task_ids": list(left)})
    return found


def _freedoms(state: ScheduleState, class_ids: Collection[int]) -> Iterable[Relaxation]:
    """Each single exclusion of the classes lifted, and filler courses allowed where some course could be one."""
    has_filler = any(course.can_embed for course in state.courses)
    for task_class in state.task_classes:
        if task_class.id not in class_ids:
            continue
        for block in sorted(set(task_class.excluded_slots)):
            yield {"kind": "free_block", "task_class_id": task_class.id, "block": block}
        for weekday in sorted(set(task_class.excluded_days_of_week)):
            yield {"kind": "free_weekday", "task_class_id": task_class.id, "day_of_week": weekday}
        if has_filler and not task_class.allow_filler_course:
            yield {"kind": "allow_filler", "task_class_id": task_class.id}


def _smallest_extension(
    state: ScheduleState, class_ids: Sequence[int], helps: Callable[[ScheduleState], bool]
) -> Relaxation | None:
    """The shortest extension that helps; more days never hurt, so it is found by halving."""

    def enough(days: int) -> bool:
        return helps(relax(state, {**template, "days": days}))

    template: Relaxation = {"kind": "extend_window", "task_class_ids": list(class_ids)}
    low, high = 0, 1
    while not enough(high):
        if high == MAX_EXTENSION:
            return None
        low, high = high, min(2 * high, MAX_EXTENSION)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return {"kind": "extend_window", "days": high, "task_class_ids": list(class_ids)}


def _extended(state: ScheduleState, class_ids: Collection[int], days: int) -> ScheduleState:
    last = state.window.days[-1]
    added: list[Day] = []
    for offset in range(1, days + 1):
        date = last.date + dt.timedelta(days=offset)
        week = last.week + (last.day_of_week - 1 + offset) // 7
        added.append(Day(day=last.day + offset, week=week, day_of_week=date.isoweekday(), date=date, assumed=True))
    classes = tuple(
        task_class.evolve(end_date=task_class.end_date + dt.timedelta(days=days))
        if task_class.id in class_ids and task_class.end_date is not None
        else task_class
        for task_class in state.task_classes
    )
    window = state.window.evolve(days=(*state.window.days, *added))
    return state.evolve(window=window, task_classes=classes)


def _with_class(state: ScheduleState, class_id: int, changes: Callable[[TaskClass], dict[str, Any]]) -> ScheduleState:
    return state.evolve(
        task_classes=tuple(
            task_class.evolve(**changes(task_class)) if task_class.id == class_id else task_class
            for task_class in state.task_classes
        )
    )
