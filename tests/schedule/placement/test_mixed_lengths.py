"""Items of one to four sections: exact against exhaustive search, honest where the budget ends."""

from __future__ import annotations

import random

import pytest

from benchmarks.instances import full, mixed
from newagent.schedule.edits import Edited, place
from newagent.schedule.model import ScheduleState, Task
from newagent.schedule.placement import PlacementReport, feasibility, relax, rough_build
from newagent.schedule.rules import state_faults


def everyone(state: ScheduleState) -> list[int]:
    return [task_class.id for task_class in state.task_classes]


def starts(state: ScheduleState, task: Task) -> list[tuple[int, int]]:
    step = 2 if task.sections % 2 == 0 else 1
    return [(day.day, start) for day in state.window.days for start in range(1, state.window.sections + 1, step)]


def fewest_left(state: ScheduleState) -> int:
    """The least number of sections that stay unplaced, by trying every way to place or skip each item in order."""
    items = state.pending
    best = sum(task.sections for task in items)
    seen: dict[tuple[int, frozenset[tuple[int, int, int]], tuple[object, ...]], int] = {}

    def descend(current: ScheduleState, index: int, left: int) -> None:
        nonlocal best
        if left >= best:
            return
        if index == len(items):
            best = left
            return
        taken = frozenset((t.slot.day, t.slot.start, t.slot.end) for t in current.items if t.slot)
        key = (index, taken, tuple(current.order_bounds[t.id] for t in items[index:]))
        if seen.get(key, 1 << 30) <= left:
            return
        seen[key] = left
        for day, start in starts(current, items[index]):
            outcome = place(current, items[index].id, day, start)
            if isinstance(outcome, Edited):
                descend(outcome.state, index + 1, left)
        descend(current, index + 1, left + items[index].sections)

    descend(state, 0, 0)
    return best


def check(seed: int) -> str:
    state = mixed(seed)
    ids = everyone(state)
    outcome = rough_build(state, ids)
    if isinstance(outcome, Edited):
        assert not outcome.state.pending
        assert state_faults(outcome.state) == []
        for task in outcome.state.items:
            assert task.slot is not None
            assert task.sections % 2 or task.slot.start % 2 == 1
        assert feasibility(state, ids) == (True, 0, "ok")
        return "feasible"
    assert isinstance(outcome, PlacementReport)
    report = outcome.as_json()
    for relaxation in report["relaxations"]:
        assert isinstance(rough_build(relax(state, relaxation), ids), Edited)
    if report["code"] == "undecided":
        return "undecided"
    assert report["code"] == "infeasible"
    least = fewest_left(state)
    assert least > 0
    assert report["capacity_gap"] == least
    return "infeasible"


def test_small_instances_against_exhaustive_search() -> None:
    verdicts = [check(seed) for seed in range(18)]
    assert {"feasible", "infeasible"} <= set(verdicts)
    assert verdicts.count("undecided") == 0


@pytest.mark.soak
@pytest.mark.parametrize("block", range(10))
def test_200_small_instances(block: int) -> None:
    verdicts = [check(seed) for seed in range(20 * block, 20 * block + 20)]
    assert verdicts.count("undecided") <= 0.02 * len(verdicts)


def test_without_nodes_the_answer_is_undecided_never_infeasible() -> None:
    rng = random.Random(23)
    state = full(23)
    state = state.with_tasks(task.evolve(duration=rng.choice((1, 2, 2, 3))) for task in state.items)
    ids = everyone(state)
    is_feasible, gap, reason = feasibility(state, ids, nodes=1)
    assert (is_feasible, reason) == (None, "undecided")
    outcome = rough_build(state, ids, nodes=1)
    assert isinstance(outcome, PlacementReport)
    report = outcome.as_json()
    assert (report["code"], report["capacity_gap"], report["conflicts"]) == ("undecided", gap, [])
    for relaxation in report["relaxations"]:
        assert isinstance(rough_build(relax(state, relaxation), ids), Edited)
    assert report["relaxations"][-1]["kind"] == "drop_items"
