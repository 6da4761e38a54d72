"""Placement of items of one unit length as a bipartite matching: complete in polynomial time.

When every free item takes one cell — a block for items of two sections, a section for items of one — a placement is
an assignment of items to distinct cells. Cells of one length start on a fixed grid, so two of them never overlap.

Order within a class costs nothing. Let items i < j of one class be matched to cells x_i > x_j. The placed siblings
leave item i the range (a_i, b_i), and since every sibling before i is also before j, a_i <= a_j, and likewise
b_i <= b_j. Then a_i <= a_j < x_j < x_i < b_i gives x_j to i legally, and a_j < x_j < x_i < b_i <= b_j gives x_i to j;
legal cells depend on the class and the range only. So the two may trade cells, and after sorting, every class is in
order. Hence a full placement exists if and only if a matching saturates the items (items that share class and range
form one group with a multiplicity), and Hall's theorem names the groups that ask for more than their cells.

Sets of cells are bits of one integer, so an augmenting path costs a few operations for each pair of groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from newagent.schedule.placement.problem import STRIDE, Place, Problem


@dataclass
class Matching:
    """Groups of interchangeable items matched to cells; `adjacency[g]` and `owned[g]` are sets of cells as bits."""

    adjacency: list[int]
    owned: list[int]
    used: int = 0

    @classmethod
    def empty(cls, adjacency: Sequence[int]) -> Matching:
        """Nothing matched yet."""
        return cls(list(adjacency), [0] * len(adjacency))

    def take(self, group: int, cell: int) -> None:
        """Gives a free cell to a group."""
        self.owned[group] |= cell
        self.used |= cell

    def augment(self, group: int) -> frozenset[int]:
        """Gives the group one more cell, moving others where needed.

        Returns the empty set when it succeeded. Otherwise the groups that compete: together with one more item they
        own every cell that any of them may use, so by Hall's theorem no matching serves them all.
        """
        reached: dict[int, tuple[int, int]] = {group: (-1, 0)}
        queue = [group]
        for current in queue:
            reach = self.adjacency[current]
            free = reach & ~self.used
            if free:
                self._shift(current, free & -free, reached)
                return frozenset()
            for other, owned in enumerate(self.owned):
                shared = reach & owned
                if shared and other not in reached:
                    reached[other] = (current, shared & -shared)
                    queue.append(other)
        return frozenset(reached)

    def _shift(self, group: int, cell: int, reached: dict[int, tuple[int, int]]) -> None:
        self.used |= cell
        while True:
            self.owned[group] |= cell
            taker, taken = reached[group]
            if taker < 0:
                return
            self.owned[group] ^= taken
            group, cell = taker, taken


@dataclass(frozen=True)
class Units:
    """A problem of unit items: cells in time, and for each item the group that it belongs to.

    `keys[g]` is the class index of group g.
    """

    cells: tuple[Place, ...]
    adjacency: tuple[int, ...]
    keys: tuple[int, ...]
    group_of: tuple[int, ...]


def unit_length(problem: Problem) -> int | None:
    """The length of all free items if they have one in common that makes them units (1 or 2), else None."""
    lengths = {item.duration for item in problem.items}
    if len(lengths) == 1 and (length := lengths.pop()) <= 2:
        return length
    return None


def units(problem: Problem) -> Units:
    """Cells and groups of a problem whose items are all units."""
    number: dict[tuple[int, int, int, bool], int] = {}
    group_of: list[int] = []
    first: list[int] = []
    for index, item in enumerate(problem.items):
        key = (item.klass, item.after, item.before, item.barred)
        if key not in number:
            number[key] = len(number)
            first.append(index)
        group_of.append(number[key])
    places: list[list[Place]] = []
    for index in first:
        item = problem.items[index]
        places.append([(day, start) for day in range(1, problem.days + 1) for start in problem.starts(item, day)])
    cells = sorted({place for found in places for place in found})
    bit_of = {place: 1 << index for index, place in enumerate(cells)}
    adjacency = tuple(sum(bit_of[place] for place in found) for found in places)
    return Units(tuple(cells), adjacency, tuple(problem.items[index].klass for index in first), tuple(group_of))


def greatest(given: Units, order: Iterable[int]) -> tuple[Matching, list[int], frozenset[int]]:
    """A maximum matching that serves items in the given order of preference.

    Items that can be served together form a matroid, so an item is left out only if those before it forbid it: the
    result holds as many items as any, and no other choice of as many is preferred. Returns the matching, the items
    left out, and the groups that competed for the first of them.
    """
    matching = Matching.empty(given.adjacency)
    left: list[int] = []
    rivals: frozenset[int] = frozenset()
    hopeless: set[int] = set()
    for item in order:
        group = given.group_of[item]
        if group in hopeless:
            left.append(item)
            continue
        failed = matching.augment(group)
        if failed:
            left.append(item)
            hopeless |= failed
            rivals = rivals or failed
    return matching, left, rivals


def spread_out(problem: Problem, given: Units, targets: Sequence[int]) -> Matching | frozenset[int]:
    """A matching that serves all items, each near the day `targets[item]` where that is possible.

    Where it is impossible, the groups that compete for too few cells.
    """
    matching = Matching.empty(given.adjacency)
    by_day = [0] * (problem.days + 2)
    for index, (day, _) in enumerate(given.cells):
        by_day[day] |= 1 << index
    for item in sorted(range(len(problem.items)), key=lambda index: (targets[index], index)):
        group = given.group_of[item]
        free = given.adjacency[group] & ~matching.used
        if free:
            matching.take(group, _nearest(free, by_day, targets[item]))
        elif failed := matching.augment(group):
            return failed
    return matching


def _nearest(free: int, by_day: Sequence[int], target: int) -> int:
    for distance in range(len(by_day)):
        for day in (target - distance, target + distance):
            if 0 < day < len(by_day) and (found := free & by_day[day]):
                return found & -found
    raise AssertionError("every cell has a day")


def places_of(problem: Problem, given: Units, matching: Matching) -> list[Place]:
    """The place of each item of a full matching, every class sorted into its order."""
    cells_of: dict[int, list[int]] = {}
    for group, owned in enumerate(matching.owned):
        cells_of.setdefault(given.keys[group], []).extend(_bits(owned))
    places: list[Place] = [(0, 0)] * len(problem.items)
    for klass, numbers in problem.of_class.items():
        for number, cell in zip(numbers, sorted(cells_of[klass]), strict=True):
            places[number] = given.cells[cell]
    return places


def _bits(mask: int) -> list[int]:
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def section_demand(problem: Problem, numbers: Iterable[int]) -> int:
    """A lower bound, in sections, on what must stay unplaced of some items of any lengths.

    Each item is cut into single sections, which may stand in any section that some legal place of the item covers:
    a relaxation, so what it cannot serve no placement can. Items of even length are cut into pairs on the odd grid
    when all of them are even.
    """
    chosen = [problem.items[number] for number in numbers]
    step = 2 if all(item.duration % 2 == 0 for item in chosen) else 1
    reach: dict[tuple[int, int, int, int, bool], int] = {}
    groups: list[int] = []
    adjacency: list[int] = []
    for item in chosen:
        key = (item.klass, item.duration, item.after, item.before, item.barred)
        if key not in reach:
            reach[key] = len(adjacency)
            mask = 0
            for day in range(1, problem.days + 1):
                for start in problem.starts(item, day):
                    for section in range(start, start + item.duration, step):
                        mask |= 1 << (day * STRIDE + section)
            if (home := problem.home_start(item)) is not None:
                mask |= ((1 << item.duration) - 1) << (home[0] * STRIDE + home[1])
            adjacency.append(mask)
        groups.extend([reach[key]] * (item.duration // step))
    given = Units((), tuple(adjacency), (), tuple(groups))
    return step * len(greatest(given, range(len(groups)))[1])
