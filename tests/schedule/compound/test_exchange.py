"""min_context_switch against exhaustive exchange: the fewest switches, and among those the least cost."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from newagent.schedule.compound import min_context_switch
from newagent.schedule.cost import evaluate
from newagent.schedule.edits import Edited, Move, batch_move
from newagent.schedule.model import Actor, ScheduleState
from newagent.schedule.rules import Violation
from tests.schedule.base.made_states import made_state
from tests.schedule.base.oracle import broken_by_change, broken_rules
from tests.schedule.base.small_states import course, heavy, item, state_of, task_class


def goal(state: ScheduleState) -> tuple[int, int]:
    value = evaluate(state)
    return sum(look.switch_count for look in value.looks), value.cost


def best_exchange(state: ScheduleState, ids: list[int], actor: Actor) -> tuple[int, int]:
    """The best of all ways to deal the items out to their places."""
    slots = [state.by_id[task_id].slots[0] for task_id in ids]
    best = goal(state)
    for dealt in permutations(slots):
        moves = [
            Move(task_id, slot.day, slot.start)
            for task_id, slot, now in zip(ids, dealt, slots, strict=True)
            if (slot.day, slot.start) != (now.day, now.start)
        ]
        lengths = all(a.end - a.start == b.end - b.start for a, b in zip(slots, dealt, strict=True))
        outcome = batch_move(state, moves, actor) if moves and lengths else None
        if isinstance(outcome, Edited):
            best = min(best, goal(outcome.state))
    return best


@pytest.mark.parametrize("tens", range(0, 60, 20))
def test_no_exchange_is_better(tens: int) -> None:
    improved = 0
    for seed in range(tens, tens + 20):
        rng = Random(500 + seed)
        state = made_state(rng, items=8, span=3)
        placed = [task.id for task in state.items if task.status == "suggested" and not task.locked]
        ids = rng.sample(placed, min(5, len(placed)))
        actor: Actor = rng.choice(("agent", "user"))
        if not ids:
            continue
        outcome = min_context_switch(state, ids, actor)
        if isinstance(outcome, Violation):
            assert outcome.code == "protected"
            continue
        assert goal(outcome.state) == best_exchange(state, ids, actor)
        assert not broken_rules(outcome.state.dump())
        assert not broken_by_change(state.dump(), outcome.state.dump(), actor)
        improved += goal(outcome.state) < goal(state)
    assert improved >= 1


def test_same_classes_come_to_stand_together_in_their_order() -> None:
    starts = (1, 3, 5, 7, 9, 11)
    tasks = [item(k + 1, 10 + 10 * (k % 2), k + 1, (1, start)) for k, start in enumerate(starts)]
    outcome = min_context_switch(state_of(tasks, [task_class(10), task_class(20)]), [1, 2, 3, 4, 5, 6])
    assert isinstance(outcome, Edited)
    assert goal(outcome.state)[0] == 1
    for ids in ([1, 3, 5], [2, 4, 6]):
        assert [outcome.state.by_id[i].slots[0].start for i in ids] in ([1, 3, 5], [7, 9, 11])


def test_a_sibling_that_stays_keeps_its_neighbours_in_order() -> None:
    tasks = [
        item(1, 10, 1, (1, 1)),
        item(2, 20, 1, (1, 3)),
        item(3, 10, 2, (2, 1)),
        item(4, 20, 2, (2, 3)),
        item(5, 10, 3, (3, 1)),
        item(6, 20, 3, (3, 3)),
    ]
    state = state_of(tasks, [task_class(10), task_class(20)], span=3)
    outcome = min_context_switch(state, [1, 2, 4, 5, 6])
    assert isinstance(outcome, Edited)
    assert outcome.state.by_id[3].slot == state.by_id[3].slot
    assert not broken_rules(outcome.state.dump())
    assert goal(outcome.state)[0] < goal(state)[0]


def test_a_class_takes_no_place_that_it_may_not_have() -> None:
    host = course(9, (1, 1, 4), can_embed=True)
    tasks = [host, item(1, 10, 1, (1, 1)), item(2, 20, 1, (1, 5)), item(3, 10, 2, (1, 7))]
    state = state_of(tasks, [task_class(10, allow_filler_course=True), heavy(20)])
    outcome = min_context_switch(state, [1, 2, 3])
    assert isinstance(outcome, Edited)
    assert outcome.state.by_id[1].embed_host == 9
    assert goal(outcome.state)[0] == 1
    assert outcome.state.by_id[2].slots[0].start == 7


def test_nothing_to_gain_leaves_the_very_same_state() -> None:
    state = state_of([item(1, 10, 1, (1, 1)), item(2, 20, 1, (2, 1))], [task_class(10), task_class(20)], span=2)
    outcome = min_context_switch(state, [1, 2])
    assert isinstance(outcome, Edited)
    assert outcome.state is state


def test_a_budget_that_does_not_suffice_is_told() -> None:
    tasks = [item(k + 1, 10 * (k % 3), k + 1, (1 + k // 6, 2 * (k % 6) + 1)) for k in range(18)]
    state = state_of(tasks, [task_class(10 * n) for n in range(3)])
    outcome = min_context_switch(state, [task["id"] for task in tasks], nodes=100)
    assert isinstance(outcome, Violation)
    assert outcome.code == "undecided"


@pytest.mark.parametrize(("ids", "code"), [([], "invalid_args"), ([7], "unknown_task"), ([3], "wrong_status")])
def test_what_cannot_be_exchanged(ids: list[int], code: str) -> None:
    state = state_of([item(1, 10, 1, (1, 1)), item(3, 10, 2)], [task_class(10)])
    outcome = min_context_switch(state, ids)
    assert isinstance(outcome, Violation)
    assert outcome.code == code
