"""A placement as the optimiser sees it: how many items of each class stand on each day, and what that costs.

The cost is a sum over days (cheapest layout, pairs of a steady class, ranks of a rapid one) and, for the spread of
steady classes, over cumulative counts: with t_k the wanted ranks and r_k the ranks of the items in order, the sum of
|r_k - t_k| is the area between the two staircases, that is the sum over the eligible days of |placed so far - wanted
so far|: a price of a cumulative count on a day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from newagent.schedule.cost import W_SPREAD
from newagent.schedule.placement.arrange import IMPOSSIBLE
from newagent.schedule.placement.days import Days
from newagent.schedule.placement.hands import FIELD
from newagent.schedule.placement.problem import Place, Problem

SLOTS = 32
"""More items than a day can hold: a curve goes on that far beyond all items, at a prohibitive price."""


class Plan:
    """Counts, contents and costs of all days, changed in place by the optimiser.

    `counts[k][d]` items of free class k stand on day d, `done[k][d]` up to and including it; `content[d]` is what
    `Days` makes of it and `layout_price[d]` its cost. `own[k][d][n]` is the price of n items of the class on that day,
    `curve[k][d][c]` that of c items done after it. `changed[d]` is the moment of the day's last change, `moment` the present one.
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
        self.curve = [_curve(problem, klass) for klass in self.classes]
        self.own = [_own(problem, klass) for klass in self.classes]
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

    def content_of(self, day: int, counts: Sequence[int]) -> int:
        """The content of a day with that many items of each class, which follow those done before."""
        content = 0
        for k, count in enumerate(counts):
            content |= self.days.hands[k].number(day, self.done[k][day - 1], count) << (FIELD * k)
        return content

    def cost(self) -> int:
        """The cost of the plan, up to a constant."""
        return sum(self.layout_price) + sum(
            self.own[k][day][self.counts[k][day]] + self.curve[k][day][done[day]]
            for k, done in enumerate(self.done)
            for day in range(1, self.length + 1)
        )

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
        for k, day, count in changes:
            self.counts[k][day] = count
            touched.add(day)
            classes.add(k)
        for k in classes:
            self.done[k] = _sums(self.counts[k])
            if not self.days.hands[k].plain:
                touched.update(range(min(touched), max(touched) + 1))
        for day in touched:
            self._settle(day)
            self.changed[day] = self.moment

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


def _curve(problem: Problem, klass: int) -> list[list[int]]:
    """By day the price of each cumulative count of a class; zero for a rapid class and on days not eligible."""
    traits = problem.model.classes[klass]
    free, size = len(problem.of_class[klass]), problem.sizes[klass]
    fixed = sorted(traits.rank[day] for day in problem.fixed_days(klass))
    beyond = [IMPOSSIBLE] * SLOTS
    idle = [0] * (free + 1) + beyond
    if not traits.steady:
        return [idle] * (problem.days + 1)
    wanted = [(2 * k - 1) * traits.eligible_days // (2 * size) for k in range(1, size + 1)]
    curve = [idle]
    settled = wished = 0
    for day in range(1, problem.days + 1):
        rank = traits.rank[day]
        if not problem.admits(klass, day):
            curve.append(idle)
            continue
        while settled < len(fixed) and fixed[settled] <= rank:
            settled += 1
        while wished < size and wanted[wished] <= rank:
            wished += 1
        curve.append([W_SPREAD * abs(settled + done - wished) for done in range(free + 1)] + beyond)
    return curve
