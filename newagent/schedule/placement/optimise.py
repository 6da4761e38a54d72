"""From any full placement to a near-optimal one: sweeps of growing sets of classes, then kicks, within a budget.

The budget is counted in steps of sweeps and layouts, never in time, and every choice is drawn from a fixed seed, so the
same problem gives the same placement on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import combinations

from newagent.schedule.placement.chains import Chains
from newagent.schedule.placement.arrange import IMPOSSIBLE
from newagent.schedule.placement.plan import Plan
from newagent.schedule.placement.sweep import Scope, Sweep

ONE, TWO, THREE = Scope(2, 2, 5, 60), Scope(2, 1, 4, 60), Scope(1, 1, 3, 60)
MARGIN = 7
LAYOUT_STEPS = 60
SEED = 20260302


class Optimiser:
    """Improves a plan in place."""

    def __init__(self, plan: Plan, budget: int) -> None:
        self.plan = plan
        self.budget = budget
        self.rng = random.Random(SEED)  # noqa: S311
        free = range(len(plan.classes))
        self.ones = [Sweep(plan, (k,), ONE) for k in free]
        self.twos = [Sweep(plan, pair, TWO) for pair in combinations(free, 2)]
        self.threes = [Sweep(plan, three, THREE) for three in combinations(free, 3)]

    @property
    def spent(self) -> int:
        sweeps = sum(sweep.steps for sweep in (*self.ones, *self.twos, *self.threes))
        return sweeps + LAYOUT_STEPS * self.plan.days.spent

    def run(self, kicks=0, threes=14, chains=4, plan='12c2c') -> None:
        import time
        T=[time.process_time()]
        def lap(name):
            t=time.process_time(); self.laps.append((name,round(t-T[0],3),self.plan.cost())); T[0]=t
        self.laps=[]
        ch = self.chains = Chains(self.plan, chains, 80)
        def chain():
            while True:
                g = sum(ch.run(k) for k in ch.free)
                if g: self.settle(self.ones)
                if not g: break
        for c in plan:
            if c=="1": self.settle(self.ones)
            if c=="2": self.settle([*self.ones, *self.twos])
            if c=="c": chain()
            if c=="3": self.threes_pass(threes)
            lap(c)
        for _ in range(kicks):
            self.kick()

    def threes_pass(self, L):
        plan = self.plan
        for sweep in self.threes:
            for first in range(1, plan.length + 1, L * 2 // 3):
                sweep.run(first, min(plan.length, first + L - 1))

    def settle(self, sweeps: Sequence[Sweep]) -> int:
        """Runs sweeps where days have changed since their last run, until none gains."""
        total = 0
        while True:
            gain = 0
            for sweep in sweeps:
                gain += self.refresh(sweep)
            total += gain
            if not gain:
                return total

    def refresh(self, sweep: Sweep) -> int:
        plan = self.plan
        gain = 0
        moment, sweep.moment = sweep.moment, plan.moment
        days = [day for day in range(1, plan.length + 1) if plan.changed[day] > moment]
        if not days:
            return 0
        for first, last in windows(days, plan.length):
            won = sweep.run(first, last)
            gain += won
        return gain

    def kick(self) -> None:
        plan = self.plan
        before = plan.cost()
        saved = [list(counts) for counts in plan.counts]
        center = self.rng.randint(1, plan.length)
        moves = self.moves(center)
        if not moves:
            return
        for k, a, b in moves:
            if plan.counts[k][a] < 1:
                continue
            plan.put([(k, a, plan.counts[k][a] - 1), (k, b, plan.counts[k][b] + 1)])
        if any(price >= IMPOSSIBLE for price in plan.layout_price):
            self.restore(saved)
            for sweep in (*self.ones, *self.twos):
                sweep.moment = plan.moment
            return
        self.settle(self.ones)
        self.settle(self.twos)
        if plan.cost() > before:
            self.restore(saved)
            for sweep in (*self.ones, *self.twos):
                sweep.moment = plan.moment

    def restore(self, saved) -> None:
        plan = self.plan
        plan.put(
            (k, day, saved[k][day])
            for k in range(len(saved))
            for day in range(1, plan.length + 1)
            if saved[k][day] != plan.counts[k][day]
        )

    def moves(self, center: int):
        plan = self.plan
        low, high = max(1, center - 5), min(plan.length, center + 5)
        have = [(k, day) for k in range(len(plan.classes)) for day in range(low, high + 1) if plan.counts[k][day]]
        if not have:
            return []
        moves = []
        for _ in range(2):
            k, day = self.rng.choice(have)
            moves.append((k, day, self.rng.randint(low, high)))
        return [m for m in moves if m[1] != m[2]]


def windows(days: Iterable[int], length: int) -> list[tuple[int, int]]:
    """The changed days with a margin, merged where they meet."""
    found: list[tuple[int, int]] = []
    for day in days:
        first, last = max(1, day - MARGIN), min(length, day + MARGIN)
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found
