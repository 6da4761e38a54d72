"""What a content costs on a day is the cheapest of all its arrangements."""

from __future__ import annotations

import random
from itertools import pairwise, product

import pytest

from benchmarks.instances import Recipe, draw
from newagent.schedule.cost import Entry
from newagent.schedule.edits import Edited, place
from newagent.schedule.model import Preferences, ScheduleState
from newagent.schedule.placement import rough_build
from newagent.schedule.placement.arrange import IMPOSSIBLE
from newagent.schedule.placement.days import Days
from newagent.schedule.placement.hands import FIELD
from newagent.schedule.placement.problem import Problem, compile_problem
from newagent.schedule.rules import state_faults

ROUGH = {"load": "light", "switching": "low", "tolerance": "high", "long_blocks": 3, "evening_heavy": "avoid"}


def instance(seed: int) -> ScheduleState:
    """A state with suggested items in the way, some lengths of one, three and four sections, and strict dials."""
    rng = random.Random(seed)
    state = draw(seed, Recipe(24, 2, 0.7, classes=4))
    lengths = {task_class.id: rng.choice((1, 2, 2, 3, 4)) for task_class in state.task_classes}
    state = state.with_tasks(task.evolve(duration=lengths[task.task_class_id or 0]) for task in state.items)
    if seed % 3:
        state = state.evolve(preferences=Preferences.model_validate({**ROUGH, "daily_cap": seed % 4 * 2 or None}))
    for task in state.items[:: 4 + seed % 2]:
        outcome = place(state, task.id, rng.randint(1, 14), rng.randint(1, 12))
        state = outcome.state if isinstance(outcome, Edited) else state
    return state


def cheapest(problem: Problem, day: int, counts: list[int], fixed: list[Entry]) -> int | None:
    """By trying every start of every item."""
    best: int | None = None
    items: list[tuple[int, int, tuple[int, ...]]] = []
    for klass, count in zip(problem.of_class, counts, strict=True):
        first = problem.items[problem.of_class[klass][0]]
        starts = problem.class_starts(klass, first.duration)[day]
        items.extend([(klass, first.duration, starts)] * count)
    for chosen in product(*(starts for _, _, starts in items)):
        entries = [Entry(start, length, klass) for start, (klass, length, _) in zip(chosen, items, strict=True)]
        spans = sorted((entry.start, entry.start + entry.length) for entry in [*entries, *fixed])
        if all(end <= start for (_, end), (start, _) in pairwise(spans)):
            cost = problem.model.day_cost(day, sorted([*entries, *fixed]))
            best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_costs_and_layouts_of_random_contents(seed: int) -> None:
    state = instance(seed)
    whole = compile_problem(state, [task_class.id for task_class in state.task_classes])
    free = tuple(item for item in whole.items if not item.after and item.before == 1 << 30)
    problem = Problem(state, free, whole.closed, whole.hosts, whole.guarded_days)
    days = Days(problem)
    rng = random.Random(seed)
    possible = 0
    for _ in range(60):
        day = rng.randint(1, problem.days)
        counts = [rng.choice((0, 0, 1, 1, 2)) for _ in days.classes]
        fixed = [
            Entry(task.slot.start, task.sections, problem.model.index_of[task.task_class_id or 0])
            for task in state.items
            if task.slot is not None and task.slot.day == day
        ]
        if not sum(counts) or sum(counts) > 4:
            continue
        content = sum(count << (FIELD * k) for k, count in enumerate(counts))
        wanted = cheapest(problem, day, counts, fixed)
        found = days.cost(days.kind_of[day], content)
        assert found == (IMPOSSIBLE if wanted is None else wanted)
        if wanted is None:
            continue
        possible += 1
        layout = days.layout(day, content)
        length = {k: problem.items[problem.of_class[klass][0]].duration for k, klass in enumerate(days.classes)}
        assert sorted(k for k, _ in layout) == [k for k, count in enumerate(counts) for _ in range(count)]
        assert [start for _, start in layout] == sorted(start for _, start in layout)
        entries = [Entry(start, length[k], days.classes[k]) for k, start in layout]
        assert problem.model.day_cost(day, sorted([*entries, *fixed])) == wanted
    assert possible > 2


def test_an_intricate_day_keeps_the_layout_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newagent.schedule.placement.arrange.STEPS", 0)
    monkeypatch.setattr("newagent.schedule.placement.shape.STEPS", 0)
    state = draw(1, Recipe(12, 2, 0.5, classes=2))
    problem = compile_problem(state, [task_class.id for task_class in state.task_classes])
    days = Days(problem)
    day = next(day for day in range(1, 15) if problem.class_starts(days.classes[0], 2)[day])
    start = problem.class_starts(days.classes[0], 2)[day][0]
    assert days.cost(days.kind_of[day], 1) == IMPOSSIBLE
    days.seed(day, 1, ((0, start),))
    assert days.cost(days.kind_of[day], 1) == problem.model.day_cost(day, [Entry(start, 2, days.classes[0])])
    assert days.layout(day, 1) == ((0, start),)


def test_where_every_day_is_too_intricate_the_first_placement_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newagent.schedule.placement.arrange.STEPS", 0)
    monkeypatch.setattr("newagent.schedule.placement.shape.STEPS", 0)
    state = draw(1, Recipe(12, 2, 0.5, classes=2))
    outcome = rough_build(state, [task_class.id for task_class in state.task_classes])
    assert isinstance(outcome, Edited)
    assert not outcome.state.pending
    assert state_faults(outcome.state) == []
