"""Every sequence of edits keeps L1–L8: a state machine over random timetables, checked by an independent oracle."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from newagent.schedule.edits import Edited, Move, batch_move, move, place, swap, unplace
from newagent.schedule.model import Actor, ScheduleState
from newagent.schedule.placement import PlacementReport, rough_build
from newagent.schedule.rules import CODES, Violation
from tests.schedule.base.made_states import made_state
from tests.schedule.base.oracle import broken_by_change, broken_rules

ACTORS = st.sampled_from(("agent", "agent", "user"))
PICKS = st.integers(0, 60)


class EditMachine(RuleBasedStateMachine):
    """Tries any edit on any task, most of them sensible, and looks at what comes out."""

    @initialize(seed=st.integers(0, 2**32), share=st.sampled_from((0.0, 0.5, 1.0)))
    def begin(self, seed: int, share: float) -> None:
        self.state = made_state(Random(seed), share=share)
        self.first = self.state.dump()

    @rule(pick=PICKS, day=PICKS, start=PICKS, actor=ACTORS)
    def place(self, pick: int, day: int, start: int, actor: Actor) -> None:
        self.tried(place(self.state, self.some("pending", pick), *self.somewhere(day, start), actor), actor)

    @rule(pick=PICKS, day=PICKS, start=PICKS, actor=ACTORS)
    def move(self, pick: int, day: int, start: int, actor: Actor) -> None:
        self.tried(move(self.state, self.some("suggested", pick), *self.somewhere(day, start), actor), actor)

    @rule(one=PICKS, other=PICKS, actor=ACTORS)
    def swap(self, one: int, other: int, actor: Actor) -> None:
        self.tried(swap(self.state, self.some("suggested", one), self.some("suggested", other), actor), actor)

    @rule(wishes=st.lists(st.tuples(PICKS, PICKS, PICKS), max_size=4), actor=ACTORS)
    def batch(self, wishes: list[tuple[int, int, int]], actor: Actor) -> None:
        moves = [Move(self.some("suggested", pick), *self.somewhere(day, start)) for pick, day, start in wishes]
        self.tried(batch_move(self.state, moves, actor), actor)

    @rule(first=PICKS, shift=st.integers(1, 3), actor=ACTORS)
    def rotate(self, first: int, shift: int, actor: Actor) -> None:
        """Lets a few placed items trade places all round: legal only if a batch is judged by its end."""
        placed = [task for task in self.state.items if task.status == "suggested"]
        assume(len(placed) > shift)
        chosen = [placed[(first + k) % len(placed)] for k in range(shift + 1)]
        slots = [task.slots[0] for task in chosen]
        moves = [Move(task.id, slots[k - 1].day, slots[k - 1].start) for k, task in enumerate(chosen)]
        self.tried(batch_move(self.state, moves, actor), actor)

    @rule(pick=PICKS, actor=ACTORS)
    def unplace(self, pick: int, actor: Actor) -> None:
        self.tried(unplace(self.state, self.some("suggested", pick), actor), actor)

    @rule(picks=st.sets(st.integers(0, 2), min_size=1), rebuild=st.booleans())
    def rough_build(self, picks: set[int], rebuild: bool) -> None:
        classes = self.state.task_classes
        scope = sorted({classes[pick % len(classes)].id for pick in picks})
        outcome = rough_build(self.state, scope, rebuild=rebuild, nodes=300)
        self.tried(outcome, "agent")
        if isinstance(outcome, Edited):
            assert not [task for task in self.state.pending if task.task_class_id in scope]

    def some(self, status: str, pick: int) -> int:
        """The id of a task of that status, now and then of any task, or of none."""
        pool = [task.id for task in self.state.items if task.status == status]
        if not pool or pick > 50:
            pool = [*(task.id for task in self.state.tasks), 999]
        return pool[pick % len(pool)]

    def somewhere(self, day: int, start: int) -> tuple[int, int]:
        """A place of the window, now and then one beside it."""
        return day % (len(self.state.window.days) + 2), start % (self.state.window.sections + 2)

    def tried(self, outcome: Edited | Violation | PlacementReport, actor: Actor) -> None:
        before = self.state.dump()
        if not isinstance(outcome, Edited):
            if isinstance(outcome, Violation):
                assert outcome.code in CODES
                assert outcome.message
            assert before == self.last, "a refused edit changed the state"
            return
        after = outcome.state.dump()
        assert not broken_by_change(before, after, actor)
        told = {change.task_id: (change.before, change.after) for change in outcome.changes}
        made = {
            one["id"]: (one["slots"], other["slots"])
            for one, other in zip(before["tasks"], after["tasks"], strict=True)
            if one["slots"] != other["slots"]
        }
        assert told.keys() == made.keys()
        for task_id, slots in made.items():
            assert [[slot.model_dump()] if slot else [] for slot in told[task_id]] == list(slots)
        self.state = outcome.state

    @invariant()
    def lawful(self) -> None:
        """L1–L5 hold, and the state is what its document says."""
        document = self.state.dump()
        assert not broken_rules(document)
        assert ScheduleState.load(copy.deepcopy(document)) == self.state
        self.last: dict[str, Any] = document


TestEdits = EditMachine.TestCase
TestEdits.settings = settings(
    max_examples=50,
    stateful_step_count=16,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.mark.parametrize("tens", range(0, 40, 10))
def test_an_edit_is_carried_out_if_and_only_if_the_result_is_lawful(tens: int) -> None:
    """Every place of small timetables is tried: what is refused would really have broken a rule."""
    carried_out = refused = 0
    for seed in range(tens, tens + 10):
        state = made_state(Random(seed), share=0.6, items=5, span=5)
        before = state.dump()
        for task in state.items:
            if task.status == "existing" or task.locked:
                continue
            edit = place if task.status == "pending" else move
            for day in range(1, len(state.window.days) + 1):
                for start in range(1, state.window.sections + 1):
                    slot = {"day": day, "start": start, "end": start + task.sections - 1}
                    if task.slots and task.slots[0].model_dump() == slot:
                        continue
                    expected = lawful_after(before, task.id, slot)
                    outcome = edit(state, task.id, day, start, "user")
                    assert isinstance(outcome, Edited) == expected, (seed, task.id, slot, outcome)
                    carried_out += expected
                    refused += not expected
    assert carried_out > 100
    assert refused > 100


def lawful_after(document: dict[str, Any], task_id: int, slot: dict[str, int]) -> bool:
    tasks = [dict(task) for task in document["tasks"]]
    for task in tasks:
        if task["id"] == task_id:
            task["slots"], task["status"] = [slot], "suggested"
            task.pop("embed_host", None)
    return not broken_rules({**document, "tasks": tasks})
