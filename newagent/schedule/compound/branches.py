"""Branch and bound for spreading items of any lengths: the emptiest day first, no branch that cannot be better."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace
from math import gcd

from newagent.schedule.compound.work import Worker
from newagent.schedule.cost import span_mask
from newagent.schedule.judge.board import LINE

NODES = 60_000
"""Partial placements that are looked at; counted, so that the answer does not depend on the machine."""
CLOSE = 1.02

Place = tuple[int, int]


def search(
    items: Sequence[Worker], options: list[list[Place]], loads: Sequence[int], nodes: int = NODES
) -> list[Place] | str:
    """The places with the least sum of squared loads, or one within 2 %; else `infeasible` or `undecided`.

    `loads[d]` is what stands on day d already. Items of a class come in their order and must keep it.
    """
    branches = _Branches(items, options, loads, nodes)
    branches.extend(0)
    if branches.best is None:
        return "undecided" if branches.exhausted else "infeasible"
    if branches.exhausted and branches.least > CLOSE * branches.root:
        return "undecided"
    return branches.best


class _Branches:
    def __init__(self, items: Sequence[Worker], options: list[list[Place]], loads: Sequence[int], nodes: int) -> None:
        self.best: list[Place] | None = None
        self.least = 1 << 60
        self._items = items
        self._options = options
        self._loads = list(loads)
        self._busy = [0] * len(loads)
        self._chosen: list[Place] = []
        self._nodes = nodes
        self._rest = [0] * (len(items) + 1)
        self._unit = [0] * (len(items) + 1)
        self._days: list[set[int]] = [set() for _ in range(len(items) + 1)]
        for index in reversed(range(len(items))):
            self._unit[index] = gcd(self._unit[index + 1], items[index].task.sections)
            self._rest[index] = self._rest[index + 1] + items[index].task.sections
            self._days[index] = self._days[index + 1] | {day for day, _ in options[index]}
        self.root = self._bound(0)

    @property
    def exhausted(self) -> bool:
        """Whether the budget ran out before the search was over."""
        return self._nodes <= 0

    def extend(self, index: int) -> None:
        """Places the items from `index` on in every way that can still be better."""
        if self._nodes <= 0 or self._bound(index) >= self.least:
            return
        if index == len(self._items):
            self.best, self.least = list(self._chosen), sum(load * load for load in self._loads)
            return
        item = self._items[index]
        length, low = item.task.sections, 0
        if index and self._items[index - 1].klass == item.klass:
            day, start = self._chosen[-1]
            low = day * LINE + start + self._items[index - 1].task.sections - 1
        for day, start in sorted(self._options[index], key=lambda place: (self._loads[place[0]], place)):
            mask = span_mask(start, length)
            if day * LINE + start <= low or self._busy[day] & mask:
                continue
            self._nodes -= 1
            self._busy[day] |= mask
            self._loads[day] += length
            self._chosen.append((day, start))
            self.extend(index + 1)
            self._chosen.pop()
            self._loads[day] -= length
            self._busy[day] &= ~mask

    def _bound(self, index: int) -> int:
        """The sum if what is left could be poured, in units that divide every length, onto the emptiest days."""
        unit = self._unit[index]
        total = sum(load * load for load in self._loads)
        heap = [self._loads[day] for day in self._days[index]]
        if not heap or not unit:
            return total
        heapify(heap)
        for _ in range(self._rest[index] // unit):
            total += unit * (2 * heap[0] + unit)
            heapreplace(heap, heap[0] + unit)
        return total
