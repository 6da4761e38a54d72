"""Doing what the judge offers first until it says stop: it always ends, never comes back, and every step helps."""

from __future__ import annotations

import json
from random import Random

import pytest

from newagent.schedule.edits import Edited, Move, batch_move, move, swap
from newagent.schedule.judge import analyze_health
from newagent.schedule.model import ScheduleState
from tests.schedule.base.made_states import made_state


def step(state: ScheduleState, tool: str, arguments: dict[str, object]) -> ScheduleState:
    match tool:
        case "move":
            outcome = move(state, **arguments)  # type: ignore[arg-type]
        case "swap":
            outcome = swap(state, arguments["task_a"], arguments["task_b"])  # type: ignore[arg-type]
        case _:
            outcome = batch_move(state, [Move(**one) for one in arguments["moves"]])  # type: ignore[union-attr]
    assert isinstance(outcome, Edited), outcome
    return outcome.state


@pytest.mark.parametrize("tens", range(0, 30, 15))
def test_following_the_first_candidate(tens: int) -> None:
    steps = 0
    for seed in range(tens, tens + 15):
        state = made_state(Random(5000 + seed), items=9, span=12)
        classes = [c.id for c in state.task_classes if not any(t.task_class_id == c.id for t in state.pending)]
        seen = {json.dumps(state.dump(), sort_keys=True)}
        signals: set[str] = set()
        envelope = analyze_health(state, class_ids=classes)
        while envelope["decision"]["should_continue_optimize"]:
            decision, cost = envelope["decision"], envelope["metrics"]["cost"]
            assert decision["improvement_signal"] not in signals
            signals.add(decision["improvement_signal"])
            first = decision["candidates"][0]
            assert decision["recommended_operation"] == first["tool"]
            assert decision["recommended_arguments"] == first["arguments"]
            state = step(state, first["tool"], first["arguments"])
            envelope = analyze_health(state, class_ids=classes)
            assert envelope["metrics"]["cost"] == first["after"]["cost"] == cost - first["benefit"] < cost
            assert len(envelope["issues"]) == first["after"]["issues"]
            told = json.dumps(state.dump(), sort_keys=True)
            assert told not in seen
            seen.add(told)
            steps += 1
            assert steps < 400
        assert envelope["decision"]["recommended_operation"] == "close"
        assert envelope["metrics"]["can_close"]
    assert steps >= 10
