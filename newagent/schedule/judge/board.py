"""The timetable as the scan sees it: plain numbers, with the cost of every day and every legal edit at hand.

A board holds a state's placed items by day. Taking an item out of a day, putting a class into a free place and
replacing one class by another are each costed once and remembered, so that a move or a swap across days is the sum of
two of them; the class terms need only the item's new day. All numbers are exact: a delta is the difference that
`newagent.schedule.cost.evaluate` would find.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from newagent.schedule.cost import W_SPREAD, CostModel, Entry, span_mask
from newagent.schedule.judge.places import Places, bits_of
from newagent.schedule.model import ScheduleState, Task
from newagent.schedule.rules import fixed, protection_of

LINE = 64
"""Sections are numbered along the window as day * LINE + section; a day has fewer sections than that."""


class Piece(NamedTuple):
    """A placed item: `target` is the rank its class's spread wants for it, `free` whether the agent may move it.

    `after` and `before` are the line numbers that immovable siblings of lower and higher order bound it by,
    `previous` and `next` its movable neighbours in the order of the class (-1: none).
    """

    task_id: int
    klass: int
    length: int
    target: int
    free: bool
    after: int
    before: int
    previous: int
    next: int


class ScoredMove(NamedTuple):
    """A legal move of a piece: `delta` is what it adds to the cost."""

    delta: int
    piece: int
    day: int
    start: int


class ScoredSwap(NamedTuple):
    """A legal exchange of two pieces of equal length and different classes; `one` stands earlier in the window."""

    delta: int
    one: int
    other: int


class Board:
    """The placed items of a state.

    `day[i]`, `start[i]` tell where piece i stands, `entries[d]` what stands on day d in order of start.
    """

    def __init__(self, state: ScheduleState, model: CostModel) -> None:
        self.model = model
        self.places = Places(state, model)
        self.pieces: list[Piece] = []
        self.day: list[int] = []
        self.start: list[int] = []
        for task_class in state.task_classes:
            placed = [task for task in state.items_of[task_class.id] if task.slot is not None]
            self._add_class(state, model.index_of[task_class.id], placed)
        self.entries: list[tuple[Entry, ...]] = [() for _ in range(model.days + 1)]
        self.busy = [0] * (model.days + 1)
        self.on_day = [[0] * (model.days + 1) for _ in model.classes]
        for piece, day, start in zip(self.pieces, self.day, self.start, strict=True):
            self.entries[day] = (*self.entries[day], Entry(start, piece.length, piece.klass))
            self.busy[day] |= span_mask(start, piece.length)
            self.on_day[piece.klass][day] += 1
        self.entries = [tuple(sorted(entries)) for entries in self.entries]
        self._costs: dict[tuple[int, tuple[Entry, ...]], int] = {}
        self._inserts: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        self._alike: dict[tuple[int, tuple[Entry, ...], int, int, int], list[tuple[int, int]]] = {}

    def _add_class(self, state: ScheduleState, klass: int, placed: list[Task]) -> None:
        model, offset = self.model.classes[klass], len(self.pieces)
        free = [not fixed(task) and protection_of(state, task, task.slot) is None for task in placed]
        slots = [task.slots[0] for task in placed]
        befores, later = [0] * len(placed), (self.model.days + 1) * LINE
        for k in reversed(range(len(placed))):
            befores[k] = later
            if not free[k]:
                later = min(later, slots[k].day * LINE + slots[k].start)
        earlier, previous = 0, -1
        for k, (task, slot) in enumerate(zip(placed, slots, strict=True)):
            following = next((offset + j for j in range(k + 1, len(placed)) if free[j]), -1)
            target = (2 * k + 1) * model.eligible_days // (2 * len(placed)) if model.steady else 0
            length = slot.end - slot.start + 1
            self.pieces.append(Piece(task.id, klass, length, target, free[k], earlier, befores[k], previous, following))
            self.day.append(slot.day)
            self.start.append(slot.start)
            if free[k]:
                previous = offset + k
            else:
                earlier = max(earlier, slot.day * LINE + slot.end)

    def plainly_lawful(self, state: ScheduleState) -> bool:
        """Whether the state breaks no rule, as far as that can be seen at a glance; False says nothing."""
        standing = sum(piece.length for piece in self.pieces)
        if sum(busy.bit_count() for busy in self.busy) != standing:
            return False
        line, last = 0, -1
        for index, piece in enumerate(self.pieces):
            day, start = self.day[index], self.start[index]
            here = day * LINE + start
            if piece.klass == last and here <= line:
                return False
            line, last = here + piece.length - 1, piece.klass
            task = state.by_id[piece.task_id]
            if task.status == "suggested" and not (
                self.places.legal(piece.klass, piece.length)[day] >> start & 1
                and self.places.host(day, start, piece.length) == task.embed_host
            ):
                return False
        return True

    def without(self, day: int, entry: Entry) -> tuple[Entry, ...]:
        """A day's entries with one taken out."""
        entries = list(self.entries[day])
        entries.remove(entry)
        return tuple(entries)

    def cost(self, day: int, entries: tuple[Entry, ...]) -> int:
        """What a day costs with these entries, which must be in order."""
        key = self.model.course_mask[day], entries
        known = self._costs.get(key)
        if known is None:
            known = self._costs[key] = self.model.day_cost(day, entries)
        return known

    def bounds(self, index: int) -> tuple[int, int]:
        """The lines that a piece must start after and end before, by the order of its class."""
        piece = self.pieces[index]
        low, high = piece.after, piece.before
        if piece.previous >= 0:
            end = self.start[piece.previous] + self.pieces[piece.previous].length - 1
            low = max(low, self.day[piece.previous] * LINE + end)
        if piece.next >= 0:
            high = min(high, self.day[piece.next] * LINE + self.start[piece.next])
        return low, high

    def moves(self) -> list[ScoredMove]:
        """Every legal move of every piece that the agent may move, over the starts that placement uses."""
        found: list[ScoredMove] = []
        for index, piece in enumerate(self.pieces):
            if piece.free:
                low, high = self.bounds(index)
                first, last = max(low // LINE, 1), min(high // LINE, self.model.days)
                self._moves_of(index, (low, high), self.places.days_of(piece.klass, first, last), found)
        return found

    def _moves_of(self, index: int, bounds: tuple[int, int], days: Iterable[int], found: list[ScoredMove]) -> None:
        """Adds the legal moves of a piece to some days that its class admits."""
        _, klass, length, target, *_ = self.pieces[index]
        home, start = self.day[index], self.start[index]
        low, latest = bounds[0], bounds[1] - length
        first, last = low // LINE, bounds[1] // LINE
        model, on_day = self.model.classes[klass], self.on_day[klass]
        rank, pair_weight = model.rank, model.same_day_weight
        rest = self.without(home, Entry(start, length, klass))
        left = self.cost(home, rest) - self.cost(home, self.entries[home])
        left -= W_SPREAD * abs(rank[home] - target) + pair_weight * (on_day[home] - 1)
        for day in days:
            if day == home:
                self._moves_at_home(index, rest, (low, latest), found)
                continue
            options = self.insert_costs(day, klass, length)
            if options:
                delta = left + W_SPREAD * abs(rank[day] - target) + pair_weight * on_day[day]
                if day in (first, last):
                    line = day * LINE
                    options = [option for option in options if low < line + option[0] <= latest]
                found += [ScoredMove(delta + cost, index, day, at) for at, cost in options]

    def _moves_at_home(
        self, index: int, rest: tuple[Entry, ...], bounds: tuple[int, int], found: list[ScoredMove]
    ) -> None:
        piece, day, start = self.pieces[index], self.day[index], self.start[index]
        busy = self.busy[day] & ~span_mask(start, piece.length)
        now = self.cost(day, self.entries[day])
        for at in bits_of(self.places.free_starts(piece.klass, piece.length, day, busy)):
            if at != start and bounds[0] < day * LINE + at <= bounds[1]:
                entries = tuple(sorted((*rest, Entry(at, piece.length, piece.klass))))
                found.append(ScoredMove(self.cost(day, entries) - now, index, day, at))

    def insert_costs(self, day: int, klass: int, length: int) -> list[tuple[int, int]]:
        """(start, added day cost) for every free place of a day for an item of a class that stands elsewhere."""
        known = self._inserts.get((day, klass, length))
        if known is not None:
            return known
        starts = self.places.free_starts(klass, length, day, self.busy[day])
        entries, mask = self.entries[day], self.model.course_mask[day]
        options = self._alike.get((mask, entries, klass, length, starts))
        if options is None:
            now, cost = self.cost(day, entries), self.model.day_cost
            options = [(at, cost(day, sorted((*entries, Entry(at, length, klass)))) - now) for at in bits_of(starts)]
            self._alike[mask, entries, klass, length, starts] = options
        self._inserts[day, klass, length] = options
        return options

    def swaps(self) -> list[ScoredSwap]:
        """Every legal swap of two pieces of equal length and different classes that the agent may move."""
        order = sorted((self.day[i] * LINE + self.start[i], i) for i, piece in enumerate(self.pieces) if piece.free)
        lines = [line for line, _ in order]
        bounds = {i: self.bounds(i) for _, i in order}
        replaced: dict[tuple[int, int], int] = {}
        found: list[ScoredSwap] = []
        for position, (line, one) in enumerate(order):
            _, klass, length, *_ = self.pieces[one]
            legal = self.places.legal(klass, length)
            end = bisect_right(lines, bounds[one][1] - length)
            for _, other in order[position + 1 : end]:
                _, other_klass, other_length, *_ = self.pieces[other]
                if (
                    other_klass != klass
                    and other_length == length
                    and bounds[other][0] < line
                    and legal[self.day[other]] >> self.start[other] & 1
                    and self.places.legal(other_klass, length)[self.day[one]] >> self.start[one] & 1
                ):
                    found.append(ScoredSwap(self._swap_delta(one, other, replaced), one, other))
        return found

    def _swap_delta(self, one: int, other: int, replaced: dict[tuple[int, int], int]) -> int:
        day, other_day = self.day[one], self.day[other]
        klass, other_klass = self.pieces[one].klass, self.pieces[other].klass
        if day == other_day:
            entries = self.with_class(day, self.entries[day], one, other_klass)
            entries = self.with_class(day, entries, other, klass)
            return self.cost(day, entries) - self.cost(day, self.entries[day])
        delta = self.class_delta(one, other_day) + self.class_delta(other, day)
        for piece, into in ((one, other_klass), (other, klass)):
            change = replaced.get((piece, into))
            if change is None:
                at = self.day[piece]
                now = self.entries[at]
                change = self.cost(at, self.with_class(at, now, piece, into)) - self.cost(at, now)
                replaced[piece, into] = change
            delta += change
        return delta

    def with_class(self, day: int, entries: tuple[Entry, ...], index: int, klass: int) -> tuple[Entry, ...]:
        """Entries of the day of a piece with the piece replaced by one of another class."""
        piece = self.pieces[index]
        own = Entry(self.start[index], piece.length, piece.klass)
        assert self.day[index] == day
        return tuple(Entry(own.start, own.length, klass) if entry == own else entry for entry in entries)

    def class_delta(self, index: int, day: int) -> int:
        """What a piece's class terms gain by its standing on another day; both must be different days."""
        piece, home = self.pieces[index], self.day[index]
        model, on_day = self.model.classes[piece.klass], self.on_day[piece.klass]
        spread = abs(model.rank[day] - piece.target) - abs(model.rank[home] - piece.target)
        return W_SPREAD * spread + model.same_day_weight * (on_day[day] - on_day[home] + 1)
