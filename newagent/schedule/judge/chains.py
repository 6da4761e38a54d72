"""Chains of relocations: an item takes the place of another, that one the place of a third, and so on.

A chain starts with an item that leaves its day, runs over items of other classes that make room one for the other, and
ends in a free place or in the place that the first one left. Its days and classes are all different, so that its cost
is the sum of its parts. Chains are grown by length, the best first, as long as what they have gained so far is
negative, as in the search of Lin and Kernighan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from newagent.schedule.judge.reach import Arc, Reach

WIDTH = 40
"""How many unfinished chains are kept of each length."""

Put = tuple[int, int, int]
"""A piece, and the day and section where it shall start."""


class Chain(NamedTuple):
    """Pieces and where they shall stand, what that adds to the cost, and the days whose look it changes."""

    delta: int
    puts: tuple[Put, ...]
    days: frozenset[int]


class Path(NamedTuple):
    """An unfinished chain: `last` has been pushed out of its place; `days` and `classes` are sets of bits."""

    cost: int
    first: int
    last: int
    days: int
    classes: int
    moves: int
    steps: tuple[Put, ...]


def find_chains(reach: Reach, max_moves: int, limit: int) -> list[Chain]:
    """The best improving chains of at most so many moves that the search finds, one for each pair of ends."""
    search = _Search(reach, max_moves)
    paths = [search.start(piece) for piece, gain in reach.leaving.items() if gain < 0]
    for _ in range(max_moves):
        paths = search.longer(sorted(paths)[:WIDTH])
        if not paths:
            break
    return [_chain(reach, delta, steps) for delta, steps in sorted(search.kept.values())[:limit]]


def _chain(reach: Reach, delta: int, steps: Sequence[Put]) -> Chain:
    """A chain of relocations as moves of pieces."""
    board = reach.board
    days = frozenset(day for piece, to, _ in steps for day in (board.day[piece], to))
    return Chain(delta, tuple(sorted(put for step in steps for put in reach.puts(*step))), days)


class _Search:
    def __init__(self, reach: Reach, max_moves: int) -> None:
        self.kept: dict[tuple[int, int], tuple[int, tuple[Put, ...]]] = {}
        self._reach = reach
        self._board = reach.board
        self._max_moves = max_moves
        self._ends: dict[int, list[Arc]] = {}
        self._exchanges: dict[int, list[Arc]] = {}

    def start(self, piece: int) -> Path:
        """The chain in which a piece has left its place and has no other yet."""
        day, klass = self._board.day[piece], self._board.pieces[piece].klass
        return Path(self._reach.leaving[piece], piece, piece, 1 << day, 1 << klass, 0, ())

    def longer(self, paths: list[Path]) -> list[Path]:
        """Finishes each chain as well as it can be finished, and makes it longer in every promising way."""
        found: dict[tuple[int, int], Path] = {}
        for path in paths:
            self._finish(path)
            self._extend(path, found)
        return list(found.values())

    def _finish(self, path: Path) -> None:
        ends = self._ends.get(path.last)
        if ends is None:
            ends = self._ends[path.last] = self._reach.ends(path.last)
        for cost, day, start, moves, _ in ends:
            if path.cost + cost >= 0:
                break
            if not path.days >> day & 1 and path.moves + moves <= self._max_moves:
                self._keep(path, (path.last, day, start), path.cost + cost)
                break

    def _extend(self, path: Path, found: dict[tuple[int, int], Path]) -> None:
        so_far, first, last, days, classes, moves, steps = path
        exchanges = self._exchanges.get(last)
        if exchanges is None:
            exchanges = self._exchanges[last] = self._reach.exchanges(last)
        room, leaving, pieces = self._max_moves - moves, self._reach.leaving[first], self._board.pieces
        for cost, day, start, more, other in exchanges:
            total = so_far + cost
            if total >= 0:
                break
            if other == first:
                if total < leaving and more <= room:
                    self._keep(path, (last, day, start), total - leaving)
            elif more < room and not days >> day & 1 and not classes >> pieces[other].klass & 1:
                known = found.get((first, other))
                if known is None or total < known.cost:
                    seen = days | 1 << day, classes | 1 << pieces[other].klass
                    step = last, day, start
                    found[first, other] = Path(total, first, other, *seen, moves + more, (*steps, step))

    def _keep(self, path: Path, step: Put, delta: int) -> None:
        known = self.kept.get((path.first, path.last))
        if known is None or delta < known[0]:
            self.kept[path.first, path.last] = delta, (*path.steps, step)
