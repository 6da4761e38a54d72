"""The cheapest layout of one day: where its items stand once it is known which items it has.

What a day costs depends on which classes have how many items there, hardly ever on which day it is: days with the same
courses, the same fixed items and the same legal starts are of one kind and share their answers. A day's content is one
integer, a field of `FIELD` bits for each class with free items; a field holds the number of a *hand*, the run of items
that the class has on that day. Hands of a class with interchangeable items are simply counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from newagent.schedule.cost import (
    FREE_HEAVY_RUN,
    W_AVOIDED,
    W_BUFFER,
    W_CAP,
    W_HEAVY_ADJACENT,
    W_HEAVY_RUN,
    W_LONG_BLOCK,
    W_OVERLOAD,
    W_SWITCHING,
    W_UNPREFERRED,
    CostModel,
    Entry,
    span_mask,
)
from newagent.schedule.placement.problem import FOREVER, STRIDE, Problem, fixed_entries

FIELD = 16
IMPOSSIBLE = 1 << 40
LAYOUT_NODES = 4000
"""Steps after which the search for a day's cheapest layout settles for the best it has."""


class Card(NamedTuple):
    """An item as a day sees it: its length, the sections between which its placed siblings hold it, and a start off
    the grid that it may keep (0: none)."""

    duration: int
    after: int
    before: int
    home: int


Hand = tuple[Card, ...]


class DayKind(NamedTuple):
    """What decides a day's costs: course sections, fixed items, and by free class and duration the legal starts."""

    courses: int
    fixed: tuple[Entry, ...]
    starts: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]


class Layout(NamedTuple):
    """The cheapest arrangement of a content: its cost, and the (free class, start) of each item in time."""

    cost: int
    places: tuple[tuple[int, int], ...]


@dataclass
class Days:
    """The days of a problem, sorted into kinds, with every layout found so far.

    `classes[k]` is the class index of the k-th class with free items; `kind_of[d]` the kind of day d; `memo[kind]` maps
    contents to layouts.
    """

    problem: Problem
    classes: tuple[int, ...] = ()
    kinds: list[DayKind] = field(default_factory=list[DayKind])
    kind_of: list[int] = field(default_factory=list[int])
    costs: list[dict[int, int]] = field(default_factory=list[dict[int, int]])
    layouts: list[dict[int, Layout]] = field(default_factory=list[dict[int, Layout]])
    hands: list[list[Hand]] = field(default_factory=list[list[Hand]])
    plain: list[bool] = field(default_factory=list[bool])
    spent: int = 0
    _hand_number: list[dict[Hand, int]] = field(default_factory=list[dict[Hand, int]])

    def __post_init__(self) -> None:
        problem = self.problem
        self.classes = tuple(problem.of_class)
        entries = fixed_entries(problem)
        durations = [sorted({problem.items[n].duration for n in problem.of_class[k]}) for k in self.classes]
        number: dict[DayKind, int] = {}
        self.kind_of = [-1]
        for day in range(1, problem.days + 1):
            starts = tuple(
                tuple((length, problem.class_starts(klass, length)[day]) for length in lengths)
                for klass, lengths in zip(self.classes, durations, strict=True)
            )
            kind = DayKind(problem.model.course_mask[day], tuple(sorted(entries[day])), starts)
            if kind not in number:
                number[kind] = len(self.kinds)
                self.kinds.append(kind)
                self.costs.append({})
                self.layouts.append({})
            self.kind_of.append(number[kind])
        for klass, lengths in zip(self.classes, durations, strict=True):
            items = [problem.items[n] for n in problem.of_class[klass]]
            self.plain.append(
                len(lengths) == 1
                and all(not i.after and i.before == FOREVER and problem.home_start(i) is None for i in items)
            )
            hands = [(Card(lengths[0], 0, STRIDE, 0),) * count for count in range(len(items) + 1)]
            self.hands.append(hands if self.plain[-1] else [()])
            self._hand_number.append({} if self.plain[-1] else {(): 0})

    def hand(self, k: int, day: int, first: int, count: int) -> int:
        """The number of the hand that class k has with `count` items from its `first` on; -1 if one of them may not
        stand on that day at all."""
        if self.plain[k] or not count:
            return count
        problem = self.problem
        cards: list[Card] = []
        for number in problem.of_class[self.classes[k]][first : first + count]:
            item = problem.items[number]
            after, before = item.after - day * STRIDE, item.before - day * STRIDE
            if item.barred or after >= problem.sections or before <= 1:
                return -1
            home = problem.home_start(item)
            cards.append(
                Card(
                    item.duration,
                    max(after, 0),
                    min(before, STRIDE),
                    home[1] if home is not None and home[0] == day else 0,
                )
            )
        known = self._hand_number[k]
        hand = tuple(cards)
        if hand not in known:
            known[hand] = len(self.hands[k])
            self.hands[k].append(hand)
        return known[hand]

    def cost(self, kind: int, content: int) -> int:
        """The least cost of a content on a day of a kind; `IMPOSSIBLE` if it cannot be laid out."""
        known = self.costs[kind]
        found = known.get(content)
        if found is None:
            layout = self._cheapest(kind, content)
            self.layouts[kind][content] = layout
            found = known[content] = layout.cost
        return found

    def layout(self, kind: int, content: int) -> Layout:
        """The cheapest layout of a content."""
        self.cost(kind, content)
        return self.layouts[kind][content]

    def seed(self, kind: int, content: int, places: Sequence[tuple[int, int]]) -> None:
        """Tells of a layout that is known to be legal, so that a tight day is never taken for impossible."""
        search = _Search(self.problem.model, self.kinds[kind], self.classes, self._hands_of(content))
        layout = Layout(search.cost_of(places), tuple(places))
        if layout.cost < self.cost(kind, content):
            self.layouts[kind][content] = layout
            self.costs[kind][content] = layout.cost

    def _hands_of(self, content: int) -> list[Hand]:
        mask = (1 << FIELD) - 1
        return [hands[content >> (FIELD * k) & mask] for k, hands in enumerate(self.hands)]

    def _cheapest(self, kind: int, content: int) -> Layout:
        search = _Search(self.problem.model, self.kinds[kind], self.classes, self._hands_of(content))
        layout = search.run()
        self.spent += search.nodes
        return layout


class _Search:
    """Depth-first over the items of a day in order of time, with every term costed as the prefix grows.

    All terms but `buffer` only grow with the prefix, so a prefix that costs as much as the best layout is cut.
    """

    def __init__(self, model: CostModel, kind: DayKind, classes: Sequence[int], hands: Sequence[Hand]) -> None:
        self.model = model
        self.kind = kind
        self.classes = classes
        self.hands = hands
        self.starts = [dict(by_length) for by_length in kind.starts]
        self.study = sum(entry.length for entry in kind.fixed) + sum(card.duration for hand in hands for card in hand)
        self.best = IMPOSSIBLE
        self.places: tuple[tuple[int, int], ...] = ()
        self.nodes = 0
        self.path: list[tuple[int, int]] = []
        self.seen: dict[tuple[object, ...], int] = {}
        self.many = sum(map(len, hands)) >= 5
        cap = model.daily_cap
        self.cap_cost = W_CAP * max(0, self.study - cap) if cap is not None else 0

    def run(self) -> Layout:
        """The cheapest layout, as far as `LAYOUT_NODES` allow."""
        options: list[list[list[tuple[int, int]]]] = []
        floors: list[list[int]] = []
        for k, hand in enumerate(self.hands):
            rows: list[list[tuple[int, int]]] = []
            for card in hand:
                legal = list(self.starts[k].get(card.duration, ()))
                if card.home:
                    legal = sorted({*legal, card.home})
                row = [
                    (start, self._place_cost(self.classes[k], start, card.duration))
                    for start in legal
                    if card.after < start and start + card.duration <= card.before
                ]
                if not row:
                    return Layout(IMPOSSIBLE, ())
                rows.append(row)
            options.append(rows)
            floor = [0]
            for row in reversed(rows):
                floor.append(floor[-1] + min(cost for _, cost in row))
            floors.append(floor[::-1])
        self.options, self.floors = options, floors
        self.floor = self._least()
        base = sum(self._place_cost(entry.klass, entry.start, entry.length) for entry in self.kind.fixed)
        self._descend((0,) * len(self.hands), 0, 1, -1, 0, 0, 0, 0, 0, 0, self.kind.courses, base + self.cap_cost)
        return Layout(self.best, self.places)

    def _least(self) -> int:
        """A cost that no layout undercuts; a search that reaches it is over."""
        least = self.cap_cost + sum(floor[0] for floor in self.floors)
        least += sum(self._place_cost(entry.klass, entry.start, entry.length) for entry in self.kind.fixed)
        mask = self.kind.courses
        for entry in self.kind.fixed:
            mask |= span_mask(entry.start, entry.length)
        if not any(
            span_mask(start, card.duration) & self.kind.courses
            for rows, hand in zip(self.options, self.hands, strict=True)
            for row, card in zip(rows, hand, strict=True)
            for start, _ in row
        ):
            used = mask.bit_count() + sum(card.duration for hand in self.hands for card in hand)
            least += W_OVERLOAD * max(0, used - self.model.free_load)
        return least

    def _place_cost(self, klass: int, start: int, length: int) -> int:
        """The terms that only depend on where an item stands: avoided, unpreferred, evening_heavy."""
        model, cost = self.model, 0
        traits = model.classes[klass]
        for section in range(start, start + length, 2):
            period = model.period_of[section]
            cost += W_AVOIDED * traits.avoid[period] + W_UNPREFERRED * traits.unpreferred[period]
            cost += model.evening_weight * (traits.heavy and period == 2)
        return cost

    def _descend(
        self,
        taken: tuple[int, ...],
        fixed: int,
        position: int,
        last: int,
        last_end: int,
        run: int,
        heavy_run: int,
        max_run: int,
        max_heavy: int,
        switches: int,
        mask: int,
        added: int,
    ) -> None:
        """Puts the next item in time after a prefix. `added` sums what grows item by item: place costs and heavy
        neighbours; the terms that count maxima are in their own arguments."""
        model = self.model
        cost = (
            added
            + W_HEAVY_RUN * max(0, max_heavy - FREE_HEAVY_RUN)
            + W_LONG_BLOCK * max(0, max_run - model.free_block)
            + W_SWITCHING * max(0, switches - model.free_switches)
            + W_OVERLOAD * max(0, mask.bit_count() - model.free_load)
        )
        self.nodes += 1
        rest = sum(floor[done] for floor, done in zip(self.floors, taken, strict=True))
        if cost + rest >= self.best or self.nodes > LAYOUT_NODES:
            return
        fixtures = self.kind.fixed
        finished = all(done == len(hand) for done, hand in zip(taken, self.hands, strict=True))
        if finished and fixed == len(fixtures):
            free = ~mask & ((1 << (model.sections + 1)) - 2)
            if model.wants_buffer and not free & (free >> 1):
                cost += W_BUFFER
            if cost < self.best:
                self.best, self.places = cost, tuple(self.path)
            return
        if self.many:
            key = (taken, fixed, position, last, last_end, run, heavy_run, max_run, max_heavy, switches, mask)
            if self.seen.get(key, IMPOSSIBLE) <= added:
                return
            self.seen[key] = added
        limit = fixtures[fixed].start if fixed < len(fixtures) else STRIDE
        choices: list[tuple[int, int, int, int]] = []
        for k, done in enumerate(taken):
            if done == len(self.hands[k]):
                continue
            length = self.hands[k][done].duration
            choices.extend(
                (start, self.classes[k] != last, k, cost)
                for start, cost in self.options[k][done]
                if position <= start and start + length <= limit
            )
        choices.sort()
        for start, _, k, place_cost in choices:
            length = self.hands[k][taken[k]].duration
            self.path.append((k, start))
            self._follow(
                (*taken[:k], taken[k] + 1, *taken[k + 1 :]),
                fixed,
                max(position, start + length),
                Entry(start, length, self.classes[k]),
                (last, last_end, run, heavy_run, max_run, max_heavy, switches),
                mask,
                added + place_cost,
            )
            self.path.pop()
            if self.best <= self.floor:
                return
        if fixed < len(fixtures):
            entry = fixtures[fixed]
            self._follow(
                taken,
                fixed + 1,
                max(position, entry.start + entry.length),
                entry,
                (last, last_end, run, heavy_run, max_run, max_heavy, switches),
                mask,
                added,
            )

    def _follow(
        self,
        taken: tuple[int, ...],
        fixed: int,
        position: int,
        entry: Entry,
        tail: tuple[int, int, int, int, int, int, int],
        mask: int,
        added: int,
    ) -> None:
        last, last_end, run, heavy_run, max_run, max_heavy, switches = tail
        model = self.model
        start, length, klass = entry
        blocks = (length + 1) // 2
        heavy = model.classes[klass].heavy
        if last == klass:
            run += blocks
        else:
            if last >= 0:
                switches += 1
                if heavy and model.classes[last].heavy:
                    near = start - last_end - 1 < 2 and model.period_of[last_end] == model.period_of[start]
                    added += W_HEAVY_ADJACENT * near
            run = blocks
        heavy_run = heavy_run + blocks if heavy else 0
        self._descend(
            taken,
            fixed,
            position,
            klass,
            start + length - 1,
            run,
            heavy_run,
            max(max_run, run),
            max(max_heavy, heavy_run),
            switches,
            mask | span_mask(start, length),
            added,
        )

    def cost_of(self, places: Sequence[tuple[int, int]]) -> int:
        """The cost of the day with its free items at the given (free class, start) in time."""
        taken = [0] * len(self.hands)
        entries = list(self.kind.fixed)
        for k, start in places:
            entries.append(Entry(start, self.hands[k][taken[k]].duration, self.classes[k]))
            taken[k] += 1
        look = self.model.look(0, entries)
        used = self.kind.courses
        for entry in entries:
            used |= span_mask(entry.start, entry.length)
        free = ~used & ((1 << (self.model.sections + 1)) - 2)
        whole = look._replace(used=used.bit_count(), cramped=not free & (free >> 1))
        return sum(self.model.day_terms(whole))
