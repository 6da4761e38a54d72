"""spread_even against exhaustive search: the sum of squares is least, every rule holds, or a reason is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from newagent.schedule.compound import spread_even
from newagent.schedule.compound.branches import search
from newagent.schedule.compound.work import workers
from newagent.schedule.cost import evaluate
from newagent.schedule.edits import Edited, Move, batch_move
from newagent.schedule.model import Actor, ScheduleState, Slot
from newagent.schedule.rules import Violation
from tests.schedule.base.made_states import made_state
from tests.schedule.base.oracle import broken_by_change, broken_rules
from tests.schedule.base.small_states import item, state_of, task_class


def goal(state: ScheduleState) -> int:
    loads: dict[int, int] = {}
    for task in state.items:
        if task.slot is not None:
            loads[task.slot.day] = loads.get(task.slot.day, 0) + task.slot.end - task.slot.start + 1
    return sum(load * load for load in loads.values())


def every_outcome(
    state: ScheduleState, ids: list[int], admits: Callable[[Slot], bool], actor: Actor
) -> Iterator[ScheduleState]:
    """All states that putting the items anywhere the filter admits can lead to, tried one by one."""
    choices: list[list[tuple[int, int]]] = []
    for task_id in ids:
        length = state.by_id[task_id].sections
        choices.append(
            [
                (day, start)
                for day in range(1, len(state.window.days) + 1)
                for start in range(1, state.window.sections - length + 2, 2 - length % 2)
                if admits(Slot(day=day, start=start, end=start + length - 1))
            ]
        )

    def extend(index: int, chosen: list[Move]) -> Iterator[ScheduleState]:
        if index == len(ids):
            moves = [wish for wish in chosen if not stands(state, wish)]
            outcome = batch_move(state, moves, actor) if moves else Edited(state, ())
            if isinstance(outcome, Edited):
                yield outcome.state
            return
        for day, start in choices[index]:
            yield from extend(index + 1, [*chosen, Move(ids[index], day, start)])

    yield from extend(0, [])


def stands(state: ScheduleState, wish: Move) -> bool:
    slot = state.by_id[wish.task_id].slots[0]
    return (slot.day, slot.start) == (wish.day, wish.start)


def movable(state: ScheduleState, rng: Random, most: int) -> list[int]:
    placed = [task.id for task in state.items if task.status == "suggested" and not task.locked]
    return rng.sample(placed, min(most, len(placed)))


@pytest.mark.parametrize("tens", range(0, 30, 10))
def test_no_placement_is_more_even(tens: int) -> None:
    compared = 0
    for seed in range(tens, tens + 10):
        rng = Random(seed)
        state = made_state(rng, items=4, span=3)
        ids = movable(state, rng, 2)
        if not ids:
            continue
        actor: Actor = rng.choice(("agent", "user"))
        days = {day.day for day in state.window.days if rng.random() < 0.8}

        def admits(slot: Slot, days: set[int] = days) -> bool:
            return slot.day in days

        outcome = spread_even(state, ids, admits, actor)
        reached = list(every_outcome(state, ids, admits, actor))
        if isinstance(outcome, Violation):
            assert outcome.code in ("infeasible", "protected")
            assert outcome.code == "protected" or not reached
            continue
        compared += 1
        assert goal(outcome.state) == min(map(goal, reached))
        assert all(outcome.state.by_id[task_id].slots[0].day in days for task_id in ids)
        assert not broken_rules(outcome.state.dump())
        assert not broken_by_change(state.dump(), outcome.state.dump(), actor)
        told = {change.task_id for change in outcome.changes}
        assert told == {task.id for task in state.items if task.slot != outcome.state.by_id[task.id].slot} <= set(ids)
        equal = [evaluate(one).cost for one in reached if goal(one) == goal(outcome.state)]
        assert evaluate(outcome.state).cost <= sorted(equal)[len(equal) // 2]
    assert compared >= 3


@pytest.mark.parametrize("seed", range(30))
def test_the_flow_and_the_branches_agree(seed: int) -> None:
    """Two independent ways to the same sum, on items of one length."""
    rng = Random(7000 + seed)
    placed = sorted(rng.sample(range(12), 7))
    tasks = [item(k + 1, 10 + 10 * (k % 2), k + 1, (1 + p // 4, 2 * (p % 4) + 1)) for k, p in enumerate(placed)]
    blocked = [{"kind": "day", "value": rng.randint(4, 7)}]
    classes = [
        task_class(10, excluded_slots=[rng.randint(5, 6)]),
        task_class(20, excluded_days_of_week=[rng.randint(4, 7)]),
    ]
    state = state_of(tasks, classes, protections=blocked)
    ids = [task["id"] for task in tasks]
    outcome = spread_even(state, ids)
    items = workers(state, ids, "agent")
    assert not isinstance(items, Violation)
    if isinstance(outcome, Violation):
        assert outcome.code == "infeasible"
        return
    from newagent.schedule.compound.spread import _loads, _options, everywhere

    places = search(items, _options(state, items, everywhere), _loads(state, items), nodes=60_000)
    assert not isinstance(places, str)
    moved = [Move(i.task.id, *p) for i, p in zip(items, places, strict=True) if (i.slot.day, i.slot.start) != p]
    other = batch_move(state, moved)
    assert isinstance(other, Edited)
    assert goal(outcome.state) == goal(other.state)


def test_the_emptier_day_first() -> None:
    tasks = [item(k, 10, k, (1, 2 * k - 1)) for k in range(1, 6)]
    outcome = spread_even(state_of(tasks, [task_class(10)], span=5), [1, 2, 3, 4, 5])
    assert isinstance(outcome, Edited)
    assert [task.slots[0].day for task in outcome.state.items] == [1, 2, 3, 4, 5]


def test_what_is_even_already_stays() -> None:
    tasks = [item(k, 10, k, (k, 1)) for k in range(1, 6)]
    state = state_of(tasks, [task_class(10)], span=5)
    outcome = spread_even(state, [1, 3, 5])
    assert outcome == Edited(state, ())
    assert isinstance(outcome, Edited)
    assert outcome.state is state


def test_longer_items_are_spread_by_branch_and_bound() -> None:
    tasks = [
        item(1, 10, 1, (1, 1), length=3),
        item(2, 10, 2, (1, 5), length=4),
        item(3, 10, 3, (1, 9)),
        item(4, 20, 1, (2, 1)),
    ]
    outcome = spread_even(state_of(tasks, [task_class(10), task_class(20)], span=3), [1, 2, 3])
    assert isinstance(outcome, Edited)
    assert goal(outcome.state) == 49
    assert not broken_rules(outcome.state.dump())


def test_a_search_that_proves_nothing_is_undecided() -> None:
    tasks = [item(k, 10 * k, 1, (1 + k // 3, 1 + 4 * (k % 3)), length=3 + k % 2) for k in range(1, 9)]
    state = state_of(tasks, [task_class(10 * k) for k in range(1, 9)])
    items = workers(state, [task["id"] for task in tasks], "agent")
    assert not isinstance(items, Violation)
    places = [[(day, start) for day in (1, 2, 3) for start in (1, 5, 9)] for _ in items]
    assert search(items, places, [0, 0, 4, 0, 0, 0, 0, 0], nodes=5) == "undecided"
    assert search(items, [[] for _ in items], [0] * 8) == "infeasible"


@pytest.mark.parametrize(
    ("ids", "code"),
    [
        ([], "invalid_args"),
        ([1, 1], "invalid_args"),
        (list(range(1, 300)), "invalid_args"),
        ([1, 99], "unknown_task"),
        ([1, 3], "wrong_status"),
        ([4], "locked"),
        ([2], "protected"),
    ],
)
def test_what_cannot_be_spread(ids: list[int], code: str) -> None:
    tasks = [item(1, 10, 1, (1, 1)), item(2, 10, 2, (2, 1)), item(3, 10, 3), item(4, 20, 1, (3, 1), locked=True)]
    state = state_of(tasks, [task_class(10), task_class(20)], protections=[{"kind": "day", "value": 2}])
    outcome = spread_even(state, ids)
    assert isinstance(outcome, Violation)
    assert outcome.code == code


def test_on_a_state_that_breaks_a_rule_nothing_is_spread() -> None:
    state = state_of([item(1, 10, 1, (1, 1)), item(2, 20, 1, (1, 2))], [task_class(10), task_class(20)])
    outcome = spread_even(state, [1, 2])
    assert isinstance(outcome, Violation)
    assert outcome.code == "conflict"
