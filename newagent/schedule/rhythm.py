"""The sequence of a day: its items, repeated once for every block of their length, and what can be read off it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby, pairwise
from typing import NamedTuple

from newagent.schedule.cost import DayLook
from newagent.schedule.model import ScheduleState, Slot, Task, TaskClass

FRAGMENTED_SWITCHES = 3
FRAGMENTED_SHARE = 0.55
FRAGMENTED_SHARE_SWITCHES = 2
COMPRESSED_BLOCK = 5
COMPRESSED_HEAVY_RUN = 4
HEAVY_GAP = 2


class DayItem(NamedTuple):
    """A placed item on its day."""

    task: Task
    task_class: TaskClass
    slot: Slot

    @property
    def blocks(self) -> int:
        """How many entries of the sequence it is."""
        return (self.slot.end - self.slot.start + 2) // 2


def items_by_day(state: ScheduleState) -> list[list[DayItem]]:
    """The placed items of each day in order of start; index 0 is unused."""
    days: list[list[DayItem]] = [[] for _ in range(len(state.window.days) + 1)]
    for task in state.items:
        if task.slot is not None:
            days[task.slot.day].append(DayItem(task, state.class_of(task), task.slot))
    for items in days:
        items.sort(key=lambda item: (item.slot.start, item.slot.end, item.task.id))
    return days


def sequence(items: list[DayItem]) -> list[TaskClass]:
    """The classes of a day's entries in order."""
    return [item.task_class for item in items for _ in range(item.blocks)]


def runs(entries: list[TaskClass]) -> list[tuple[TaskClass, int]]:
    """The runs of one class in a sequence, with their lengths in entries."""
    return [(next(iter(group := list(members))), len(group)) for _, members in groupby(entries, key=lambda c: c.id)]


def same_type_transitions(entries: list[TaskClass]) -> int:
    """Neighbours in a sequence with the same (known) subject type."""
    return sum(
        one.subject_type is not None and one.subject_type == other.subject_type for one, other in pairwise(entries)
    )


def changes(items: list[DayItem]) -> list[tuple[DayItem, DayItem]]:
    """Neighbouring items of a day that differ in class."""
    return [(one, other) for one, other in pairwise(items) if one.task_class.id != other.task_class.id]


def pairs_of(state: ScheduleState, items: list[DayItem], demanding: Collection[int]) -> list[tuple[DayItem, DayItem]]:
    """Consecutive items of different classes, both of them `demanding` (ids), that follow closely on one another:
    with less than two sections between them, the last of the one and the first of the other in the same period."""
    period_of = state.window.period_of
    return [
        (one, other)
        for one, other in changes(items)
        if one.task_class.id in demanding
        and other.task_class.id in demanding
        and other.slot.start - one.slot.end - 1 < HEAVY_GAP
        and period_of[one.slot.end] == period_of[other.slot.start]
    ]


def heavy_pairs(state: ScheduleState, items: list[DayItem]) -> list[tuple[DayItem, DayItem]]:
    """The pairs that follow closely on one another of heavy classes."""
    return pairs_of(state, items, {item.task_class.id for item in items if item.task_class.is_heavy})


def is_fragmented(look: DayLook, scale: float = 1.0) -> bool:
    """Whether a day switches between classes too often for its length; `scale` multiplies the limits."""
    return look.switch_count >= FRAGMENTED_SWITCHES * scale or (
        look.fragmentation >= FRAGMENTED_SHARE * scale and look.switch_count >= FRAGMENTED_SHARE_SWITCHES * scale
    )


def is_compressed(look: DayLook, scale: float = 1.0) -> bool:
    """Whether a day stays with one class, or with heavy ones, for too long; `scale` multiplies the limits."""
    return look.max_block >= COMPRESSED_BLOCK * scale or look.max_heavy_run >= COMPRESSED_HEAVY_RUN * scale
