"""Ties by cost: single edits of the spread items that keep the goal and lower the cost, until there is none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from newagent.schedule.cost import CostModel
from newagent.schedule.edits import Change, Edited
from newagent.schedule.judge.board import Board, ScoredMove
from newagent.schedule.judge.scan import carry_out, move_edit, scan, swap_edit
from newagent.schedule.model import Actor, ScheduleState, Slot

ROUNDS = 200


def polished(
    before: ScheduleState,
    spread: ScheduleState,
    task_ids: Collection[int],
    admits: Callable[[Slot], bool],
    actor: Actor,
) -> Edited:
    """The spread state with the cost brought down, and the changes from `before` to it."""
    state, shields = spread, spread.protections
    if actor == "user" and shields:
        state = state.evolve(protections=())
    for _ in range(ROUNDS):
        scanned = scan(state, CostModel(state))
        board = scanned.board
        loads = [sum(entry.length for entry in entries) for entries in board.entries]
        keeping = _moves(board, scanned.moves, loads, task_ids, admits)
        best = min(keeping, default=None, key=lambda one: (one.delta, board.pieces[one.piece].task_id, one[2:]))
        swaps = [
            one
            for one in scanned.swaps
            if one.delta < min(0, best.delta if best else 0)
            and {board.pieces[index].task_id for index in (one.one, one.other)} <= set(task_ids)
        ]
        if best is None and not swaps:
            break
        if swaps:
            edit = swap_edit(board, min(swaps, key=lambda one: (one.delta, one.one, one.other)))
        else:
            assert best is not None
            edit = move_edit(board, best)
        outcome = carry_out(state, edit)
        assert isinstance(outcome, Edited)
        state = outcome.state
    state = state.evolve(protections=shields) if state.protections != shields else state
    return Edited(state, tuple(_changes(before, state)))


def _moves(
    board: Board,
    moves: Iterable[ScoredMove],
    loads: list[int],
    task_ids: Collection[int],
    admits: Callable[[Slot], bool],
) -> Iterable[ScoredMove]:
    """The improving moves of the items that the filters admit and that leave the sum of squares as it is."""
    for one in moves:
        piece, home = board.pieces[one.piece], board.day[one.piece]
        same = one.day == home or loads[home] - piece.length == loads[one.day]
        if one.delta < 0 and same and piece.task_id in task_ids:
            slot = Slot(day=one.day, start=one.start, end=one.start + piece.length - 1)
            if admits(slot):
                yield one


def _changes(before: ScheduleState, after: ScheduleState) -> Iterable[Change]:
    for old, new in zip(before.items, after.items, strict=True):
        if old.slot != new.slot:
            yield Change(old.id, old.slot, new.slot)
