"""Dynamic programming over days for classes whose items differ: of several lengths, or held by placed siblings.

Which items a class has on a day then depends on how many came before, so what a day costs depends on the state, and
states are kept near the plan: a cumulative count may differ from it by `DRIFT` at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from newagent.schedule.placement.arrange import IMPOSSIBLE
from newagent.schedule.placement.hands import FIELD, MASK
from newagent.schedule.placement.plan import Plan

DRIFT = {1: 4, 2: 2}
MOST = {1: 4, 2: 3}
"""By number of classes: how far a cumulative count may be from the plan, and how many items of a class a day may take
more than it has now."""
TRY_STEPS = 4
"""What an attempt to reach a state counts for in the budget."""

State = tuple[int, ...]


class Walk:
    """Walks of one or two classes over a plan."""

    def __init__(self, plan: Plan, classes: Sequence[int]) -> None:
        self.plan = plan
        self.classes = tuple(classes)
        self.drift, self.most = DRIFT[len(classes)], MOST[len(classes)]
        self.span = (min(plan.span[k][0] for k in classes), max(plan.span[k][1] for k in classes))
        self.moment = 0
        self.steps = 0
        self._field = sum(MASK << (FIELD * k) for k in classes)

    def run(self, first: int, last: int) -> int:
        """Improves the plan between two days, both included; returns how much its cost fell."""
        plan, classes = self.plan, self.classes
        start = tuple(plan.done[k][first - 1] for k in classes)
        goal = tuple(plan.done[k][last] for k in classes)
        layers: list[dict[State, tuple[int, State]]] = [{start: (0, start)}]
        for day in range(first, last + 1):
            layers.append(self._step(day, layers[-1], start, goal))
        present = sum(self._price(day) for day in range(first, last + 1))
        best = layers[-1].get(goal, (present, goal))[0]
        if best >= present:
            return 0
        changes: list[tuple[int, int, int]] = []
        state = goal
        for day in range(last, first - 1, -1):
            before = layers[day - first + 1][state][1]
            changes.extend((k, day, b - a) for k, a, b in zip(classes, before, state, strict=True))
            state = before
        plan.put(change for change in changes if change[2] != plan.counts[change[0]][change[1]])
        return present - best

    def _price(self, day: int) -> int:
        """What the day costs in the plan as it stands."""
        plan = self.plan
        price = plan.layout_price[day]
        for k in self.classes:
            price += plan.own[k][day][plan.counts[k][day]] + plan.curve[k][day][plan.done[k][day]]
        return price

    def _step(
        self, day: int, layer: dict[State, tuple[int, State]], start: State, goal: State
    ) -> dict[State, tuple[int, State]]:
        plan, days = self.plan, self.plan.days
        kind, base = days.kind_of[day], plan.content[day] & ~self._field
        nows = [plan.done[k][day] for k in self.classes]
        ends = [
            range(max(low, now - self.drift), min(high, now + self.drift) + 1)
            for now, low, high in zip(nows, start, goal, strict=True)
        ]
        reached: dict[State, tuple[int, State]] = {}
        for state, (cost, _) in layer.items():
            self.steps += TRY_STEPS * prod(map(len, ends))
            for after in product(*ends):
                content, total = base, cost
                for place, k in enumerate(self.classes):
                    count = after[place] - state[place]
                    if not 0 <= count <= plan.counts[k][day] + self.most:
                        break
                    number = days.hands[k].number(day, state[place], count)
                    if number < 0:
                        break
                    content |= number << (FIELD * k)
                    total += plan.own[k][day][count] + plan.curve[k][day][after[place]]
                else:
                    total += days.cost(kind, content)
                    if total < reached.get(after, (IMPOSSIBLE, state))[0]:
                        reached[after] = (total, state)
        return reached
