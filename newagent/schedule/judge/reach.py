"""Where each item could stand if its siblings made way, and what that would add to the cost.

What a day sees of an item is its class alone. So within a class a *relocation* from one place to another may pass over
siblings: each that is passed takes the place of the next one, and the order of the class holds. A relocation over m
siblings is m + 1 moves of items, and changes what two days look like.

All costs are put together from three tables that are computed once: a piece taken out of its day, a class put into a
free place of a day, and a piece replaced by one of another class. Relocations within a day are left out here; the scan
of single edits and the sweeps know them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from newagent.schedule.cost import W_SPREAD, Entry
from newagent.schedule.judge.board import LINE, Board

KEPT = 24
"""How many places a piece is given to choose from, the cheapest."""

Arc = tuple[int, int, int, int, int]
"""A relocation: (what it adds at the new place and to its class, day, start, moves it takes, piece that must leave).

The last is -1 where the place is free.
"""


class Row(NamedTuple):
    """The places that a class could take in order of time: their lines, and (day, start, added day cost, who is there).

    The added cost has the pairs of siblings in it that the class does not want on one day.
    """

    lines: list[int]
    places: list[tuple[int, int, int, int]]


class Gap(NamedTuple):
    """The lines between two siblings that stay, where an item may start, and the piece that would end up there.

    `base` is what the shift of the siblings in between adds to the deviations of the class, the new place left out.
    """

    first: int
    last: int
    piece: int
    base: int


class Reach:
    """What the pieces of a board can be relocated to, each at most so many siblings away."""

    def __init__(self, board: Board, passing: int) -> None:
        self.board = board
        self._passing = passing
        self.leaving: dict[int, int] = {}
        self._free: dict[tuple[int, int], Row] = {}
        self._taken: dict[tuple[int, int], Row] = {}
        self._gaps: dict[int, list[Gap]] = {}
        for index, piece in enumerate(board.pieces):
            if piece.free:
                home = board.day[index]
                rest = board.without(home, Entry(board.start[index], piece.length, piece.klass))
                self.leaving[index] = board.cost(home, rest) - board.cost(home, board.entries[home])
        self._standing = sorted((board.day[index], board.start[index], index) for index in self.leaving)

    def ends(self, index: int) -> list[Arc]:
        """The free places that a piece can reach with its siblings making way, best first."""
        piece = self.board.pieces[index]
        return self._arcs(index, self._free_row(piece.klass, piece.length))

    def exchanges(self, index: int) -> list[Arc]:
        """The places of pieces of other classes and the same length that a piece can reach, best first."""
        piece = self.board.pieces[index]
        return self._arcs(index, self._taken_row(piece.klass, piece.length))

    def puts(self, index: int, day: int, start: int) -> list[tuple[int, int, int]]:
        """A relocation as moves of pieces: those that are passed over take the next one's place."""
        board, line = self.board, day * LINE + start
        for gap in self._gaps_of(index):
            if gap.first <= line <= gap.last:
                step = 1 if gap.piece > index else -1
                shifted = range(index, gap.piece, step)
                return [
                    *((piece, board.day[piece + step], board.start[piece + step]) for piece in shifted),
                    (gap.piece, day, start),
                ]
        raise ValueError(f"piece {index} cannot reach day {day}")

    def _arcs(self, index: int, row: Row) -> list[Arc]:
        board, piece, home = self.board, self.board.pieces[index], self.board.day[index]
        model = board.model.classes[piece.klass]
        rank, pairs = model.rank, model.same_day_weight * (1 - board.on_day[piece.klass][home])
        found: list[Arc] = []
        for first, last, there, base in self._gaps_of(index):
            places = row.places[bisect_left(row.lines, first) : bisect_right(row.lines, last)]
            if places:
                target, moves, shift = board.pieces[there].target, abs(there - index) + 1, pairs + W_SPREAD * base
                found += [
                    (cost + shift + W_SPREAD * abs(rank[day] - target), day, start, moves, other)
                    for day, start, cost, other in places
                    if day != home
                ]
        found.sort()
        return found[:KEPT]

    def _gaps_of(self, index: int) -> list[Gap]:
        """The gaps that a piece can reach, in order of time."""
        known = self._gaps.get(index)
        if known is None:
            board, piece = self.board, self.board.pieces[index]
            low, high = board.bounds(index)
            rank = board.model.classes[piece.klass].rank
            own = Gap(low + 1, high - piece.length, index, -abs(rank[board.day[index]] - piece.target))
            known = [*reversed(self._gaps_beyond(own, -1)), own, *self._gaps_beyond(own, 1)]
            self._gaps[index] = known
        return known

    def _gaps_beyond(self, gap: Gap, step: int) -> list[Gap]:
        board, piece = self.board, self.board.pieces[gap.piece]
        rank = board.model.classes[piece.klass].rank
        gaps: list[Gap] = []
        here, base = gap.piece, gap.base
        for _ in range(self._passing):
            beyond = board.pieces[here].next if step > 0 else board.pieces[here].previous
            if beyond < 0 or beyond != here + step or board.pieces[beyond].length != piece.length:
                break
            base += abs(rank[board.day[beyond]] - board.pieces[here].target)
            base -= abs(rank[board.day[beyond]] - board.pieces[beyond].target)
            here = beyond
            low, high = board.bounds(here)
            line = board.day[here] * LINE + board.start[here]
            first, last = (line + piece.length, high - piece.length) if step > 0 else (low + 1, line - piece.length)
            gaps.append(Gap(first, last, here, base))
        return gaps

    def _free_row(self, klass: int, length: int) -> Row:
        """The free places of a class; of a day on which no item of the class stands the cheapest only."""
        row = self._free.get((klass, length))
        if row is None:
            board, on_day = self.board, self.board.on_day[klass]
            weight = board.model.classes[klass].same_day_weight
            places: list[tuple[int, int, int, int]] = []
            for day in board.places.days_of(klass, 1, board.model.days):
                options = board.insert_costs(day, klass, length)
                if on_day[day]:
                    pairs = weight * on_day[day]
                    places += [(day, start, cost + pairs, -1) for start, cost in options]
                elif options:
                    start, cost = min(options, key=lambda option: (option[1], option[0]))
                    places.append((day, start, cost, -1))
            row = self._free[klass, length] = _row(places)
        return row

    def _taken_row(self, klass: int, length: int) -> Row:
        """The places of movable pieces of other classes that a class may take."""
        row = self._taken.get((klass, length))
        if row is None:
            board, on_day = self.board, self.board.on_day[klass]
            legal, weight = board.places.legal(klass, length), board.model.classes[klass].same_day_weight
            places: list[tuple[int, int, int, int]] = []
            for day, start, index in self._standing:
                piece = board.pieces[index]
                if piece.length == length and piece.klass != klass and legal[day] >> start & 1:
                    now = board.entries[day]
                    cost = board.cost(day, board.with_class(day, now, index, klass)) - board.cost(day, now)
                    places.append((day, start, cost + weight * on_day[day], index))
            row = self._taken[klass, length] = _row(places)
        return row


def _row(places: list[tuple[int, int, int, int]]) -> Row:
    return Row([day * LINE + start for day, start, *_ in places], places)
