"""How much room there is: legal alternatives of the items on the days that have an issue, counted exactly."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from newagent.schedule.cost import Entry
from newagent.schedule.judge.board import Board
from newagent.schedule.judge.scan import Scan

LOOSE_MOVABLE = 4
LOOSE_ALTERNATIVES = 2
LOOSE_SWAPS = 2


def tightness(scanned: Scan, issue_days: Collection[int]) -> dict[str, Any]:
    """The tightness metrics; without a day that has an issue, every day counts."""
    board = scanned.board
    days = set(issue_days) or set(range(1, board.model.days + 1))
    alternatives = [0] * len(board.pieces)
    for scored in scanned.moves:
        alternatives[scored.piece] += 1
    counts = [count for index, count in enumerate(alternatives) if count and board.day[index] in days]
    swaps = sum(board.day[scored.one] in days or board.day[scored.other] in days for scored in scanned.swaps)
    mean = sum(counts) / len(counts) if counts else 0.0
    if not counts and not swaps:
        level = "locked"
    elif len(counts) >= LOOSE_MOVABLE and (mean >= LOOSE_ALTERNATIVES or swaps >= LOOSE_SWAPS):
        level = "loose"
    else:
        level = "tight"
    return {
        "locally_movable_task_count": len(counts),
        "avg_local_alternative_slots": round(mean, 6),
        "cross_class_swap_options": swaps,
        "forced_heavy_adjacent_days": _forced_days(scanned),
        "tightness_level": level,
    }


def _forced_days(scanned: Scan) -> int:
    """Days with heavy neighbours that no single edit parts."""
    board = scanned.board
    adjacent = [
        board.model.look(day, entries).heavy_adjacent if entries else 0 for day, entries in enumerate(board.entries)
    ]
    open_days = {day for day, count in enumerate(adjacent) if count}
    tried: set[tuple[int, tuple[Entry, ...]]] = set()
    for day, entries in _outcomes(scanned, open_days):
        if day in open_days and (day, entries) not in tried:
            tried.add((day, entries))
            if board.model.look(day, entries).heavy_adjacent < adjacent[day]:
                open_days.discard(day)
                if not open_days:
                    break
    return len(open_days)


def _outcomes(scanned: Scan, days: set[int]) -> Iterable[tuple[int, tuple[Entry, ...]]]:
    """What each legal edit makes of each of the given days that it touches."""
    board = scanned.board
    for scored in scanned.moves:
        piece, home = board.pieces[scored.piece], board.day[scored.piece]
        if home not in days and scored.day not in days:
            continue
        new = Entry(scored.start, piece.length, piece.klass)
        rest = board.without(home, Entry(board.start[scored.piece], piece.length, piece.klass))
        if scored.day == home:
            yield home, tuple(sorted((*rest, new)))
        else:
            yield home, rest
            yield scored.day, tuple(sorted((*board.entries[scored.day], new)))
    for scored in scanned.swaps:
        yield from _swap_outcomes(board, scored.one, scored.other)


def _swap_outcomes(board: Board, one: int, other: int) -> Iterable[tuple[int, tuple[Entry, ...]]]:
    day, other_day = board.day[one], board.day[other]
    klass, other_klass = board.pieces[one].klass, board.pieces[other].klass
    first = board.with_class(day, board.entries[day], one, other_klass)
    if day == other_day:
        yield day, board.with_class(day, first, other, klass)
        return
    yield day, first
    yield other_day, board.with_class(other_day, board.entries[other_day], other, klass)
