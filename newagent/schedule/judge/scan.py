"""The scan: every legal move and every legal cross-class swap of the whole window, each with its change of cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from newagent.schedule.cost import CostModel
from newagent.schedule.edits import Edited, Move, batch_move, move, swap
from newagent.schedule.judge.board import Board, ScoredMove, ScoredSwap
from newagent.schedule.model import ScheduleState, Slot
from newagent.schedule.rules import Violation, state_faults


class Scan(NamedTuple):
    """All legal single edits of a state for the agent, and the board that they were scored on.

    `lawful` tells whether the state breaks no rule.
    """

    board: Board
    moves: list[ScoredMove]
    swaps: list[ScoredSwap]
    lawful: bool = True


class Edit(NamedTuple):
    """An edit as a tool takes it, the tool's name and its arguments, and where it puts which tasks."""

    tool: str
    arguments: dict[str, Any]
    targets: dict[int, Slot]


def scan(state: ScheduleState, model: CostModel) -> Scan:
    """Scores every legal single edit.

    On a state that breaks a rule already, only the edits that put everything right are legal; there each is tried.
    """
    board = Board(state, model)
    moves, swaps = board.moves(), board.swaps()
    lawful = board.plainly_lawful(state) or not state_faults(state)
    if not lawful:
        moves = [one for one in moves if isinstance(carry_out(state, move_edit(board, one)), Edited)]
        swaps = [one for one in swaps if isinstance(carry_out(state, swap_edit(board, one)), Edited)]
    return Scan(board, moves, swaps, lawful)


def move_edit(board: Board, scored: ScoredMove) -> Edit:
    """A scored move as a tool call."""
    targets = _targets(board, [(scored.piece, scored.day, scored.start)])
    (task_id,) = targets
    return Edit("move", {"task_id": task_id, "day": scored.day, "start": scored.start}, targets)


def swap_edit(board: Board, scored: ScoredSwap) -> Edit:
    """A scored swap as a tool call, the lower task id first."""
    one, other = scored.one, scored.other
    puts = [(one, board.day[other], board.start[other]), (other, board.day[one], board.start[one])]
    targets = _targets(board, puts)
    a, b = targets
    return Edit("swap", {"task_a": a, "task_b": b}, targets)


def batch_edit(board: Board, puts: Iterable[tuple[int, int, int]]) -> Edit:
    """Moves as (piece, day, start) as one tool call, in order of task id."""
    targets = _targets(board, puts)
    moves = [{"task_id": task_id, "day": slot.day, "start": slot.start} for task_id, slot in targets.items()]
    return Edit("batch_move", {"moves": moves}, targets)


def _targets(board: Board, puts: Iterable[tuple[int, int, int]]) -> dict[int, Slot]:
    """Where the tasks of some pieces shall stand, in order of task id."""
    pieces = board.pieces
    slots = {
        pieces[index].task_id: Slot(day=day, start=start, end=start + pieces[index].length - 1)
        for index, day, start in puts
    }
    return dict(sorted(slots.items()))


def carry_out(state: ScheduleState, edit: Edit) -> Edited | Violation:
    """Runs an edit as the agent."""
    arguments = edit.arguments
    match edit.tool:
        case "move":
            return move(state, arguments["task_id"], arguments["day"], arguments["start"])
        case "swap":
            return swap(state, arguments["task_a"], arguments["task_b"])
        case _:
            return batch_move(state, [Move(**wish) for wish in arguments["moves"]])
