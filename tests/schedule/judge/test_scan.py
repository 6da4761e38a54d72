"""The scan against brute force: every legal edit and no other, each with the very change of cost it makes."""

from __future__ import annotations

from random import Random

import pytest

from newagent.schedule.cost import CostModel, evaluate
from newagent.schedule.edits import Edited, Move, batch_move, move, swap
from newagent.schedule.judge import analyze_health
from newagent.schedule.judge.batch import MAX_MOVES, best_batch
from newagent.schedule.judge.scan import batch_edit, carry_out, move_edit, scan, swap_edit
from newagent.schedule.model import ScheduleState
from tests.schedule.base.made_states import made_state
from tests.schedule.base.oracle import broken_rules, cost_terms

STATES = range(200)
Scored = dict[tuple[str, int, int, int], int]


def brute_force(state: ScheduleState) -> Scored:
    """Every legal single edit over the starts of placement, tried by the edits themselves and valued from scratch."""
    before = evaluate(state).cost
    found: Scored = {}
    items = [task for task in state.items if task.status == "suggested"]
    for task in items:
        for day in range(1, len(state.window.days) + 1):
            for start in range(1, state.window.sections + 1, 2 - task.sections % 2):
                outcome = move(state, task.id, day, start)
                if isinstance(outcome, Edited):
                    found["move", task.id, day, start] = evaluate(outcome.state).cost - before
        for other in items:
            if other.id > task.id and other.task_class_id != task.task_class_id:
                outcome = swap(state, task.id, other.id)
                if isinstance(outcome, Edited):
                    found["swap", task.id, other.id, 0] = evaluate(outcome.state).cost - before
    return found


def scanned(state: ScheduleState) -> Scored:
    result = scan(state, CostModel(state))
    found: Scored = {}
    for one in result.moves:
        arguments = move_edit(result.board, one).arguments
        found["move", arguments["task_id"], arguments["day"], arguments["start"]] = one.delta
    for one in result.swaps:
        arguments = swap_edit(result.board, one).arguments
        found["swap", arguments["task_a"], arguments["task_b"], 0] = one.delta
    assert len(found) == len(result.moves) + len(result.swaps), "an edit was found twice"
    return found


@pytest.mark.parametrize("tens", range(0, len(STATES), 10))
def test_the_scan_is_the_brute_force(tens: int) -> None:
    for seed in STATES[tens : tens + 10]:
        state = made_state(Random(seed), share=0.9, items=5, span=5)
        expected = brute_force(state)
        assert scanned(state) == expected
        envelope = analyze_health(state, dimensions=["rhythm", "tightness"])
        singles = [c for c in envelope["decision"]["candidates"] if c["tool"] in ("move", "swap")]
        best = min(expected.values(), default=0)
        assert max((c["benefit"] for c in singles), default=0) == max(0, -best)


@pytest.mark.parametrize("tens", range(0, 30, 10))
def test_every_candidate_is_legal_and_tells_the_truth(tens: int) -> None:
    for seed in range(tens, tens + 10):
        state = made_state(Random(1000 + seed), items=9)
        document = state.dump()
        terms = cost_terms(document)
        envelope = analyze_health(state)
        assert envelope["metrics"]["terms"] == terms
        assert envelope["metrics"]["cost"] == sum(terms.values())
        candidates = envelope["decision"]["candidates"]
        assert 1 <= len(candidates) <= 6
        assert [c["candidate_id"] for c in candidates] == [*(f"c{n}" for n in range(1, len(candidates))), "close"]
        benefits = [c["benefit"] for c in candidates]
        assert benefits == sorted(benefits, reverse=True)
        touched: list[int] = []
        for candidate in candidates[:-1]:
            after = applied(state, candidate["tool"], candidate["arguments"])
            reached = cost_terms(after.dump())
            assert not broken_rules(after.dump())
            assert candidate["after"]["terms"] == reached
            assert candidate["after"]["cost"] == sum(reached.values())
            assert candidate["after"]["issues"] == len(analyze_health(after)["issues"])
            assert candidate["benefit"] == sum(terms.values()) - sum(reached.values()) >= 1
            assert candidate["effect"] == ("partial_improve" if candidate["after"]["issues"] else "improve")
            if candidate["tool"] != "batch_move":
                touched += [task_id for key, task_id in candidate["arguments"].items() if key.startswith("task")]
        assert len(touched) == len(set(touched)), "two single edits share a task"


def applied(state: ScheduleState, tool: str, arguments: dict[str, object]) -> ScheduleState:
    match tool:
        case "move":
            outcome = move(state, **arguments)  # type: ignore[arg-type]
        case "swap":
            outcome = swap(state, arguments["task_a"], arguments["task_b"])  # type: ignore[arg-type]
        case _:
            moves = [Move(**one) for one in arguments["moves"]]  # type: ignore[union-attr]
            assert 2 <= len(moves) <= MAX_MOVES
            outcome = batch_move(state, moves)
    assert isinstance(outcome, Edited), outcome
    return outcome.state


def test_the_batch_is_exact_and_at_least_as_good_as_any_single_edit() -> None:
    better = 0
    for seed in range(40):
        state = made_state(Random(2000 + seed), items=12, span=12)
        result = scan(state, CostModel(state))
        least = min((one.delta for one in (*result.moves, *result.swaps)), default=0)
        delta, puts = best_batch(result)
        assert delta <= min(0, least)
        if puts:
            outcome = carry_out(state, batch_edit(result.board, puts))
            assert isinstance(outcome, Edited)
            assert evaluate(outcome.state).cost - evaluate(state).cost == delta
        better += delta < least
    assert better >= 20, "the deeper search hardly ever finds more than the best single edit"


def test_on_a_state_that_breaks_a_rule_only_what_puts_it_right_is_offered() -> None:
    wrong = 0
    for seed in range(24):
        state = made_state(Random(4000 + seed), items=5, span=6)
        document = state.dump()
        placed = [t for t in document["tasks"] if t["status"] == "suggested" and not t["locked"]]
        if len(placed) < 2:
            continue
        item, other = placed[:2]
        start = other["slots"][0]["start"]
        if start + item["duration"] - 1 > state.window.sections:
            continue
        item["slots"] = [{"day": other["slots"][0]["day"], "start": start, "end": start + item["duration"] - 1}]
        item.pop("embed_host", None)
        broken = ScheduleState.load(document)
        assert broken_rules(document)
        wrong += 1
        assert scanned(broken) == brute_force(broken)
        assert best_batch(scan(broken, CostModel(broken))) == (0, ())
    assert wrong >= 8
