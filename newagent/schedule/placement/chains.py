"""Chains of moves: an item of one class leaves a day for another, there one of a second class makes room, and so on.

Every class moves at most one item and every day is touched once, so what a chain changes is a sum: on each day the
content with one item more, one less or one exchanged, and for each class its cumulative counts between the two days.
The least sums are found by dynamic programming over the length of the chain, for chains that end where an item may
simply be added and for those that close where they began. Sums of cumulative prices are taken from prefix sums, so a
step of all chains of a class costs one pass over the days.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from newagent.schedule.placement.arrange import IMPOSSIBLE
from newagent.schedule.placement.hands import FIELD
from newagent.schedule.placement.plan import Plan

DEPTH = 4
"""Moves that a chain may have."""
SLACK = 40
"""A chain that costs as much more than the plan is given up."""

LINK_STEPS = 60
"""What a class and day of a search for chains counts for in the budget."""


class Link(NamedTuple):
    """A chain so far: its change of the cost, the classes moved and the days touched as bits, and the class and day of
    every departure."""

    cost: int
    moved: int
    touched: int
    leaves: tuple[tuple[int, int], ...]


class Chain(NamedTuple):
    """A chain that gains: its change of the cost and the (class, day from, day to) of its moves."""

    cost: int
    moves: tuple[tuple[int, int, int], ...]


class Chains:
    """Finds and carries out the chains that begin with one of some classes.

    Only classes with interchangeable items take part.
    `exchanges` is shared by the chains of a plan. `moment` is for the caller to note when they were last looked for;
    `steps` counts the work done.
    """

    def __init__(self, plan: Plan, starts: Sequence[int], exchanges: dict[tuple[int, int], list[list[int]]]) -> None:
        self.plan = plan
        self.starts = starts
        self.free = [k for k, hands in enumerate(plan.days.hands) if hands.plain]
        self.span = (1, plan.length)
        self.moment = 0
        self.steps = 0
        self._exchanges = exchanges

    def run(self, first: int, last: int) -> int:
        """Carries out gaining chains between two days, both included; returns how much the cost fell."""
        gain = 0
        for chain in sorted(self._find(first, last)):
            gain += self._carry_out(chain)
        return gain

    def _carry_out(self, chain: Chain) -> int:
        """Puts a chain into the plan if it still gains after those before it."""
        plan = self.plan
        if any(not plan.counts[k][day] for k, day, _ in chain.moves):
            return 0
        changes: dict[tuple[int, int], int] = {}
        for k, day, other in chain.moves:
            changes[k, day] = plan.counts[k][day] - 1
            changes[k, other] = plan.counts[k][other] + 1
        gain = plan.gain(changes)
        if gain > 0:
            plan.put((k, day, count) for (k, day), count in changes.items())
        return max(0, gain)

    def _find(self, first: int, last: int) -> list[Chain]:
        plan = self.plan
        days = range(first, last + 1)
        exchange: list[list[list[int]]] = [[[]] for _ in range(first)]
        exchange.extend(self._exchange(day) for day in days)
        later = [self._shift(k, -1) for k in range(len(plan.classes))]
        sooner = [self._shift(k, 1) for k in range(len(plan.classes))]
        leave = [self._owns(k, -1) for k in range(len(plan.classes))]
        enter = [self._owns(k, 1) for k in range(len(plan.classes))]
        none = len(plan.classes)
        found: list[Chain] = []
        leaving: list[list[Link | None]] = [[None] * (plan.length + 1) for _ in plan.classes]
        for start in self.starts:
            for day in days:
                if plan.counts[start][day]:
                    cost = exchange[day][none][start] + leave[start][day]
                    leaving[start][day] = Link(cost, 1 << start, 1 << day, ((start, day),))
        here = [[k for k in self.free if plan.counts[k][day]] for day in range(plan.length + 1)]
        self.steps += LINK_STEPS * len(days) * len(self.free)
        for level in range(DEPTH):
            arriving: list[list[Link | None]] = [[]] * len(plan.classes)
            for k in self.free:
                arriving[k] = self._arrive(days, leaving[k], enter[k], later[k], sooner[k])
                for day in days:
                    link = arriving[k][day]
                    if link is not None:
                        self._end(found, link, day, link.cost + exchange[day][k][none])
            if level + 1 == DEPTH:
                break
            leaving = [[None] * (plan.length + 1) for _ in plan.classes]
            for day in days:
                for k in self.free:
                    link = arriving[k][day]
                    if link is None:
                        continue
                    paid, moved, touched, leaves = link
                    prices = exchange[day][k]
                    for j in here[day]:
                        if moved >> j & 1:
                            continue
                        cost = paid + prices[j] + leave[j][day]
                        known = leaving[j][day]
                        if cost < (SLACK if known is None else known.cost):
                            leaving[j][day] = Link(cost, moved | 1 << j, touched | 1 << day, (*leaves, (j, day)))
            for k in self.free:
                for day in days:
                    link = leaving[k][day]
                    if link is not None:
                        self._close(found, link, k, day, exchange, enter[k], later[k], sooner[k])
        return found

    def _end(self, found: list[Chain], link: Link, day: int, cost: int) -> None:
        if cost < 0:
            ends = [*(leave[1] for leave in link.leaves[1:]), day]
            moves = tuple((k, a, b) for (k, a), b in zip(link.leaves, ends, strict=True))
            found.append(Chain(cost, moves))

    def _close(
        self,
        found: list[Chain],
        link: Link,
        k: int,
        day: int,
        exchange: Sequence[Sequence[Sequence[int]]],
        enter: Sequence[int],
        later: Sequence[int],
        sooner: Sequence[int],
    ) -> None:
        """Ends a chain on the day on which it began, in the room left by its first item."""
        first, home = link.leaves[0]
        if home == day:
            return
        way = later[home] - later[day] if home > day else sooner[day] - sooner[home]
        none = len(self.plan.classes)
        there = exchange[home][k][first] - exchange[home][none][first] + enter[home]
        self._end(found, link, home, link.cost + way + there)

    def _arrive(
        self,
        days: range,
        leaving: Sequence[Link | None],
        enter: Sequence[int],
        later: Sequence[int],
        sooner: Sequence[int],
    ) -> list[Link | None]:
        """For each day the cheapest chain whose last item arrives there."""
        arriving: list[Link | None] = [None] * len(leaving)
        for sums, order, sign in ((later, days, 1), (sooner, reversed(days), -1)):
            best: Link | None = None
            least = IMPOSSIBLE
            for day in order:
                if best is not None and not best.touched >> day & 1:
                    cost = least + sign * sums[day] + enter[day]
                    known = arriving[day]
                    if cost < (SLACK if known is None else known.cost):
                        arriving[day] = Link(cost, best.moved, best.touched, best.leaves)
                link = leaving[day]
                if link is not None and link.cost - sign * sums[day] < least:
                    best, least = link, link.cost - sign * sums[day]
        return arriving

    def _shift(self, k: int, change: int) -> list[int]:
        """Prefix sums over the days before each day of what one item more (or less) done by then costs."""
        plan = self.plan
        prices = [0, 0]
        for day in range(1, plan.length):
            curve, done = plan.curve[k][day], plan.done[k][day]
            prices.append(curve[done + change] - curve[done] if done + change >= 0 else IMPOSSIBLE)
        return list(accumulate(prices))

    def _owns(self, k: int, change: int) -> list[int]:
        """By day what one item of a class more (or less) on it costs of the class's own prices."""
        return [
            own[count + change] - own[count] if 0 <= count + change < len(own) else IMPOSSIBLE
            for own, count in zip(self.plan.own[k], self.plan.counts[k], strict=True)
        ]

    def _exchange(self, day: int) -> list[list[int]]:
        """By the class that is added and the class that is taken away (the last of each: none) what the layout costs
        more than now."""
        plan, days = self.plan, self.plan.days
        content = plan.content[day]
        key = (days.kind_of[day], content)
        found = self._exchanges.get(key)
        if found is None:
            none = len(plan.classes)
            found = [[IMPOSSIBLE] * (none + 1) for _ in range(none + 1)]
            known, kind = days.known[key[0]], key[0]
            now = days.cost(kind, content)
            for added in (*self.free, none):
                more = content + (1 << (FIELD * added) if added < none else 0)
                for taken in (*self.free, none):
                    if taken == added or (taken < none and not plan.counts[taken][day]):
                        continue
                    wanted = more - (1 << (FIELD * taken) if taken < none else 0)
                    cost = known.get(wanted)
                    if cost is None:
                        cost = days.cost(kind, wanted) if added == none or self._fits(added, day) else IMPOSSIBLE
                    found[added][taken] = cost - now
            self._exchanges[key] = found
        return found

    def _fits(self, k: int, day: int) -> bool:
        return self.plan.counts[k][day] + 1 < len(self.plan.own[k][day])
