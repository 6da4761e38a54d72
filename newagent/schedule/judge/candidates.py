"""The candidates: the best edits as a tool takes them, each carried out to tell what it leads to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from newagent.schedule.cost import CostModel, Valuation, revalue
from newagent.schedule.judge.batch import best_batch
from newagent.schedule.judge.board import Board, ScoredMove, ScoredSwap
from newagent.schedule.judge.issues import day_issues
from newagent.schedule.judge.scan import Edit, Scan, batch_edit, move_edit, swap_edit
from newagent.schedule.judge.words import edit_words
from newagent.schedule.model import ScheduleState

MAX_CANDIDATES = 6
CLOSE = "close"


class Ranked(NamedTuple):
    """A single edit in the order in which candidates are offered; `task_ids` and place break ties."""

    delta: int
    kind: int
    task_ids: tuple[int, ...]
    day: int
    start: int
    scored: ScoredMove | ScoredSwap


def best_edits(scanned: Scan, tight: bool) -> list[Edit]:
    """The best improving edits, best first: a batch where it beats every single edit, then single ones.

    No two single ones touch the same task. Ties: a swap before a move where the timetable is tight, then task ids,
    day, start.
    """
    limit = MAX_CANDIDATES - 1
    singles = _ranked(scanned, tight)
    delta, moves = best_batch(scanned)
    if moves and delta < (singles[0].delta if singles else 0):
        return [batch_edit(scanned.board, moves), *_disjoint(scanned.board, singles, limit - 1)]
    return _disjoint(scanned.board, singles, limit)


def _ranked(scanned: Scan, tight: bool) -> list[Ranked]:
    pieces = scanned.board.pieces
    kind = 1 if tight else 0
    ranked = [
        Ranked(one.delta, kind, (pieces[one.piece].task_id,), one.day, one.start, one)
        for one in scanned.moves
        if one.delta < 0
    ]
    for one in scanned.swaps:
        if one.delta < 0:
            ids = pieces[one.one].task_id, pieces[one.other].task_id
            ranked.append(Ranked(one.delta, 0, (min(ids), max(ids)), 0, 0, one))
    return sorted(ranked, key=lambda one: one[:5])


def _disjoint(board: Board, ranked: Iterable[Ranked], limit: int) -> list[Edit]:
    chosen: list[Edit] = []
    touched: set[int] = set()
    for one in ranked:
        if len(chosen) == limit:
            break
        if touched.isdisjoint(one.task_ids):
            scored = one.scored
            chosen.append(move_edit(board, scored) if isinstance(scored, ScoredMove) else swap_edit(board, scored))
            touched.update(one.task_ids)
    return chosen


def describe(
    state: ScheduleState, value: Valuation, edits: Iterable[Edit], model: CostModel, issues: int
) -> list[dict[str, Any]]:
    """The candidates c1, c2, … of some legal edits, and `close` after them; `issues` is how many the state has."""
    before = {"cost": value.cost, "terms": value.terms, "issues": issues}
    found: list[dict[str, Any]] = []
    for number, edit in enumerate(edits, start=1):
        reached = revalue(state, value, edit.targets, model)
        left = issues
        for old, new in zip(value.looks, reached.looks, strict=True):
            if old is not new:
                left += day_issues(model, new) - day_issues(model, old)
        benefit = value.cost - reached.cost
        found.append(
            {
                "candidate_id": f"c{number}",
                "tool": edit.tool,
                "arguments": edit.arguments,
                "summary": edit_words(state, edit, benefit),
                "effect": "partial_improve" if left else "improve",
                "before": before,
                "after": {"cost": reached.cost, "terms": reached.terms, "issues": left},
                "benefit": benefit,
            }
        )
    found.append(
        {
            "candidate_id": CLOSE,
            "tool": "apply_candidate",
            "arguments": {"candidate_id": CLOSE},
            "summary": "保持现状，结束优化",
            "effect": "close",
            "before": before,
            "after": before,
            "benefit": 0,
        }
    )
    return found
