"""Sweeps: the best change of one class by a few moves, everything else staying where it is.

A sweep goes through the days in order. Its state is how many items of the class stand ahead of or behind where they
stand now, and how many of them have been moved; on each day it tries how many items to put there and in which places.
Items fill the places in their order, so siblings are never out of order, and several may go to one day at once. What
is put on a day changes the terms of that day and the deviations of these items only, so the sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from newagent.schedule.cost import W_SPREAD, Entry
from newagent.schedule.judge.board import Board
from newagent.schedule.judge.chains import Chain, Put
from newagent.schedule.judge.places import bits_of

SLACK = 40
"""How much worse than now a sweep may be in the middle."""
MORE = 2
"""How many items more than now a day may get."""


class _Day(NamedTuple):
    """A day as a class sees it: its pieces there now are `first`, `first` + 1, … at `starts`.

    `layouts[n]` are the ways to put n items there, with what each adds to the day, the cheapest first; none where the
    day may not change.
    """

    day: int
    first: int
    starts: tuple[int, ...]
    layouts: list[list[tuple[int, tuple[int, ...]]]]


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
            yield from _Sweep(board, klass, max_moves).run(layouts.days(klass, pieces, lengths.pop()))


class _Sweep:
    def __init__(self, board: Board, klass: int, max_moves: int) -> None:
        self._board = board
        self._klass = klass
        self._max_moves = max_moves
        self._rank = board.model.classes[klass].rank

    def run(self, days: Iterable[_Day]) -> Iterable[Chain]:
        """The improving sweeps over the days of the class."""
        states: dict[tuple[int, int], tuple[int, _Link | None]] = {(0, 0): (0, None)}
        for day in days:
            states = self._through(day, states)
        for (ahead, moves), (cost, link) in states.items():
            if ahead == 0 and moves and cost < 0:
                yield from self._parts(cost, link)

    def _through(
        self, day: _Day, states: dict[tuple[int, int], tuple[int, _Link | None]]
    ) -> dict[tuple[int, int], tuple[int, _Link | None]]:
        now, limit = len(day.starts), self._max_moves
        after: dict[tuple[int, int], tuple[int, _Link | None]] = {}
        options: dict[int, list[tuple[int, int, int, tuple[int, ...]]]] = {}
        for (ahead, moves), (cost, link) in states.items():
            if not ahead:
                known = after.get((0, moves))
                if known is None or cost < known[0]:
                    after[0, moves] = cost, link
            choices = options.get(ahead)
            if choices is None:
                choices = options[ahead] = self._choices(day, ahead)
            for added, moved, count, starts in choices:
                total, used, then = cost + added, moves + moved, ahead + count - now
                if total > SLACK or used + max(0, -then) > limit or then > limit:
                    continue
                known = after.get((then, used))
                if known is None or total < known[0]:
                    after[then, used] = (
                        total,
                        _Link(link, ahead, day.day, day.first + ahead, starts) if moved else link,
                    )
        return after

    def _choices(self, day: _Day, ahead: int) -> list[tuple[int, int, int, tuple[int, ...]]]:
        """(added cost, moves, number of items, starts): the cheapest for each number of items and of moves."""
        board, pieces = self._board, self._board.pieces
        rank, first, now = self._rank[day.day], day.first + ahead, len(day.starts)
        found: list[tuple[int, int, int, tuple[int, ...]]] = []
        shift = 0
        for count, layouts in enumerate(day.layouts):
            if count:
                index = first + count - 1
                if not 0 <= index < len(pieces) or pieces[index].klass != self._klass or not pieces[index].free:
                    break
                target = pieces[index].target
                shift += W_SPREAD * (abs(rank - target) - abs(self._rank[board.day[index]] - target))
            if not layouts:
                continue
            if -ahead >= count or ahead >= now:
                added, starts = layouts[0]
                found.append((added + shift, count, count, starts))
                continue
            best: dict[int, tuple[int, tuple[int, ...]]] = {}
            for added, starts in layouts:
                stay = sum(
                    0 <= ahead + place < now and day.starts[ahead + place] == start
                    for place, start in enumerate(starts)
                )
                known = best.get(count - stay)
                if known is None or added < known[0]:
                    best[count - stay] = added, starts
            for moved, (added, starts) in best.items():
                if ahead or moved or count != now:
                    found.append((added + shift, moved, count, starts))
        return found

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


class _Layouts:
    """What a number of items of a class costs on a day where all others stay, remembered for days that are alike."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._known: dict[tuple[object, ...], list[list[tuple[int, tuple[int, ...]]]]] = {}

    def days(self, klass: int, pieces: range, length: int) -> Iterable[_Day]:
        """The days of a class from the first to the last that it admits, or on which it stands."""
        board, places = self._board, self._board.places
        standing: dict[int, list[int]] = {}
        for index in pieces:
            standing.setdefault(board.day[index], []).append(index)
        position = pieces.start
        for day in sorted({*standing, *places.days_of(klass, 1, board.model.days)}):
            there = standing.get(day, [])
            starts = tuple(board.start[index] for index in there)
            movable = all(board.pieces[index].free for index in there)
            layouts = self._of(day, klass, length, starts) if movable else []
            yield _Day(day, position, starts, layouts)
            position += len(there)

    def _of(self, day: int, klass: int, length: int, now: tuple[int, ...]) -> list[list[tuple[int, tuple[int, ...]]]]:
        board = self._board
        others = tuple(entry for entry in board.entries[day] if entry.klass != klass)
        busy = 0
        for entry in others:
            busy |= ((1 << entry.length) - 1) << entry.start
        starts = board.places.free_starts(klass, length, day, busy)
        for start in now:
            starts |= 1 << start
        key = board.model.course_mask[day], others, starts, klass, length, now
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._compute(day, klass, length, now, others, bits_of(starts))
        return known

    def _compute(
        self, day: int, klass: int, length: int, now: tuple[int, ...], others: tuple[Entry, ...], starts: list[int]
    ) -> list[list[tuple[int, tuple[int, ...]]]]:
        board, cost = self._board, self._board.model.day_cost
        weight = board.model.classes[klass].same_day_weight
        base = board.cost(day, board.entries[day]) + weight * (len(now) * (len(now) - 1) // 2)
        layouts: list[list[tuple[int, tuple[int, ...]]]] = []
        for count in range(min(len(now) + MORE, len(starts)) + 1):
            pairs = weight * (count * (count - 1) // 2)
            layouts.append(
                sorted(
                    (cost(day, sorted((*others, *(Entry(at, length, klass) for at in chosen)))) + pairs - base, chosen)
                    for chosen in combinations(starts, count)
                    if all(b - a >= length for a, b in pairwise(chosen))
                )
            )
        return layouts
