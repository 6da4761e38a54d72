"""Sweeps: the best change of one class by a few moves, everything else staying where it is.

A sweep goes through the days in order. Its state is how many items of the class stand ahead of or behind where they
stand now, and how many of them have been moved; on each day it tries how many items to put there and in which places.
Items fill the places in their order, so siblings are never out of order, and several may go to one day at once. What
is put on a day changes the terms of that day and the deviations of these items only, so the sums are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, combinations, pairwise
from typing import NamedTuple

from newagent.schedule.cost import W_SPREAD, Entry
from newagent.schedule.judge.board import Board
from newagent.schedule.judge.chains import Chain, Put
from newagent.schedule.judge.places import bits_of

SLACK = 0
"""How much worse a sweep may be in the middle than one that has all items back where they stand now."""
Layout = tuple[int, tuple[int, ...]]
"""What it adds to a day's cost, and the starts of the items."""
MORE, MORE_APART = 2, 1
"""How many items more than now a day may get; the second for a class that wants its items on different days."""


class _Day(NamedTuple):
    """A day as a class sees it: its pieces there now are `first`, `first` + 1, … at `starts`.

    `layouts(n)` are the ways to put n items there, with what each adds to the day, the cheapest first. There is room
    for `room` items at most; -1 where the day may not change.
    """

    day: int
    first: int
    starts: tuple[int, ...]
    room: int
    layouts: Callable[[int], list[Layout]]


class _Link(NamedTuple):
    """A day that a sweep has changed: pieces from `first` on stand at `starts`; `ahead` is the state before it."""

    previous: _Link | None
    ahead: int
    day: int
    first: int
    starts: tuple[int, ...]


def find_sweeps(board: Board, max_moves: int) -> Iterable[Chain]:
    """The best improving sweeps of each class, whole and in their parts that do not need one another."""
    layouts = _Layouts(board)
    first = 0
    for klass in range(len(board.model.classes)):
        count = sum(piece.klass == klass for piece in board.pieces)
        pieces = range(first, first + count)
        first += count
        lengths = {board.pieces[index].length for index in pieces if board.pieces[index].free}
        if len(lengths) == 1:
            yield from _Sweep(board, klass, pieces, max_moves).run(layouts.days(klass, pieces, lengths.pop()))


Row = list["tuple[int, _Link | None] | None"]
"""Of one number of items ahead: by the number of moves made, the cost so far and how it came about."""
Choice = tuple[int, int, int, tuple[int, ...]]
"""(added cost, moves, number of items, starts)."""


class _Sweep:
    def __init__(self, board: Board, klass: int, pieces: range, max_moves: int) -> None:
        self._board = board
        self._pieces = pieces
        self._max_moves = max_moves
        self._rank = rank = board.model.classes[klass].rank
        self._targets = [board.pieces[index].target for index in pieces]
        self._deviations = [abs(rank[board.day[index]] - board.pieces[index].target) for index in pieces]
        self._more = MORE_APART if board.model.classes[klass].same_day_weight else MORE

    def run(self, days: Iterable[_Day]) -> Iterable[Chain]:
        """The improving sweeps over the days of the class."""
        states: dict[int, Row] = {0: [(0, None), *[None] * self._max_moves]}
        for day in days:
            states = self._through(day, states)
        for entry in states[0][1:]:
            if entry is not None:
                yield from self._parts(*entry)

    def _through(self, day: _Day, states: dict[int, Row]) -> dict[int, Row]:
        now, limit = len(day.starts), self._max_moves
        least = _least(states[0])
        after: dict[int, Row] = {0: list(states[0])}
        for ahead, row in states.items():
            afford = max(cost - entry[0] for cost, entry in zip(least, row, strict=True) if entry is not None)
            for added, moved, count, starts in self._choices(day, ahead, afford + SLACK):
                then = ahead + count - now
                if then > limit:
                    continue
                into = after.get(then)
                if into is None:
                    into = after[then] = [None] * (limit + 1)
                for moves in range(limit - max(0, -then) - moved + 1):
                    entry = row[moves]
                    if entry is None:
                        continue
                    total, used = entry[0] + added, moves + moved
                    known = into[used]
                    if total <= least[used] + SLACK and (known is None or total < known[0]):
                        link = _Link(entry[1], ahead, day.day, day.first + ahead, starts) if moved else entry[1]
                        into[used] = total, link
        return {ahead: row for ahead, row in after.items() if _thin(row)}

    def _choices(self, day: _Day, ahead: int, most: int) -> list[Choice]:
        """What to put on a day: the cheapest for each number of items and of moves that adds at most that."""
        first, now = day.first + ahead, len(day.starts)
        rank, offset = self._rank[day.day], first - self._pieces.start
        found: list[Choice] = []
        shift = 0
        for count in range(min(now + self._more, day.room) + 1):
            if count:
                place = offset + count - 1
                if not 0 <= place < len(self._targets) or not self._board.pieces[first + count - 1].free:
                    break
                shift += W_SPREAD * (abs(rank - self._targets[place]) - self._deviations[place])
            elif not now:
                found.append((0, 0, 0, ()))
                continue
            layouts = day.layouts(count)
            if not layouts or layouts[0][0] + shift > most:
                if count > now:
                    break
            elif -ahead >= count or ahead >= now:
                added, starts = layouts[0]
                found.append((added + shift, count, count, starts))
            else:
                found += self._staying(day, ahead, layouts, shift, most)
        return found

    def _staying(self, day: _Day, ahead: int, layouts: list[Layout], shift: int, most: int) -> Iterable[Choice]:
        """The layouts of a day on which some pieces may stay where they are: the cheapest for each number of moves."""
        now, best = len(day.starts), set[int]()
        for added, starts in layouts:
            if added + shift > most:
                break
            stay = sum(
                0 <= ahead + place < now and day.starts[ahead + place] == start for place, start in enumerate(starts)
            )
            moved = len(starts) - stay
            if moved not in best and (ahead or moved or len(starts) != now):
                best.add(moved)
                yield added + shift, moved, len(starts), starts

    def _parts(self, cost: int, link: _Link | None) -> Iterable[Chain]:
        """A sweep as a chain, and each of its parts between two states in which all items stand where they do now."""
        links: list[_Link] = []
        while link is not None:
            links.append(link)
            link = link.previous
        links.reverse()
        if not links:
            return
        yield self._chain(links, cost)

    def _chain(self, links: Sequence[_Link], cost: int) -> Chain:
        board = self._board
        puts: list[Put] = []
        days: set[int] = set()
        for link in links:
            for piece, start in enumerate(link.starts, start=link.first):
                if (board.day[piece], board.start[piece]) != (link.day, start):
                    puts.append((piece, link.day, start))
                    days |= {link.day, board.day[piece]}
        return Chain(cost, tuple(puts), frozenset(days))


def _least(row: Row) -> list[int]:
    """The least cost with at most so many moves; nothing at all costs 0."""
    return list(accumulate((0 if entry is None else entry[0] for entry in row), min))


def _thin(row: Row) -> bool:
    """Drops what takes more moves without being cheaper; False if nothing is left."""
    least: int | None = None
    for moves, entry in enumerate(row):
        if entry is not None:
            if least is not None and entry[0] >= least:
                row[moves] = None
            else:
                least = entry[0]
    return least is not None


class _Layouts:
    """What a number of items of a class costs on a day where all others stay, remembered for days that are alike."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._known: dict[tuple[object, ...], list[Layout]] = {}

    def days(self, klass: int, pieces: range, length: int) -> Iterable[_Day]:
        """The days of a class from the first to the last that it admits, or on which it stands."""
        board, places = self._board, self._board.places
        standing: dict[int, list[int]] = {}
        for index in pieces:
            standing.setdefault(board.day[index], []).append(index)
        position = pieces.start
        for day in sorted({*standing, *places.days_of(klass, 1, board.model.days)}):
            there = standing.get(day, [])
            now = tuple(board.start[index] for index in there)
            if all(board.pieces[index].free for index in there):
                starts, layouts = self._of(day, klass, length, now)
                yield _Day(day, position, now, len(starts), layouts)
            else:
                yield _Day(day, position, now, -1, _no_layouts)
            position += len(there)

    def _of(
        self, day: int, klass: int, length: int, now: tuple[int, ...]
    ) -> tuple[list[int], Callable[[int], list[Layout]]]:
        board = self._board
        others = tuple(entry for entry in board.entries[day] if entry.klass != klass)
        busy = 0
        for entry in others:
            busy |= ((1 << entry.length) - 1) << entry.start
        mask = board.places.free_starts(klass, length, day, busy)
        for start in now:
            mask |= 1 << start
        starts = bits_of(mask)
        key = board.model.course_mask[day], others, mask, klass, length, now

        def layouts(count: int) -> list[Layout]:
            known = self._known.get((key, count))
            if known is None:
                known = self._known[key, count] = self._compute(day, klass, length, now, others, starts, count)
            return known

        return starts, layouts

    def _compute(
        self,
        day: int,
        klass: int,
        length: int,
        now: tuple[int, ...],
        others: tuple[Entry, ...],
        starts: list[int],
        count: int,
    ) -> list[Layout]:
        board, cost = self._board, self._board.model.day_cost
        weight = board.model.classes[klass].same_day_weight
        base = board.cost(day, board.entries[day]) + weight * (
            len(now) * (len(now) - 1) // 2 - count * (count - 1) // 2
        )
        return sorted(
            (cost(day, sorted((*others, *(Entry(at, length, klass) for at in chosen)))) - base, chosen)
            for chosen in combinations(starts, count)
            if all(b - a >= length for a, b in pairwise(chosen))
        )


def _no_layouts(count: int) -> list[Layout]:
    raise AssertionError(f"a day that may not change was asked for {count} items")
