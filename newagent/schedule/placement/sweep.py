"""Dynamic programming over days with a few classes freed and all others fixed.

A state after a day is the cumulative count of each freed class and their sum, packed into one integer; a step puts some
items of each on the next day. A first pass from the last day backwards looks only at how many items of the freed
classes are still to come and bounds from below what they will cost; with it a state that cannot beat the plan as it
stands is dropped at once, and of too many the most promising are kept. The plan is one of the paths, so a sweep never
makes it worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from newagent.schedule.cost import W_SPREAD
from newagent.schedule.placement.arrange import IMPOSSIBLE
from newagent.schedule.placement.hands import FIELD, MASK
from newagent.schedule.placement.plan import Plan

SHIFT = 12
"""Bits of a cumulative count in a packed state; a class may have up to 4095 free items."""
COUNT = (1 << SHIFT) - 1
DAY_STEPS, OPTION_STEPS = 100, 5
"""What a day of a sweep and an option that is priced count for, besides the steps."""


@dataclass(frozen=True)
class Scope:
    """How far a sweep looks: by how much a day's count of a class and the sum of all may change, by how much the
    total done after a day may, how many states a day keeps, and how much dearer than now a day may become."""

    reach: int
    change: int
    drift: int
    beam: int
    cut: int


class Options(NamedTuple):
    """The ways to fill a day, as (packed counts, price) and cheapest first, and the least price by the change of the
    total."""

    ways: tuple[tuple[int, int], ...]
    least: tuple[tuple[int, int], ...]


class Sweep:
    """Sweeps of a few classes with interchangeable items over a plan; keeps the options of each kind and content.

    Nothing outside of `span`, in days, can change. `moment` is for the caller to note when the sweep ran last; `steps`
    counts the work done.
    """

    def __init__(self, plan: Plan, classes: Sequence[int], scope: Scope) -> None:
        self.plan = plan
        self.classes = tuple(classes)
        self.scope = scope
        self.by_kind = all(plan.problem.model.classes[plan.classes[k]].steady for k in classes)
        self.field = sum(MASK << (FIELD * k) for k in classes)
        self.span = (min(plan.span[k][0] for k in classes), max(plan.span[k][1] for k in classes))
        self.moment = 0
        self.steps = 0
        self._options: dict[tuple[int, int], Options] = {}

    def run(self, first: int, last: int) -> int:
        """Improves the plan between two days, both included; returns how much its cost fell."""
        plan, classes = self.plan, self.classes
        curves = [[plan.curve[k][day] for k in classes] for day in range(first, last + 1)]
        options = [self._on(day) for day in range(first, last + 1)]
        present = 0
        for day in range(first, last + 1):
            present += plan.layout_price[day]
            for k in classes:
                present += plan.own[k][day][plan.counts[k][day]] + plan.curve[k][day][plan.done[k][day]]
        limits = self._limits(first, options, present)
        if not limits:
            return 0
        layers: list[dict[int, int]] = [{self._packed([plan.done[k][first - 1] for k in classes]): 0}]
        for index in range(last - first + 1):
            layers.append(self._step(layers[-1], options[index], curves[index], limits[index]))
        goal = self._packed([plan.done[k][last] for k in classes])
        best = layers[-1].get(goal)
        if best is None:
            return 0
        self._apply(first, layers, options, curves, goal)
        return present - best

    def _limits(self, first: int, options: Sequence[Options], present: int) -> list[dict[int, int]]:
        """For each day and number of items done after it: the cost from which a state cannot beat the plan.

        Empty if no state can. It is the plan's cost less a lower bound of what is still to pay. The prices of
        cumulative counts are absolute differences, so those of several classes sum up to at least the absolute value of
        the summed difference.
        """
        plan, drift, change = self.plan, self.scope.drift, self.scope.change
        offsets = range(-drift, drift + 1)
        pad = [IMPOSSIBLE] * change
        later = [*pad, *(0 if not offset else IMPOSSIBLE for offset in offsets), *pad]
        limits: list[dict[int, int]] = []
        for index in range(len(options) - 1, -1, -1):
            day = first + index
            total = 0
            lead: int | None = 0
            for k in self.classes:
                goal, done = plan.goal[k][day], plan.done[k][day]
                total += done
                lead = None if goal is None or lead is None else lead + done - goal
            limits.append(
                {
                    total + offset: present - bound
                    for offset, bound in zip(offsets, later[change:], strict=False)
                    if bound < present
                }
            )
            if lead is not None:
                later[change : -change or None] = [
                    bound + W_SPREAD * abs(offset + lead)
                    for offset, bound in zip(offsets, later[change:], strict=False)
                ]
            rows = [
                [bound + price for bound in later[change + added : change + added + 2 * drift + 1]]
                for added, price in options[index].least
            ]
            here = list(map(min, *rows)) if len(rows) > 1 else rows[0]
            later = [*pad, *here, *pad]
        return limits[::-1] if later[change + drift] < present else []

    def _step(
        self,
        layer: Mapping[int, int],
        options: Options,
        curves: Sequence[Sequence[int]],
        limits: Mapping[int, int],
    ) -> dict[int, int]:
        """The states after a day, from those before it."""
        if not limits:
            return {}
        reached: dict[int, int] = {}
        known = reached.get
        limit = max(limits.values())
        self.steps += DAY_STEPS + len(layer) * len(options.ways)
        for state, cost in layer.items():
            room = limit - cost
            for step, price in options.ways:
                if price >= room:
                    break
                total = cost + price
                if total < known(state + step, limit):
                    reached[state + step] = total
        top = SHIFT * len(curves)
        bound = limits.get
        if len(curves) == 1:
            (one,) = curves
            priced = [(cost + one[state & COUNT], state) for state, cost in reached.items()]
        elif len(curves) == 2:
            one, two = curves
            priced = [
                (cost + one[state & COUNT] + two[state >> SHIFT & COUNT], state) for state, cost in reached.items()
            ]
        else:
            priced = [
                (cost + sum(curve[state >> SHIFT * place & COUNT] for place, curve in enumerate(curves)), state)
                for state, cost in reached.items()
            ]
        kept = {state: cost for cost, state in priced if cost < bound(state >> top, 0)}
        if len(kept) > self.scope.beam:
            best = sorted(kept, key=lambda state: (kept[state] - bound(state >> top, 0), state))
            return {state: kept[state] for state in best[: self.scope.beam]}
        return kept

    def _on(self, day: int) -> Options:
        """The ways to fill a day as it stands."""
        plan = self.plan
        key = (plan.days.kind_of[day] if self.by_kind else -day, plan.content[day])
        found = self._options.get(key)
        if found is None:
            found = self._options[key] = self._find(day)
        return found

    def _find(self, day: int) -> Options:
        plan, days = self.plan, self.plan.days
        kind = days.kind_of[day]
        reach, change = self.scope.reach, self.scope.change
        top = SHIFT * len(self.classes)
        partial = [(0, plan.content[day] & ~self.field, 0, 0)]
        for index, k in enumerate(self.classes):
            now, prices = plan.counts[k][day], plan.own[k][day]
            counts = [
                (count - now, count << (FIELD * k), prices[count], count << (SHIFT * index) | count << top)
                for count in range(max(0, now - reach), min(len(prices), now + reach + 1))
            ]
            partial = [
                (added + more, content + field, own + price, packed + step)
                for added, content, own, packed in partial
                for more, field, price, step in counts
            ]
        self.steps += OPTION_STEPS * len(partial)
        known = days.known[kind]
        units = [1 << (FIELD * k) for k in self.classes]
        highest = plan.layout_price[day] + self.scope.cut
        highest += sum(plan.own[k][day][plan.counts[k][day]] for k in self.classes)
        ways: list[tuple[int, int]] = []
        least: dict[int, int] = {}
        for added, content, own, packed in partial:
            if -change <= added <= change:
                cost = known.get(content)
                if cost is None:
                    if max(known.get(content - unit, 0) for unit in units) + own > highest:
                        continue
                    cost = days.cost(kind, content)
                cost += own
                if cost <= highest:
                    ways.append((cost, packed))
                    if cost < least.get(added, IMPOSSIBLE):
                        least[added] = cost
        ways.sort()
        return Options(tuple((packed, cost) for cost, packed in ways), tuple(least.items()))

    def _apply(
        self,
        first: int,
        layers: Sequence[dict[int, int]],
        options: Sequence[Options],
        curves: Sequence[Sequence[Sequence[int]]],
        goal: int,
    ) -> None:
        """Puts the path that ends in `goal` into the plan."""
        changes: list[tuple[int, int, int]] = []
        state = goal
        for index in range(len(options) - 1, -1, -1):
            day = first + index
            wanted = layers[index + 1][state]
            for place, curve in enumerate(curves[index]):
                wanted -= curve[state >> (SHIFT * place) & COUNT]
            before = layers[index]
            taken = next(
                step for step, price in options[index].ways if before.get(state - step, IMPOSSIBLE) + price == wanted
            )
            state -= taken
            for place, k in enumerate(self.classes):
                count = taken >> (SHIFT * place) & COUNT
                if count != self.plan.counts[k][day]:
                    changes.append((k, day, count))
        self.plan.put(changes)

    def _packed(self, counts: Sequence[int]) -> int:
        return sum(count << (SHIFT * index) for index, count in enumerate((*counts, sum(counts))))
