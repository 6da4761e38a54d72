"""Where each item could stand if its siblings made way, and what that would add to the cost.

What a day sees of an item is its class alone. So within a class a *relocation* from one place to another may pass over
siblings: each that is passed takes the place of the next one, and the order of the class holds. A relocation over m
siblings is m + 1 moves of items, and changes what two days look like.

All costs are put together from three tables that are computed once: a piece taken out of its day, a class put into the
cheapest free place of a day, and a piece replaced by one of another class. Days on which a sibling stands are left out
here; the scan of single edits knows them.
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
    """The places that a class could take, in order of day: of each its day, start, added day cost, and who is there."""

    days: list[int]
    places: list[tuple[int, int, int, int]]


class Gap(NamedTuple):
    """The days between two siblings that stay: first and last day, the piece that would end up there.

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
        self.passing = passing
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
        return self._arcs(index, self.free_row(piece.klass, piece.length))

    def exchanges(self, index: int) -> list[Arc]:
        """The places of pieces of other classes and the same length that a piece can reach, best first."""
        piece = self.board.pieces[index]
        return self._arcs(index, self._taken_row(piece.klass, piece.length))

    def puts(self, index: int, day: int, start: int) -> list[tuple[int, int, int]]:
        """A relocation as moves of pieces: those that are passed over take the next one's place."""
        board = self.board
        for gap in self._gaps_of(index):
            if gap.first <= day <= gap.last:
                step = 1 if gap.piece > index else -1
                shifted = range(index, gap.piece, step)
                return [
                    *((piece, board.day[piece + step], board.start[piece + step]) for piece in shifted),
                    (gap.piece, day, start),
                ]
        raise ValueError(f"piece {index} cannot reach day {day}")

    def _arcs(self, index: int, row: Row) -> list[Arc]:
        board, piece = self.board, self.board.pieces[index]
        model = board.model.classes[piece.klass]
        rank, pairs = model.rank, model.same_day_weight * (1 - board.on_day[piece.klass][board.day[index]])
        found: list[Arc] = []
        for first, last, there, base in self._gaps_of(index):
            places = row.places[bisect_left(row.days, first) : bisect_right(row.days, last)]
            if places:
                target, moves, shift = board.pieces[there].target, abs(there - index) + 1, pairs + W_SPREAD * base
                found += [
                    (cost + shift + W_SPREAD * abs(rank[day] - target), day, start, moves, other)
                    for day, start, cost, other in places
                ]
        found.sort()
        return found[:KEPT]

    def _gaps_of(self, index: int) -> list[Gap]:
        """The gaps that a piece can reach, in order of time."""
        known = self._gaps.get(index)
        if known is None:
            known = [*reversed(self._gaps_beyond(index, -1)), self._own_gap(index), *self._gaps_beyond(index, 1)]
            self._gaps[index] = known
        return known

    def _own_gap(self, index: int) -> Gap:
        low, high = self._side(index, -1), self._side(index, 1)
        board, piece = self.board, self.board.pieces[index]
        rank = board.model.classes[piece.klass].rank
        return Gap(low + 1, high - 1, index, -abs(rank[board.day[index]] - piece.target))

    def _gaps_beyond(self, index: int, step: int) -> list[Gap]:
        board, piece = self.board, self.board.pieces[index]
        rank = board.model.classes[piece.klass].rank
        gaps: list[Gap] = []
        here, base = index, -abs(rank[board.day[index]] - piece.target)
        for _ in range(self.passing):
            beyond = board.pieces[here].next if step > 0 else board.pieces[here].previous
            if beyond < 0 or beyond != here + step or board.pieces[beyond].length != piece.length:
                break
            base += abs(rank[board.day[beyond]] - board.pieces[here].target)
            base -= abs(rank[board.day[beyond]] - board.pieces[beyond].target)
            here = beyond
            edges = board.day[here], self._side(here, step)
            gaps.append(Gap(min(edges) + 1, max(edges) - 1, here, base))
        return gaps

    def _side(self, index: int, step: int) -> int:
        """The day of the sibling before or after a piece, or of the one that bounds it."""
        low, high = self.board.bounds(index)
        return high // LINE if step > 0 else low // LINE

    def free_row(self, klass: int, length: int) -> Row:
        """The cheapest free place of each day on which no item of the class stands."""
        row = self._free.get((klass, length))
        if row is None:
            board, on_day = self.board, self.board.on_day[klass]
            places: list[tuple[int, int, int, int]] = []
            for day in board.places.days_of(klass, 1, board.model.days):
                options = () if on_day[day] else board.insert_costs(day, klass, length)
                if options:
                    start, cost = min(options, key=lambda option: (option[1], option[0]))
                    places.append((day, start, cost, -1))
            row = self._free[klass, length] = Row([place[0] for place in places], places)
        return row

    def _taken_row(self, klass: int, length: int) -> Row:
        """The places of movable pieces of other classes on days on which no item of the class stands."""
        row = self._taken.get((klass, length))
        if row is None:
            board, on_day = self.board, self.board.on_day[klass]
            legal = board.places.legal(klass, length)
            places: list[tuple[int, int, int, int]] = []
            for day, start, index in self._standing:
                if board.pieces[index].length == length and not on_day[day] and legal[day] >> start & 1:
                    now = board.entries[day]
                    cost = board.cost(day, board.with_class(day, now, index, klass)) - board.cost(day, now)
                    places.append((day, start, cost, index))
            row = self._taken[klass, length] = Row([place[0] for place in places], places)
        return row
