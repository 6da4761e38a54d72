"""A placement as the optimiser sees it: how many items of each class stand on each day, and what that costs.

The cost is a sum over days (cheapest layout, pairs of a steady class, ranks of a rapid one) and, for the spread of
steady classes, over cumulative counts: with t_k the wanted ranks and r_k the ranks of the items in order, the sum of
|r_k - t_k| is the area between the two staircases, that is the sum over the eligible days of |placed so far - wanted
so far|: a price of a cumulative count on a day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from newagent.schedule.cost import W_SPREAD
from newagent.schedule.placement.arrange import IMPOSSIBLE
from newagent.schedule.placement.days import Days
from newagent.schedule.placement.hands import FIELD
from newagent.schedule.placement.problem import Place, Problem

Counts = list[list[int]]
"""By free class and day the number of its items there."""

SLOTS = 32
"""More items than a day can hold: a curve goes on that far beyond all items, at a prohibitive price."""


class Plan:
    """Counts, contents and costs of all days, changed in place by the optimiser.

    `counts[k][d]` items of free class k stand on day d, `done[k][d]` up to and including it; `content[d]` is what
    `Days` makes of it and `layout_price[d]` its cost. `own[k][d][n]` is the price of n items of the class on that day,
    `curve[k][d][c]` that of c items done after it, which is least at `goal[k][d]` (None: it is flat). `span[k]` are the
    first and last eligible days of the class. `changed[d]` is when the day changed last, and `moment` is now.
    """

    def __init__(self, problem: Problem, places: Sequence[Place]) -> None:
        self.problem = problem
        self.days = Days(problem)
        self.classes = self.days.classes
        self.length = problem.days
        self.moment = 1
        self.changed = [1] * (self.length + 1)
        groups = [problem.of_class[klass] for klass in self.classes]
        self.counts = [[0] * (self.length + 1) for _ in groups]
        for k, numbers in enumerate(groups):
            for number in numbers:
                self.counts[k][places[number][0]] += 1
        self.done = [_sums(counts) for counts in self.counts]
        self.goal = [_goals(problem, klass) for klass in self.classes]
        self.curve = [_curve(goals, len(numbers)) for goals, numbers in zip(self.goal, groups, strict=True)]
        self.own = [_own(problem, klass) for klass in self.classes]
        self.span = [self._span(klass) for klass in self.classes]
        self.content = [0] * (self.length + 1)
        self.layout_price = [0] * (self.length + 1)
        layouts: list[list[tuple[int, int, int]]] = [[] for _ in range(self.length + 1)]
        for k, numbers in enumerate(groups):
            for number in numbers:
                day, start = places[number]
                layouts[day].append((start, k, number))
        for day in range(1, self.length + 1):
            content = self.content_of(day, [counts[day] for counts in self.counts])
            if content and self.days.cost(self.days.kind_of[day], content) >= IMPOSSIBLE:
                layout = tuple((k, start) for start, k, _ in sorted(layouts[day]))
                self.days.seed(day, content, layout)
            self._settle(day)

    def _span(self, klass: int) -> tuple[int, int]:
        """The first and the last day that is eligible for a class."""
        days = [day for day in range(1, self.length + 1) if self.problem.admits(klass, day)]
        return (days[0], days[-1]) if days else (1, 0)

    def content_of(self, day: int, counts: Sequence[int]) -> int:
        """The content of a day with that many items of each class, which follow those done before."""
        content = 0
        for k, count in enumerate(counts):
            content |= self.days.hands[k].number(day, self.done[k][day - 1], count) << (FIELD * k)
        return content

    def cost(self) -> int:
        """The cost of the plan, up to a constant."""
        return sum(self._run_costs([0, self.length]))

    def _run_costs(self, ends: Sequence[int]) -> list[int]:
        """What the days after each of the given ones cost, up to and including the next."""
        costs = [0] * (self.length + 1)
        for day in range(1, self.length + 1):
            costs[day] = self.layout_price[day] + sum(
                own[day][count[day]] + curve[day][done[day]]
                for own, count, curve, done in zip(self.own, self.counts, self.curve, self.done, strict=True)
            )
        return [sum(costs[first + 1 : last + 1]) for first, last in pairwise(ends)]

    def gain(self, changes: Mapping[tuple[int, int], int]) -> int:
        """How much the cost would fall with the counts given by (class, day); only for interchangeable items."""
        gain = 0
        fields: dict[int, int] = {}
        by_class: dict[int, dict[int, int]] = {}
        for (k, day), count in changes.items():
            now = self.counts[k][day]
            fields[day] = fields.get(day, 0) + ((count - now) << (FIELD * k))
            by_class.setdefault(k, {})[day] = count - now
            gain += self.own[k][day][now] - self.own[k][day][count]
        for day, more in fields.items():
            gain += self.layout_price[day] - self.days.cost(self.days.kind_of[day], self.content[day] + more)
        for k, shifts in by_class.items():
            shift = 0
            for day in range(min(shifts), max(shifts)):
                shift += shifts.get(day, 0)
                if shift:
                    curve, done = self.curve[k][day], self.done[k][day]
                    gain += curve[done] - curve[done + shift]
        return gain

    def put(self, changes: Iterable[tuple[int, int, int]]) -> None:
        """Sets counts, given as (class, day, count); every class keeps its total."""
        self.moment += 1
        touched: set[int] = set()
        classes: set[int] = set()
        for k, day, count in list(changes):
            self.counts[k][day] = count
            touched.add(day)
            classes.add(k)
        for k in classes:
            self.done[k] = _sums(self.counts[k])
            if touched and not self.days.hands[k].plain:
                touched.update(range(min(touched), max(touched) + 1))
        for day in touched:
            self._settle(day)
            self.changed[day] = self.moment

    def snapshot(self) -> Counts:
        """The counts as they stand."""
        return [list(counts) for counts in self.counts]

    def restore(self, counts: Counts) -> None:
        """Makes the counts those of a snapshot."""
        self.put(
            (k, day, count)
            for k, row in enumerate(counts)
            for day, count in enumerate(row)
            if count != self.counts[k][day]
        )

    def cross(self, other: Counts) -> None:
        """Takes from other counts every run of days that is cheaper there, between days after which both have done the
        same."""
        mine, sums = self.snapshot(), [_sums(row) for row in other]
        meet = [
            day for day in range(self.length + 1) if all(a[day] == b[day] for a, b in zip(self.done, sums, strict=True))
        ]
        here = self._run_costs(meet)
        self.restore(other)
        there = self._run_costs(meet)
        self.restore(mine)
        self.put(
            (k, day, row[day])
            for index, (first, last) in enumerate(pairwise(meet))
            if there[index] < here[index]
            for k, row in enumerate(other)
            for day in range(first + 1, last + 1)
            if row[day] != self.counts[k][day]
        )

    def places(self) -> list[Place]:
        """The place of each item in the cheapest layouts, every class in order."""
        numbers = [iter(self.problem.of_class[klass]) for klass in self.classes]
        places: list[Place] = [(0, 0)] * len(self.problem.items)
        for day in range(1, self.length + 1):
            if self.content[day]:
                for k, start in self.days.layout(day, self.content[day]):
                    places[next(numbers[k])] = (day, start)
        return places

    def _settle(self, day: int) -> None:
        counts = [counts[day] for counts in self.counts]
        content = self.content[day] = self.content_of(day, counts)
        self.layout_price[day] = self.days.cost(self.days.kind_of[day], content)


def _sums(counts: Sequence[int]) -> list[int]:
    total, sums = 0, [0] * len(counts)
    for day, count in enumerate(counts):
        total += count
        sums[day] = total
    return sums


def _own(problem: Problem, klass: int) -> list[list[int]]:
    """By day the price of each number of free items of a class: pairs of a steady class, ranks of a rapid one."""
    traits, free = problem.model.classes[klass], len(problem.of_class[klass])
    if not traits.steady:
        return [[W_SPREAD * traits.rank[day] * count for count in range(free + 1)] for day in range(problem.days + 1)]
    weight, fixed = traits.same_day_weight, [0] * (problem.days + 1)
    for day in problem.fixed_days(klass):
        fixed[day] += 1
    prices = {
        more: [weight * (count * (count - 1) // 2) for count in range(more, more + free + 1)] for more in set(fixed)
    }
    return [prices[more] for more in fixed]


def _goals(problem: Problem, klass: int) -> list[int | None]:
    """By day how many free items of a class should be done; None for a rapid class and on days not eligible."""
    traits, size = problem.model.classes[klass], problem.sizes[klass]
    fixed = sorted(traits.rank[day] for day in problem.fixed_days(klass))
    wanted = [(2 * k - 1) * traits.eligible_days // (2 * size) for k in range(1, size + 1)]
    goals: list[int | None] = [None] * (problem.days + 1)
    settled = wished = 0
    for day in range(1, problem.days + 1):
        if traits.steady and problem.admits(klass, day):
            rank = traits.rank[day]
            while settled < len(fixed) and fixed[settled] <= rank:
                settled += 1
            while wished < size and wanted[wished] <= rank:
                wished += 1
            goals[day] = wished - settled
    return goals


def _curve(goals: Sequence[int | None], free: int) -> list[list[int]]:
    """By day the price of each cumulative count of a class of so many free items."""
    beyond = [IMPOSSIBLE] * SLOTS
    known: dict[int | None, list[int]] = {None: [0] * (free + 1) + beyond}
    for goal in goals:
        if goal is not None and goal not in known:
            known[goal] = [W_SPREAD * abs(done - goal) for done in range(free + 1)] + beyond
    return [known[goal] for goal in goals]
