"""Optimisation stops by itself: after ineffective writes, after signals that stay the same, or when it may close."""

from __future__ import annotations

from typing import Any

import pytest

from newagent.loop import optimise
from newagent.loop.draft import Draft
from newagent.state.documents import AgentState, Counters, Judgement
from newagent.state.store import Session
from tests.loop.bed import call, done, make_bed, plan, reply


def draft(**fields: Any) -> Draft:
    state = AgentState(conversation_id="c", user_id="u", **fields)
    return Draft(Session(1, 1, None, state, (), None, 0, 0), state)


def delta(cost: int, pending: int = 0, gained: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "judge": {
            "before": {"pending": 0, "cost": 100},
            "after": {"pending": pending, "cost": cost},
            "issues_gained": [{"severity": severity} for severity in gained],
        }
    }


@pytest.mark.parametrize(
    ("data", "effective"),
    [
        (delta(99), True),
        (delta(100), False),
        (delta(50, pending=1), False),
        (delta(50, gained=("warning",)), True),
        (delta(50, gained=("critical",)), False),
    ],
)
def test_an_effective_write_lowers_pending_or_cost_and_adds_nothing_critical(
    data: dict[str, Any], effective: bool
) -> None:
    assert optimise.is_effective(data["judge"]) == effective


def test_three_ineffective_writes_in_a_row_close_and_an_effective_one_starts_the_count_anew() -> None:
    making = draft(optimizing=True, mode="global_reopt")
    for cost in (100, 110, 90, 100, 100):
        optimise.after_write(making, "move", delta(cost))
    assert (making.state.counters.ineffective, making.state.forced_close) == (2, "")
    optimise.after_write(making, "move", delta(101))
    assert making.state.forced_close == "ineffective"


def test_without_optimisation_nothing_is_counted() -> None:
    making = draft(mode="local_adjust")
    for _ in range(5):
        optimise.after_write(making, "move", delta(200))
    assert making.state.forced_close == ""


def test_the_first_build_starts_the_optimisation() -> None:
    making = draft(mode="first_full")
    optimise.after_write(making, "rough_build", delta(100))
    assert making.state.optimizing


def judgement(version: int, signal: str) -> Judgement:
    return Judgement(state_version=version, pending=0, cost=1, signal=signal)


def test_a_signal_that_stays_the_same_twice_closes() -> None:
    seen = [judgement(version, signal) for version, signal in ((1, "a"), (2, "a"), (3, "b"), (4, "b"), (5, "b"))]
    closes: list[str] = []
    counters = Counters()
    for before, now in zip([None, *seen], seen, strict=False):
        making = draft(optimizing=True, mode="first_full", judgement=now, counters=counters)
        optimise.after_judgement(making, before)
        counters = making.state.counters
        closes.append(making.state.forced_close)
    assert closes == ["", "", "", "", "same_signal"]


def test_looking_twice_at_one_version_is_no_repetition() -> None:
    making = draft(optimizing=True, mode="global_reopt", judgement=judgement(3, "a"))
    optimise.after_judgement(making, judgement(3, "a"))
    assert making.state.counters.same_signal == 0


async def test_a_run_that_only_makes_it_worse_is_closed_and_says_why() -> None:
    spread = [call("place", task_id=2, day=4, start=5), call("place", task_id=5, day=4, start=1)]
    worse = [call("move", task_id=2, day=day, start=start) for day, start in ((4, 9), (4, 11), (4, 3))]
    bed = await make_bed([plan("调", mode="global_reopt"), *spread, call("analyze_health"), *worse])
    bed.mind.script += [reply("停在这里")]
    session = await bed.say("整体优化", always_execute=True)
    outcome = session.state.outcome
    assert outcome is not None
    assert outcome.internal_reason == "ineffective"
    assert session.messages[-1].text.startswith("停在这里")
    assert "连续三次" in session.messages[-1].text
    assert bed.mind.script == []


async def test_without_a_forced_close_the_model_decides() -> None:
    bed = await make_bed([plan("看"), call("analyze_health"), done(), reply("好")])
    session = await bed.say("看看", always_execute=True)
    assert session.state.outcome is not None
    assert session.state.outcome.internal_reason == ""
