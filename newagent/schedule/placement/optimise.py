"""From any full placement to a near-optimal one, within a budget.

One descent alternates three neighbourhoods until none gains: sweeps of one class and of two, which move any number of
their items at once, and chains, which move one item of each of many classes. A second descent in another order from the
same start mostly ends elsewhere; the two results are crossed wherever they agree on what is done so far, and further
descents follow while there is budget and they still disagree.

The budget is counted in steps, never in time, and nothing is left to chance, so the same problem has the same result on
every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from newagent.schedule.placement.chains import Chains
from newagent.schedule.placement.plan import Plan
from newagent.schedule.placement.sweep import Scope, Sweep
from newagent.schedule.placement.walk import Walk

ONE = Scope(reach=2, change=2, drift=5, beam=60, cut=60)
TWO = Scope(reach=2, change=1, drift=4, beam=60, cut=60)
WIDE = Scope(reach=2, change=2, drift=5, beam=60, cut=60)
THREE = Scope(reach=1, change=1, drift=3, beam=60, cut=60)
MARGIN = 7
"""Days around a change in which the other sweeps look again."""
ARRANGEMENT = 60
"""What an arrangement of a day counts for in the budget, in steps of a sweep."""
DESCENTS = 6
WIDENING = 4
"""The part of what was spent that the last, wider sweeps may cost."""


def optimise(plan: Plan, budget: int) -> None:
    """Improves a plan in place; ends once the budget is spent, apart from the sweep at hand."""
    if plan.classes:
        _Descents(plan, budget).run()


class _Descents:
    """Descents from one start, over shared sweeps."""

    def __init__(self, plan: Plan, budget: int) -> None:
        self.plan = plan
        self.budget = budget
        free = range(len(plan.classes))
        plain = [k for k in free if plan.days.hands[k].plain]
        self.ones: list[Sweep | Walk] = [Sweep(plan, (k,), ONE) if k in plain else Walk(plan, (k,)) for k in free]
        self.twos: list[Sweep | Walk] = [
            Sweep(plan, pair, TWO) if pair[0] in plain and pair[1] in plain else Walk(plan, pair)
            for pair in combinations(free, 2)
        ]
        self.wide: list[Sweep] = []
        exchanges: dict[tuple[int, int], list[list[int]]] = {}
        self.chains = [Chains(plan, (k,), exchanges) for k in plain]
        self.any_chain = Chains(plan, plain, exchanges)

    @property
    def spent(self) -> int:
        """Steps taken so far."""
        sweeps = sum(sweep.steps for sweep in (*self.ones, *self.twos, *self.chains, self.any_chain, *self.wide))
        return sweeps + ARRANGEMENT * self.plan.days.spent

    def run(self) -> None:
        """Descends again and again; the plan ends as the best that was found."""
        plan = self.plan
        start = plan.snapshot()
        best, best_cost = start, plan.cost()
        for number in range(DESCENTS):
            if number:
                plan.restore(start)
                self.twos = self.twos[::-1] if number % 2 else self.twos[1::2] + self.twos[::2]
            self._descend(chains_first=number % 2 == 0)
            agreed = plan.cost() == best_cost
            if number:
                plan.cross(best)
            if plan.cost() < best_cost:
                best, best_cost = plan.snapshot(), plan.cost()
            if (agreed and number) or self.spent >= self.budget:
                break
        plan.restore(best)
        self._widen()

    def _descend(self, chains_first: bool) -> None:
        if chains_first:
            self._chain()
        else:
            self._settle(self.ones)
        self._settle([*self.ones, *self.twos])
        self._chain()

    def _widen(self) -> None:
        """Spends a part of what is left of the budget on sweeps that allow more, of two classes and of three."""
        plain = [k for k, hands in enumerate(self.plan.days.hands) if hands.plain]
        wide = [Sweep(self.plan, pair, WIDE) for pair in combinations(plain, 2)]
        wide += [Sweep(self.plan, three, THREE) for three in combinations(plain, 3)]
        self.wide = wide
        self.budget = min(self.budget, self.spent + self.spent // WIDENING)
        self._settle([*self.ones, *self.twos, *wide])
        self._chain()

    def _chain(self) -> None:
        """Carries out chains from every class, and what they open to single classes, until nothing gains."""
        while self._refresh(self.any_chain) or sum(self._refresh(chains) for chains in self.chains):
            self._settle(self.ones)

    def _settle(self, sweeps: Sequence[Sweep | Walk]) -> None:
        """Runs sweeps where days have changed since their last run, until none gains."""
        while sum(self._refresh(sweep) for sweep in sweeps):
            pass

    def _refresh(self, sweep: Sweep | Walk | Chains) -> int:
        plan = self.plan
        if self.spent >= self.budget:
            return 0
        moment, sweep.moment = sweep.moment, plan.moment
        first, last = sweep.span
        days = [day for day in range(first, last + 1) if plan.changed[day] > moment]
        return sum(sweep.run(*window) for window in windows(days, first, last))


def windows(days: Iterable[int], low: int, high: int) -> list[tuple[int, int]]:
    """The changed days with a margin, between two days, merged where they meet."""
    found: list[tuple[int, int]] = []
    for day in days:
        first, last = max(low, day - MARGIN), min(high, day + MARGIN)
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found
