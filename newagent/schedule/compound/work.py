"""The items that a compound edit works on: checked like any edit's, with the range that their other siblings leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from newagent.schedule.edits import standing_faults
from newagent.schedule.judge.board import LINE
from newagent.schedule.model import Actor, ScheduleState, Slot, Task
from newagent.schedule.rules import Violation, first, protection_faults, state_faults

MAX_TASKS = 200


class Worker(NamedTuple):
    """An item to be moved: it must start after line `after` and end before line `before`, both held by siblings that
    stay."""

    task: Task
    slot: Slot
    klass: int
    after: int
    before: int


def workers(state: ScheduleState, task_ids: Sequence[int], actor: Actor) -> list[Worker] | Violation:
    """The items by class and order, or why they cannot be moved."""
    ids = tuple(task_ids)
    if not ids or len(set(ids)) != len(ids) or len(ids) > MAX_TASKS:
        return Violation("invalid_args", f"name each task once, at least one and at most {MAX_TASKS}", ids)
    refused = first(fault for task_id in ids for fault in standing_faults(state, task_id, "suggested"))
    if refused:
        return refused
    broken = first(state_faults(state))
    if broken:
        return broken
    shielded = first(
        protection_faults(state, {task_id: [slot.day for slot in state.by_id[task_id].slots] for task_id in ids}, actor)
    )
    if shielded:
        return shielded
    moving = set(ids)
    found: list[Worker] = []
    for klass, task_class in enumerate(state.task_classes):
        found.extend(_of_class(state.items_of[task_class.id], moving, klass))
    return found


def _of_class(items: Sequence[Task], moving: set[int], klass: int) -> list[Worker]:
    found: list[Worker] = []
    last = 0
    for index, item in enumerate(items):
        if item.id in moving:
            later = (other.slot for other in items[index + 1 :] if other.id not in moving and other.slot is not None)
            before = min((slot.day * LINE + slot.start for slot in later), default=1 << 30)
            found.append(Worker(item, item.slots[0], klass, last, before))
        elif item.slot is not None:
            last = max(last, item.slot.day * LINE + item.slot.end)
    return found
