"""How good placements are, against the proven optimum of small instances; and what the optimiser promises."""

from __future__ import annotations

from itertools import product

import pytest

from benchmarks.exact_days import contents
from benchmarks.instances import Recipe, draw, full, half_suggested
from newagent.schedule.cost import W_SPREAD, CostModel, evaluate
from newagent.schedule.edits import Edited, finish
from newagent.schedule.model import ScheduleState, Slot
from newagent.schedule.placement import rough_build
from newagent.schedule.placement.plan import Plan
from newagent.schedule.placement.problem import compile_problem
from newagent.schedule.placement.solve import solve


def everyone(state: ScheduleState) -> list[int]:
    return [task_class.id for task_class in state.task_classes]


def placed_cost(state: ScheduleState) -> int:
    outcome = rough_build(state, everyone(state))
    assert isinstance(outcome, Edited)
    valued = evaluate(outcome.state)
    assert valued.pending == 0
    return valued.cost


def optimum(state: ScheduleState) -> int:
    """The least cost, by dynamic programming over all cumulative counts of all classes."""
    model = CostModel(state)
    problem = compile_problem(state, everyone(state))
    size = [len(state.items_of[class_id]) for class_id in everyone(state)]
    layer: dict[tuple[int, ...], int] = {tuple(0 for _ in size): 0}
    for day in range(1, model.days + 1):
        starts = [problem.class_starts(klass, 2)[day] for klass in range(len(size))]
        options = contents(model, model.course_mask[day], [], starts)
        following: dict[tuple[int, ...], int] = {}
        for (done, cost), (content, price) in product(layer.items(), options.items()):
            after = tuple(a + b for a, b in zip(done, content, strict=True))
            if any(a > b for a, b in zip(after, size, strict=True)):
                continue
            total = cost + price + class_prices(model, state, day, content, after, size)
            if total < following.get(after, 1 << 40):
                following[after] = total
        layer = following
    return layer[tuple(size)]


def class_prices(
    model: CostModel, state: ScheduleState, day: int, content: tuple[int, ...], after: tuple[int, ...], size: list[int]
) -> int:
    total = 0
    for klass, task_class in enumerate(state.task_classes):
        traits, count = model.classes[klass], content[klass]
        rank, m = traits.rank[day], size[klass]
        if not traits.steady:
            total += W_SPREAD * rank * count
            continue
        total += traits.same_day_weight * count * (count - 1) // 2
        if task_class.admits(state.window.days[day - 1]):
            wanted = sum((2 * k - 1) * traits.eligible_days // (2 * m) <= rank for k in range(1, m + 1))
            total += W_SPREAD * abs(after[klass] - wanted)
    return total


def test_small_instances_are_placed_at_the_optimum_or_next_to_it() -> None:
    ratios: list[float] = []
    for seed in range(8):
        state = draw(seed, Recipe(12 + seed, 2, 0.4 + 0.06 * seed, classes=3))
        best, found = optimum(state), placed_cost(state)
        assert found >= best
        assert found <= max(best * 1.03, best + 4)
        ratios.append(found / best if best else 1.0)
    assert sum(ratios) / len(ratios) <= 1.005


def test_the_plan_predicts_the_cost_to_a_constant() -> None:
    for state in (draw(3, Recipe(30, 3, 0.6)), half_suggested(full(7), 7)):
        problem = compile_problem(state, everyone(state))
        answer = solve(problem, 1000)
        if answer.status != "feasible":
            problem = compile_problem(state, everyone(state), everyone(state)).without_homes()
            answer = solve(problem, 1000)
        plan = Plan(problem, answer.places)
        before, base = plan.cost(), _whole_cost(plan, state)
        other = [list(row) for row in plan.counts]
        for k, row in enumerate(other):
            day = next(day for day, count in enumerate(row) if count)
            for later in range(day + 1, len(row)):
                row[day], row[later] = row[day] - 1, row[later] + 1
                content = plan.content_of(later, [counts[later] for counts in other])
                if plan.days.hands[k].plain and plan.days.cost(plan.days.kind_of[later], content) < 1 << 30:
                    break
                row[day], row[later] = row[day] + 1, row[later] - 1
        plan.restore(other)
        assert plan.cost() - before == _whole_cost(plan, state) - base


def _whole_cost(plan: Plan, state: ScheduleState) -> int:
    placed = zip(plan.problem.items, plan.places(), strict=True)
    targets = {item.task_id: Slot(day=day, start=start, end=start + item.duration - 1) for item, (day, start) in placed}
    outcome = finish(state, targets, "agent")
    assert isinstance(outcome, Edited)
    return evaluate(outcome.state).cost


@pytest.mark.parametrize("seed", [11, 12])
def test_a_rebuild_of_a_placed_timetable_is_never_worse(seed: int) -> None:
    state = draw(seed, Recipe(24, 2, 0.6))
    poor = half_suggested(state, 2 * seed)
    first = rough_build(poor, everyone(state), rebuild=True)
    assert isinstance(first, Edited)
    again = rough_build(first.state, everyone(state), rebuild=True)
    assert isinstance(again, Edited)
    assert evaluate(again.state).cost <= evaluate(first.state).cost
    settled = rough_build(again.state, everyone(state), rebuild=True)
    assert isinstance(settled, Edited)
    assert evaluate(settled.state).cost <= evaluate(again.state).cost
    if not settled.changes:
        assert settled.state is again.state


def test_more_budget_is_never_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    state = draw(5, Recipe(30, 3, 0.7))
    costs: list[int] = []
    for budget in (0, 20_000, 1_000_000):
        monkeypatch.setattr("newagent.schedule.placement.build.BUDGET", budget)
        monkeypatch.setattr("newagent.schedule.placement.build.ITEM_BUDGET", 0)
        costs.append(placed_cost(state))
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]
