"""What a day costs once it is known which items it has: the cheapest layout, found once for all days of its kind.

What a day costs depends on which classes have how many items there, hardly ever on which day it is: days with the same
courses, the same fixed items and the same legal starts are of one kind and share their answers. A day's content is one
integer, a field of `FIELD` bits for each class with free items; a field holds the number of a *hand*, the run of items
that the class has on that day. Hands of a class with interchangeable items are simply counts; such classes that also
agree in all that the cost sees may trade places, so only one of their contents is arranged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from newagent.schedule.cost import W_CAP, Entry, span_mask
from newagent.schedule.placement.arrange import (
    IMPOSSIBLE,
    STEPS,
    Arranger,
    Choices,
    Step,
    TooIntricateError,
)
from newagent.schedule.placement.problem import FOREVER, STRIDE, Problem, fixed_entries

FIELD = 16
MASK = (1 << FIELD) - 1


class Card(NamedTuple):
    """An item as a day sees it: its length, the sections between which its placed siblings hold it, and a start off
    the grid that it may keep (0: none)."""

    duration: int
    after: int
    before: int
    home: int


Hand = tuple[Card, ...]
Layout = tuple[tuple[int, int], ...]
"""(free class, start) of each free item of a day, in time."""


class DayKind(NamedTuple):
    """What decides a day's costs: course sections, fixed items, and by free class and duration the legal starts."""

    courses: int
    fixed: tuple[Entry, ...]
    starts: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]


class Hands:
    """The hands of one class: for interchangeable items hand n is just n of them, else hands are numbered as met."""

    def __init__(self, problem: Problem, klass: int) -> None:
        self.problem = problem
        self.numbers = problem.of_class[klass]
        items = [problem.items[number] for number in self.numbers]
        self.durations = sorted({item.duration for item in items})
        self.plain = len(self.durations) == 1 and all(
            not item.after and item.before == FOREVER and problem.home_start(item) is None for item in items
        )
        self.cards: list[Hand] = [()]
        self._number: dict[Hand, int] = {(): 0}
        if self.plain:
            card = Card(self.durations[0], 0, STRIDE, 0)
            self.cards = [(card,) * count for count in range(len(items) + 1)]

    def number(self, day: int, first: int, count: int) -> int:
        """The hand of `count` items from the class's `first` on; -1 if one of them may not stand on that day at all."""
        if self.plain or not count:
            return count
        problem = self.problem
        cards: list[Card] = []
        for number in self.numbers[first : first + count]:
            item = problem.items[number]
            after, before = item.after - day * STRIDE, item.before - day * STRIDE
            if after >= problem.sections or before <= 1:
                return -1
            home = problem.home_start(item)
            at_home = home[1] if home is not None and home[0] == day else 0
            cards.append(Card(item.duration, max(after, 0), min(before, STRIDE), at_home))
        return self._numbered(tuple(cards))

    def sections(self, number: int) -> int:
        """The sections of a hand's items."""
        return number * self.durations[0] if self.plain else sum(card.duration for card in self.cards[number])

    def rest(self, number: int) -> int:
        """The hand without its first item."""
        return number - 1 if self.plain else self._numbered(self.cards[number][1:])

    def _numbered(self, hand: Hand) -> int:
        known = self._number.get(hand)
        if known is None:
            known = self._number[hand] = len(self.cards)
            self.cards.append(hand)
        return known


class Days:
    """The days of a problem, sorted into kinds, with every cost found so far.

    `classes[k]` is the class index of the k-th class with free items; `kind_of[d]` the kind of day d. `spent` counts
    arrangements looked into.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.model = problem.model
        self.classes = tuple(problem.of_class)
        self.hands = [Hands(problem, klass) for klass in self.classes]
        self.kinds: list[DayKind] = []
        self.kind_of = [-1]
        self.known: list[dict[int, int]] = []
        self.spent = 0
        self._seeds: dict[tuple[int, int], Layout] = {}
        self._arrangers: list[Arranger] = []
        self._twins: list[tuple[tuple[int, ...], ...]] = []
        self._steps: list[dict[int, tuple[int, tuple[Step, ...]]]] = []
        self._choices: dict[tuple[int, int, Card], Choices] = {}
        self._floors: dict[tuple[int, int, int], int] = {}
        self._group_of: list[list[int]] = []
        self._heavy_fields = sum(
            MASK << (FIELD * k) for k, klass in enumerate(self.classes) if self.model.classes[klass].heavy
        )
        entries = fixed_entries(problem)
        number: dict[DayKind, int] = {}
        for day in range(1, problem.days + 1):
            starts = tuple(
                tuple((length, problem.class_starts(klass, length)[day]) for length in hands.durations)
                for klass, hands in zip(self.classes, self.hands, strict=True)
            )
            kind = DayKind(self.model.course_mask[day], tuple(sorted(entries[day])), starts)
            if kind not in number:
                number[kind] = len(self.kinds)
                self._add_kind(kind)
            self.kind_of.append(number[kind])

    def cost(self, kind: int, content: int) -> int:
        """The least cost of a content on a day of a kind; `IMPOSSIBLE` if it cannot be laid out."""
        found = self.known[kind].get(content)
        if found is None:
            found = self._cost(kind, content)
            self.known[kind][content] = found
        return found

    def layout(self, kind: int, content: int) -> Layout:
        """A layout of that cost."""
        if (kind, content) in self._seeds:
            return self._seeds[kind, content]
        one = self._representative(kind, content)
        number = {klass: k for k, klass in enumerate(self.classes)}
        renamed = self._renaming(kind, content)
        return tuple((renamed[number[klass]], start) for klass, start in self._arrangers[kind].places(one))

    def seed(self, kind: int, content: int, layout: Layout) -> None:
        """Tells of a layout that is known to be legal, so that an intricate day is never taken for impossible."""
        cost = self._cost_of(kind, content, layout)
        if cost < self.cost(kind, content):
            self._seeds[kind, content] = layout
            self.known[kind][content] = cost

    def _add_kind(self, kind: DayKind) -> None:
        index = len(self.kinds)
        self.kinds.append(kind)
        self.known.append({})
        self._steps.append({})
        homes = any(self.problem.home_start(item) for item in self.problem.items)
        hosting = homes or any(
            span_mask(start, length) & kind.courses
            for by_length in kind.starts
            for length, starts in by_length
            for start in starts
        )

        def steps_of(content: int) -> tuple[int, tuple[Step, ...]]:
            found = self._steps[index].get(content)
            if found is None:
                found = self._steps[index][content] = self._next(index, content)
            return found

        self._arrangers.append(Arranger(self.model, kind.courses, kind.fixed, hosting, steps_of))
        groups: dict[object, list[int]] = {}
        for k, (klass, hands) in enumerate(zip(self.classes, self.hands, strict=True)):
            if hands.plain and not any(entry.klass == klass for entry in kind.fixed):
                traits = self.model.classes[klass]
                groups.setdefault((traits.heavy, traits.avoid, traits.unpreferred, kind.starts[k]), []).append(k)
        self._twins.append(tuple(tuple(group) for group in groups.values() if len(group) > 1))
        self._group_of.append([-1] * len(self.classes))
        for number, group in enumerate(self._twins[-1]):
            for k in group:
                self._group_of[-1][k] = number

    def _next(self, kind: int, content: int) -> tuple[int, tuple[Step, ...]]:
        steps: list[Step] = []
        twins: dict[tuple[int, int], int] = {}
        group_of = self._group_of[kind]
        settled = not self.kinds[kind].fixed
        floor = self._floor(kind, content)
        for k, number in self._held(content):
            hands = self.hands[k]
            choices = self._choices_of(kind, k, hands.cards[number][0])
            rest = content + ((hands.rest(number) - number) << (FIELD * k))
            group = group_of[k]
            steps.append(
                (
                    self.classes[k],
                    rest,
                    floor - choices.least if floor < IMPOSSIBLE else IMPOSSIBLE,
                    choices.blocks,
                    choices.heavy,
                    not settled or rest >> (FIELD * k) & MASK != 0,
                    not settled or rest & self._heavy_fields != 0,
                    twins.setdefault((group, number), len(twins)) if group >= 0 else -1,
                    choices.far,
                    choices.near,
                )
            )
        return floor, tuple(steps)

    def _held(self, content: int) -> list[tuple[int, int]]:
        """The classes of a content with their hands."""
        held: list[tuple[int, int]] = []
        k = 0
        while content:
            if content & MASK:
                held.append((k, content & MASK))
            content >>= FIELD
            k += 1
        return held

    def _floor(self, kind: int, content: int) -> int:
        """The least that the places of a content's items cost, each taken alone."""
        floor = 0
        for k, number in self._held(content):
            known = self._floors.get((kind, k, number))
            if known is None:
                known = sum(self._choices_of(kind, k, card).least for card in self.hands[k].cards[number])
                self._floors[kind, k, number] = known
            floor += known
        return floor

    def _choices_of(self, kind: int, k: int, card: Card) -> Choices:
        key = (kind, k, card)
        found = self._choices.get(key)
        if found is None:
            starts = {*dict(self.kinds[kind].starts[k])[card.duration], *([card.home] if card.home else ())}
            legal = sorted(start for start in starts if card.after < start and start + card.duration <= card.before)
            found = Choices(self._arrangers[kind], self.classes[k], card.duration, legal)
            self._choices[key] = found
        return found

    def _cost(self, kind: int, content: int) -> int:
        one = self._representative(kind, content)
        if one != content:
            return self.cost(kind, one)
        sections = 0
        for k, number in self._held(content):
            sections += self.hands[k].sections(number)
        cap = self.model.daily_cap
        capped = 0
        if cap is not None:
            study = sections + sum(entry.length for entry in self.kinds[kind].fixed)
            capped = W_CAP * max(0, study - cap)
        arranger = self._arrangers[kind]
        try:
            return min(IMPOSSIBLE, capped + arranger.cost(content, sections))
        except TooIntricateError:
            return IMPOSSIBLE
        finally:
            self.spent += STEPS - arranger.left

    def _representative(self, kind: int, content: int) -> int:
        """The content that stands for all that differ only by interchangeable classes."""
        for group in self._twins[kind]:
            counts = [content >> (FIELD * k) & MASK for k in group]
            ordered = sorted(counts, reverse=True)
            if counts != ordered:
                for k, old, new in zip(group, counts, ordered, strict=True):
                    content += (new - old) << (FIELD * k)
        return content

    def _renaming(self, kind: int, content: int) -> dict[int, int]:
        """For each class of the representative the class of the content that it stands for."""
        renamed = {k: k for k in range(len(self.classes))}
        for group in self._twins[kind]:
            ordered = sorted(group, key=lambda k: (-(content >> (FIELD * k) & MASK), k))
            renamed.update(zip(group, ordered, strict=True))
        return renamed

    def _cost_of(self, kind: int, content: int, layout: Sequence[tuple[int, int]]) -> int:
        """The cost of a day with its free items at the given (free class, start) in time."""
        cards = {k: list(self.hands[k].cards[number]) for k, number in self._held(content)}
        entries = list(self.kinds[kind].fixed)
        for k, start in layout:
            entries.append(Entry(start, cards[k].pop(0).duration, self.classes[k]))
        return self.model.day_cost(self.kind_of.index(kind), entries)
