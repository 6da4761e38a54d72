"""Placement of items of any lengths: a search along the timeline, exact within a budget of nodes.

The items of a class are placed in their order, so what has happened up to a place in time is told by one vector: how
many items of each class are done. Going over the sections from first to last, a vector either lets a section pass or
starts the next item of one class there. Of two vectors at the same time the one that is ahead in every class can finish
whatever the other can, so only vectors that are not dominated are kept. A pass that keeps just the most promising
vectors is quick to find a placement where there is room; one that had to drop none proves its answer.

With `skipping`, items may be left out at the price of their length, and the least price is sought.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from newagent.schedule.placement.matching import section_demand
from newagent.schedule.placement.problem import STRIDE, Place, Problem

WIDTHS = (24, 400, 1 << 40)
"""Vectors kept at each place in time, from the first pass to the exact one."""
COMPARED = 60
"""How many of the kept vectors a new one is compared with before it is kept too."""
COMPARISONS = 4
"""Comparisons that count for a node."""
HOP = 2
"""How many items in a row of one class the first pass may leave out at once."""
FAR = 1 << 30

Vector = tuple[int, ...]
Price = tuple[int, int]
"""Sections left out, and a tie-break that is lower the later in their classes the left-out items stand."""


@dataclass
class Budget:
    """Nodes that a search may still look into; counted, not timed, so that every machine decides alike.

    The first, narrow pass of a search is free: what it costs grows with the length of the window only.
    """

    nodes: int

    @property
    def exhausted(self) -> bool:
        """Whether no node is left."""
        return self.nodes < 0


@dataclass(frozen=True)
class Verdict:
    """The outcome of a search: the place of each item (None: left out), where one was found.

    `proven` tells that none is better; without it, no outcome means that the budget ran out.
    """

    places: tuple[Place | None, ...] | None
    proven: bool


class _Node(NamedTuple):
    """A vector reached: what was placed last, and where it came from."""

    done: Vector
    price: Price
    placed: int
    place: Place
    parent: _Node | None


class _Timeline:
    """The classes' queues of items and when each item may start.

    `starters[t]` lists for each class the places in its queue of the items that may start at t; `latest[k][i]` is the
    last place in time at which item i of class k and all after it could still be placed, were there no other class.
    """

    def __init__(self, problem: Problem, numbers: Sequence[int]) -> None:
        chosen = set(numbers)
        self.problem = problem
        self.queues = [q for row in problem.of_class.values() if (q := [n for n in row if n in chosen])]
        self.duration = [[problem.items[number].duration for number in queue] for queue in self.queues]
        self.start: Vector = (0,) * len(self.queues)
        self.full: Vector = tuple(len(queue) for queue in self.queues)
        self.left = [[sum(row[done:]) for done in range(len(row) + 1)] for row in self.duration]
        self.early = [[rest * (rest - 1) // 2 for rest in range(len(row), -1, -1)] for row in self.duration]
        legal = [[self._legal(number) for number in queue] for queue in self.queues]
        self.latest = [self._latest(row, places) for row, places in zip(self.duration, legal, strict=True)]
        self.starters: dict[int, list[tuple[int, list[int]]]] = {}
        for k, places in enumerate(legal):
            at: dict[int, list[int]] = {}
            for index, starts in enumerate(places):
                for time in starts:
                    at.setdefault(time, []).append(index)
            for time, indices in at.items():
                self.starters.setdefault(time, []).append((k, indices))
        self.times = sorted(self.starters)
        covered = [
            {
                start + offset
                for length, starts in zip(row, places, strict=True)
                for start in starts
                for offset in range(length)
            }
            for row, places in zip(self.duration, legal, strict=True)
        ]
        self._room = [self._count(sections) for sections in (*covered, {section for row in covered for section in row})]

    def short(self, done: Vector, time: int) -> int:
        """The sections of the items not yet done that find no room from a place in time on, at the least."""
        total, alone = 0, 0
        for k, count in enumerate(done):
            left = self.left[k][count]
            total += left
            alone += max(0, left - self._room[k][time])
        return max(alone, total - self._room[-1][time])

    def final(self, node: _Node) -> Price:
        """The price if everything that is not yet placed is left out."""
        sections, early = node.price
        for k, done in enumerate(node.done):
            sections += self.left[k][done]
            early += self.early[k][done]
        return sections, early

    def urgency(self, node: _Node, time: int) -> int:
        """How hard the rest looks: sections left, weighed by how near each class is to its last chance."""
        total = 0
        for k, done in enumerate(node.done):
            left = self.left[k][done]
            if left:
                slack = max(0, self.latest[k][done] - time)
                total += left * (STRIDE * 64 // (slack + STRIDE) + 64)
        return total

    def _count(self, sections: set[int]) -> dict[int, int]:
        ordered = sorted(sections)
        return {time: len(ordered) - bisect_left(ordered, time) for time in self.times}

    def _legal(self, number: int) -> list[int]:
        problem, item = self.problem, self.problem.items[number]
        found = [day * STRIDE + start for day in range(1, problem.days + 1) for start in problem.starts(item, day)]
        if (home := problem.home_start(item)) is not None:
            found.append(home[0] * STRIDE + home[1])
        return found

    def _latest(self, durations: Sequence[int], legal: Sequence[Sequence[int]]) -> list[int]:
        bound = FAR
        latest = [bound]
        for duration, places in zip(reversed(durations), reversed(legal), strict=True):
            bound = max((place for place in places if place + duration <= bound), default=-1)
            latest.append(bound)
        return latest[::-1]


def search(
    problem: Problem, numbers: Sequence[int], budget: Budget, skipping: bool = False, widths: Sequence[int] = WIDTHS
) -> Verdict:
    """Places the given items; with `skipping`, leaves out as few sections of them as possible.

    Without `skipping` every item has a place in the result or there is none. With it there always is a result, the
    best that was found, `proven` if no fewer sections can be left out.
    """
    timeline = _Timeline(problem, numbers)
    least = section_demand(problem, numbers)
    if least and not skipping:
        return Verdict(None, True)
    best: _Node | None = None
    proven = False
    for number, width in enumerate(widths):
        allowance, hop = (budget, FAR) if number else (Budget(FAR), HOP)
        bound = timeline.final(best) if best else None
        found, whole = _pass(timeline, width, allowance, hop if skipping else 0, bound, least)
        best = found or best
        proven = whole or (best is not None and timeline.final(best)[0] <= least)
        if proven or budget.exhausted:
            break
    return Verdict(_traced(problem, best) if best is not None else None, proven)


def _traced(problem: Problem, node: _Node) -> tuple[Place | None, ...]:
    places: list[Place | None] = [None] * len(problem.items)
    while node.parent is not None:
        places[node.placed] = node.place
        node = node.parent
    return tuple(places)


def _pass(
    timeline: _Timeline, width: int, budget: Budget, hop: int, bound: Price | None, least: int
) -> tuple[_Node | None, bool]:
    """One pass over the window: the best end better than `bound`, and whether nothing was cut or left undone.

    Up to `hop` items in a row may be left out; `least` is the price in sections at which the pass may end at once.
    """
    first = _Node(timeline.start, (0, 0), -1, (0, 0), None)
    frontier: dict[Vector, _Node] = {timeline.start: first}
    waiting: dict[int, dict[Vector, _Node]] = {}
    skipping = hop > 0
    whole = not 0 < hop < FAR
    best: _Node | None = None
    if skipping and bound is None:
        best, bound = first, timeline.final(first)
    for time in timeline.times:
        for moment in sorted(moment for moment in waiting if moment <= time):
            for node in waiting.pop(moment).values():
                _keep(frontier, node)
        nodes, cut = _select(timeline, frontier, time, width, skipping, bound, budget)
        whole = whole and not cut
        frontier = {node.done: node for node in nodes}
        for node in nodes:
            if budget.exhausted:
                return best, False
            for reached, end in _successors(timeline, node, time, hop, budget):
                final = timeline.final(reached)
                if (skipping or reached.done == timeline.full) and (bound is None or final < bound):
                    best, bound = reached, final
                    if final[0] <= least:
                        return best, True
                _keep(waiting.setdefault(end, {}), reached)
    return best, whole


def _successors(timeline: _Timeline, node: _Node, time: int, hop: int, budget: Budget) -> list[tuple[_Node, int]]:
    """What may start at a place in time after a node: the next item of a class, or one up to `hop` after it."""
    found: list[tuple[_Node, int]] = []
    place = divmod(time, STRIDE)
    for k, indices in timeline.starters[time]:
        done = node.done[k]
        budget.nodes -= 1
        for index in indices[bisect_left(indices, done) :]:
            if index > done + hop:
                break
            budget.nodes -= 1
            sections = node.price[0] + timeline.left[k][done] - timeline.left[k][index]
            early = node.price[1] + timeline.early[k][done] - timeline.early[k][index]
            vector = (*node.done[:k], index + 1, *node.done[k + 1 :])
            reached = _Node(vector, (sections, early), timeline.queues[k][index], place, node)
            found.append((reached, time + timeline.duration[k][index]))
    return found


def _keep(nodes: dict[Vector, _Node], node: _Node) -> None:
    known = nodes.get(node.done)
    if known is None or node.price < known.price:
        nodes[node.done] = node


def _select(
    timeline: _Timeline,
    frontier: dict[Vector, _Node],
    time: int,
    width: int,
    skipping: bool,
    bound: Price | None,
    budget: Budget,
) -> tuple[list[_Node], bool]:
    """The vectors worth expanding at a place in time, most promising first, and whether some were cut off."""
    alive: list[tuple[Price, int, Vector, _Node]] = []
    for node in frontier.values():
        sections = node.price[0] + timeline.short(node.done, time)
        if skipping:
            hopeless = bound is not None and (sections, node.price[1]) >= bound
        else:
            hopeless = sections > 0 or any(timeline.latest[k][done] < time for k, done in enumerate(node.done))
        if not hopeless:
            alive.append(((sections, node.price[1]), timeline.urgency(node, time), node.done, node))
    alive.sort(key=lambda entry: entry[:3])
    kept: list[_Node] = []
    compared = 0
    for *_, node in alive:
        rivals = kept[:COMPARED]
        compared += len(rivals)
        if not any(_dominates(other, node) for other in rivals):
            kept.append(node)
            if len(kept) > width:
                break
    budget.nodes -= 4 * len(frontier) + compared // COMPARISONS
    return kept[:width], len(kept) > width


def _dominates(one: _Node, other: _Node) -> bool:
    return one.price <= other.price and all(a >= b for a, b in zip(one.done, other.done, strict=True))
