"""Runs: consecutive items of one class that all move to other days at once, none past another.

Where a stretch of a class stands too early or too late, one item alone cannot go far: its siblings bound it. The best
run that ends with each item is found by dynamic programming along the order of the class, over the free places on
days on which no item of the class stands.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from newagent.schedule.cost import W_SPREAD
from newagent.schedule.judge.board import LINE
from newagent.schedule.judge.chains import Chain, Put
from newagent.schedule.judge.reach import Reach, Row

NEVER = 1 << 40


class _Stage(NamedTuple):
    """One piece of a run: `costs[r]` of moving it to place r of its class's row, `tables[n][r]` of the cheapest run of
    n + 1 pieces that ends with it there."""

    costs: list[int]
    tables: list[list[int]]


def find_runs(reach: Reach, max_moves: int) -> Iterable[Chain]:
    """For each item and each length of at least two the best improving run that ends with it."""
    board = reach.board
    stages: list[_Stage] = []
    for index, piece in enumerate(board.pieces):
        if not piece.free or not _continues(reach, index):
            stages = []
        if not piece.free:
            continue
        row = reach.free_row(piece.klass, piece.length)
        low, high = board.bounds(index)
        costs = _costs(reach, index, row)
        here = bisect_right(row.days, low // LINE)
        tables = [[NEVER] * here + costs[here:]]
        for table in stages[-1].tables[: max_moves - 1] if stages else ():
            before = accumulate(table, min, initial=NEVER)
            tables.append([cost + least for cost, least in zip(costs, before, strict=False)])
        stages.append(_Stage(costs, tables))
        end = bisect_left(row.days, high // LINE)
        for table in tables[1:]:
            delta = min(table[:end], default=NEVER)
            if delta < 0:
                yield _run(reach, index, stages, table, table.index(delta))


def _continues(reach: Reach, index: int) -> bool:
    """Whether the piece before this one is its movable sibling of the same length on another day."""
    board = reach.board
    previous = board.pieces[index].previous
    if previous < 0 or previous != index - 1 or board.day[previous] == board.day[index]:
        return False
    return board.pieces[previous].length == board.pieces[index].length


def _costs(reach: Reach, index: int, row: Row) -> list[int]:
    """What moving a piece to each place of its class's row adds to the cost."""
    board, piece = reach.board, reach.board.pieces[index]
    model, home = board.model.classes[piece.klass], board.day[index]
    rank, target = model.rank, piece.target
    left = reach.leaving[index] - W_SPREAD * abs(rank[home] - target)
    left -= model.same_day_weight * (board.on_day[piece.klass][home] - 1)
    return [left + cost + W_SPREAD * abs(rank[day] - target) for day, _, cost, _ in row.places]


def _run(reach: Reach, index: int, stages: list[_Stage], table: list[int], position: int) -> Chain:
    """The run whose last piece goes to a place of the row, read back from the tables."""
    board, delta = reach.board, table[position]
    places = reach.free_row(board.pieces[index].klass, board.pieces[index].length).places
    puts: list[Put] = []
    days: set[int] = set()
    length, value = stages[-1].tables.index(table), delta
    for back in range(length + 1):
        stage, piece = stages[-1 - back], index - back
        day, start, *_ = places[position]
        puts.append((piece, day, start))
        days |= {day, board.day[piece]}
        value -= stage.costs[position]
        if back < length:
            position = stages[-2 - back].tables[length - back - 1].index(value, 0, position)
    return Chain(delta, tuple(sorted(puts)), frozenset(days))
