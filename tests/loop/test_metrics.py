"""The three figures, from journals: what counts as closed, as effective, as swinging back."""

from __future__ import annotations

import datetime as dt
from typing import Any

from newagent.loop.metrics import Figures, figures_of
from newagent.state.recording import Entry
from tests.loop.bed import CONVERSATION, USER, call, done, make_bed, plan, reply

PLACES = {"a": {"day": 1, "start": 1, "end": 2}, "b": {"day": 2, "start": 1, "end": 2}, "-": None}


def journal(*bodies: dict[str, Any]) -> list[Entry]:
    now = dt.datetime(2026, 3, 2, tzinfo=dt.UTC)
    return [Entry(i, f"r{i}", "model", body, "", "", "", "", now) for i, body in enumerate(bodies, 1)]


def turn() -> dict[str, Any]:
    return {"turn": {"text": "改"}, "state": {"optimizing": False, "outcome": None}}


def write(moved: str, before: int = 10, after: int = 8, tool: str = "move", critical: bool = False) -> dict[str, Any]:
    gained = [{"severity": "critical"}] if critical else []
    judge = {"before": {"pending": 0, "cost": before}, "after": {"pending": 0, "cost": after}, "issues_gained": gained}
    change = {"task_id": 3, "before": PLACES[moved[0]], "after": PLACES[moved[1]]}
    return {"tool": {"name": tool, "result": {"ok": True, "data": {"judge": judge}, "changes": [change]}}, "state": {}}


def started() -> dict[str, Any]:
    return {"state": {"optimizing": True}}


def end(kind: str = "completed") -> dict[str, Any]:
    return {"state": {"optimizing": False, "outcome": {"kind": kind}}}


def test_a_run_that_closes_in_order() -> None:
    figures = figures_of(journal(turn(), started(), write("ab"), write("ba", 8, 9), end()))
    assert figures == Figures(runs=1, optimised=1, closed=1, writes=2, effective=1, swing_backs=1)
    assert (figures.closing_rate, figures.effective_rate) == (1.0, 0.5)


def test_a_run_that_is_forced_or_cut_off_has_not_closed() -> None:
    forced = {"state": {"forced_close": "ineffective"}}
    assert figures_of(journal(turn(), started(), forced, end())).closed == 0
    for kind in ("incomplete", "aborted", "exhausted", "cancelled"):
        assert figures_of(journal(turn(), started(), end(kind))) == Figures(runs=1, optimised=1)


def test_what_does_not_count() -> None:
    assert figures_of(journal()) == figures_of(journal(turn(), started(), write("ab"))) == Figures()
    assert figures_of(journal(turn(), write("ab"), end())) == Figures(runs=1)
    refused = {"tool": {"name": "move", "result": {"ok": False, "data": {}}}}
    read = {"tool": {"name": "get_overview", "result": {"ok": True, "data": {}}}}
    assert figures_of(journal(turn(), started(), refused, read, end())).writes == 0
    assert Figures().as_json()["closing_rate"] is Figures().as_json()["effective_rate"] is None


def test_effective_means_better_without_a_new_critical_issue() -> None:
    bodies = (turn(), started(), write("ab", 10, 10), write("ba", 10, 8, critical=True), write("ab", 8, 7), end())
    assert figures_of(journal(*bodies)).effective == 1


def test_swinging_back_is_within_a_run_and_no_undo() -> None:
    undone = (turn(), started(), write("ab"), write("ba", tool="undo_last"), end())
    assert figures_of(journal(*undone)).swing_backs == 0
    two_runs = (turn(), started(), write("ab"), end(), turn(), started(), write("ba"), end())
    assert figures_of(journal(*two_runs)) == Figures(2, 2, 2, 2, 2, 0)
    away = (turn(), started(), write("ab"), write("b-"), write("-a"), end())
    assert figures_of(journal(*away)).swing_backs == 1


async def test_the_journal_of_a_real_run() -> None:
    bed = await make_bed(
        [
            plan("排", mode="first_full"),
            call("rough_build", task_class_ids=[10, 11]),
            call("analyze_health"),
            done(),
            reply("好"),
        ]
    )
    await bed.say("排课", always_execute=True)
    recording = await bed.store.recording(USER, CONVERSATION)
    figures = figures_of(recorded.entry for recorded in recording.rounds)
    assert (figures.runs, figures.optimised, figures.writes, figures.effective) == (1, 1, 1, 1)
