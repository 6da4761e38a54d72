"""Placement of items of any lengths: a search along the timeline, exact within a budget of nodes.

The items of a class are placed in their order, so what has happened up to a place in time is told by one vector: how
many items of each class are done. Sweeping over the sections from first to last, a vector either lets a section pass
or starts the next item of one class there. Of two vectors at the same time the one that is ahead in every class can
finish whatever the other can, so only vectors that are not dominated are kept. A sweep that keeps just the most
promising vectors is quick to find a placement where there is room; one that had to drop none proves its answer.

With `skipping`, items may be left out at the price of their length, and the least price is sought.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from newagent.schedule.placement.problem import STRIDE, Place, Problem

WIDTHS = (24, 400, 1 << 40)
"""Vectors kept at each place in time, from the first sweep to the exact one."""

COMPARED = 200
"""How many of the kept vectors a new one is compared with before it is kept too."""

Vector = tuple[int, ...]
Price = tuple[int, int]
"""Sections left out, and a tie-break that is lower the later in their classes the left-out items stand."""


@dataclass
class Budget:
    """Nodes that a search may still expand; counted, not timed, so that every machine decides alike."""

    nodes: int

    def spend(self, nodes: int) -> bool:
        """Takes nodes from the budget; False once it is exhausted."""
        self.nodes -= nodes
        return self.nodes >= 0


@dataclass(frozen=True)
class Verdict:
    """The outcome of a search: the place of each item (None: left out), where one was found.

    `proven` tells that no better outcome exists; without it, no outcome means that the budget ran out.
    """

    places: tuple[Place | None, ...] | None
    proven: bool

    @property
    def status(self) -> Literal["feasible", "infeasible", "undecided"]:
        """What is known of a full placement."""
        if self.places is not None:
            return "feasible"
        return "infeasible" if self.proven else "undecided"


@dataclass(frozen=True)
class _Node:
    """A vector reached: what was placed last, and where it came from."""

    done: Vector
    price: Price
    placed: int
    place: Place
    parent: _Node | None


class _Timeline:
    """The classes' queues of items and, for each item, the places in time where it may start."""

    def __init__(self, problem: Problem, numbers: Sequence[int]) -> None:
        chosen = set(numbers)
        self.problem = problem
        self.queues = [queue for numbers in problem.of_class.values() if (queue := [n for n in numbers if n in chosen])]
        self.start: Vector = (0,) * len(self.queues)
        self.full: Vector = tuple(len(queue) for queue in self.queues)
        self.duration = [[problem.items[number].duration for number in queue] for queue in self.queues]
        self.legal: list[list[frozenset[int]]] = []
        self.latest: list[list[int]] = []
        self.capacity: list[list[int]] = []
        times: set[int] = set()
        for queue in self.queues:
            legal = [frozenset(self._legal(number)) for number in queue]
            times.update(*legal)
            self.legal.append(legal)
            self.latest.append(self._latest(queue, legal))
        self.times = sorted(times)
        self.left = [[sum(lengths[done:]) for done in range(len(lengths) + 1)] for lengths in self.duration]

    def _legal(self, number: int) -> list[int]:
        problem, item = self.problem, self.problem.items[number]
        found = [day * STRIDE + start for day in range(1, problem.days + 1) for start in problem.starts(item, day)]
        if (home := problem.home_start(item)) is not None:
            found.append(home[0] * STRIDE + home[1])
        return found

    def _latest(self, queue: Sequence[int], legal: Sequence[frozenset[int]]) -> list[int]:
        """For each item the last place from which it and all later ones of its class could still be placed, were
        there no other class; -1 if nowhere. One entry more for the finished class."""
        bound = 1 << 30
        latest = [bound]
        for number, places in zip(reversed(queue), reversed(legal), strict=True):
            duration = self.problem.items[number].duration
            bound = max((place for place in places if place + duration <= bound), default=-1)
            latest.append(bound)
        return latest[::-1]


def search(problem: Problem, numbers: Sequence[int], budget: Budget, skipping: bool = False) -> Verdict:
    """Places the given items; with `skipping`, leaves out as few sections of them as possible.

    Without `skipping` every item has a place in the result or there is none. With it there always is a result, the
    best that was found, `proven` if it is the best that exists.
    """
    timeline = _Timeline(problem, numbers)
    best: _Node | None = None
    for width in WIDTHS:
        found, whole = _sweep(timeline, width, budget, skipping, best.price if best else None)
        best = found or best
        if whole or budget.nodes < 0 or (best is not None and best.price == (0, 0)):
            places = _traced(problem, best) if best is not None else None
            return Verdict(places, whole or (best is not None and best.price == (0, 0)))
    raise AssertionError("the last sweep is whole or exhausts the budget")


def _traced(problem: Problem, node: _Node) -> tuple[Place | None, ...]:
    places: list[Place | None] = [None] * len(problem.items)
    while node.parent is not None:
        places[node.placed] = node.place
        node = node.parent
    return tuple(places)


def _sweep(
    timeline: _Timeline, width: int, budget: Budget, skipping: bool, bound: Price | None
) -> tuple[_Node | None, bool]:
    """One pass over the window; the best end better than `bound`, and whether nothing was cut or left undone."""
    waiting: dict[int, dict[Vector, _Node]] = {}
    frontier: dict[Vector, _Node] = {timeline.start: _Node(timeline.start, (0, 0), -1, (0, 0), None)}
    whole = True
    best: _Node | None = None
    for time in timeline.times:
        for moment in sorted(moment for moment in waiting if moment <= time):
            for node in waiting.pop(moment).values():
                _keep(frontier, node)
        nodes, cut = _select(timeline, frontier, time, width, skipping)
        whole = whole and not cut
        if not budget.spend(len(nodes)):
            return best, False
        frontier = {node.done: node for node in nodes}
        for node in nodes:
            for klass, done in enumerate(node.done):
                for ahead, price in _next_items(timeline, node, klass, done, skipping):
                    if time not in timeline.legal[klass][ahead] or (bound is not None and price >= bound):
                        continue
                    vector = (*node.done[:klass], ahead + 1, *node.done[klass + 1 :])
                    number = timeline.queues[klass][ahead]
                    reached = _Node(vector, price, number, divmod(time, STRIDE), node)
                    final = _final(timeline, reached)
                    if (skipping or vector == timeline.full) and (bound is None or final < bound):
                        best, bound = _closed(reached, final), final
                        if final == (0, 0):
                            return best, True
                    _keep(waiting.setdefault(time + timeline.duration[klass][ahead], {}), reached)
    if best is None and skipping:
        idle = _Node(timeline.start, (0, 0), -1, (0, 0), None)
        final = _final(timeline, idle)
        if bound is None or final < bound:
            best = _closed(idle, final)
    return best, whole


def _closed(node: _Node, price: Price) -> _Node:
    return _Node(node.done, price, node.placed, node.place, node.parent)


def _next_items(timeline: _Timeline, node: _Node, klass: int, done: int, skipping: bool) -> list[tuple[int, Price]]:
    """The items of a class that may come next, with the price so far: the first, or with `skipping` any."""
    lengths = timeline.duration[klass]
    if done == len(lengths):
        return []
    found = [(done, node.price)]
    if skipping:
        sections, early = node.price
        for ahead in range(done + 1, len(lengths)):
            sections, early = sections + lengths[ahead - 1], early + len(lengths) - ahead
            found.append((ahead, (sections, early)))
    return found


def _final(timeline: _Timeline, node: _Node) -> Price:
    """The price if everything that is not yet placed is left out."""
    sections, early = node.price
    for lengths, done in zip(timeline.duration, node.done, strict=True):
        sections += sum(lengths[done:])
        rest = len(lengths) - done
        early += rest * (rest - 1) // 2
    return sections, early


def _keep(nodes: dict[Vector, _Node], node: _Node) -> None:
    known = nodes.get(node.done)
    if known is None or node.price < known.price:
        nodes[node.done] = node


def _select(
    timeline: _Timeline, frontier: dict[Vector, _Node], time: int, width: int, skipping: bool
) -> tuple[list[_Node], bool]:
    """The vectors worth expanding at a place in time, most promising first, and whether some were cut off."""
    alive = [
        node
        for node in frontier.values()
        if skipping or all(timeline.latest[k][done] >= time for k, done in enumerate(node.done))
    ]
    alive.sort(key=lambda node: (node.price, _urgency(timeline, node, time), node.done))
    kept: list[_Node] = []
    for node in alive:
        if not any(_dominates(other, node) for other in kept[:COMPARED]):
            kept.append(node)
    return kept[:width], len(kept) > width


def _urgency(timeline: _Timeline, node: _Node, time: int) -> int:
    """How hard the rest looks: sections left, weighed by how near each class is to its last chance."""
    total = 0
    for klass, done in enumerate(node.done):
        left = timeline.left[klass][done]
        if left:
            slack = max(0, min(timeline.latest[klass][done], FAR) - time)
            total += left * (STRIDE * 64 // (slack + STRIDE) + 64)
    return total


FAR = 1 << 20


def _dominates(one: _Node, other: _Node) -> bool:
    return one.price <= other.price and all(a >= b for a, b in zip(one.done, other.done, strict=True))
