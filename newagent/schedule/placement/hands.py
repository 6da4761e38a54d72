"""What a class has on a day: a hand of cards, one for each item, and the content of a day packed into one integer.

A content has a field of `FIELD` bits for each class with free items; the field holds the number of the class's hand.
For a class whose items are interchangeable hand n is simply n items.
"""

from __future__ import annotations

from typing import NamedTuple

from newagent.schedule.placement.problem import FOREVER, STRIDE, Problem

FIELD = 16
MASK = (1 << FIELD) - 1


class Card(NamedTuple):
    """An item as a day sees it: its length, the sections between which its placed siblings hold it, and a start off
    the grid that it may keep (0: none)."""

    duration: int
    after: int
    before: int
    home: int


class Hands:
    """The hands of one class; hands that are not just counts are numbered as they are met."""

    def __init__(self, problem: Problem, klass: int) -> None:
        self.problem = problem
        self.numbers = problem.of_class[klass]
        items = [problem.items[number] for number in self.numbers]
        self.durations = sorted({item.duration for item in items})
        self.plain = len(self.durations) == 1 and all(
            not item.after and item.before == FOREVER and problem.home_start(item) is None for item in items
        )
        self._cards: list[tuple[Card, ...]] = [()]
        self._number: dict[tuple[Card, ...], int] = {(): 0}
        self._alike = Card(self.durations[0], 0, STRIDE, 0)

    def cards(self, number: int) -> tuple[Card, ...]:
        """The cards of a hand, in order."""
        return (self._alike,) * number if self.plain else self._cards[number]

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

    def rest(self, number: int) -> int:
        """The hand without its first item."""
        return number - 1 if self.plain else self._numbered(self._cards[number][1:])

    def sections(self, number: int) -> int:
        """The sections of a hand's items."""
        return number * self.durations[0] if self.plain else sum(card.duration for card in self._cards[number])

    def _numbered(self, hand: tuple[Card, ...]) -> int:
        known = self._number.get(hand)
        if known is None:
            known = self._number[hand] = len(self._cards)
            self._cards.append(hand)
        return known


def held(content: int) -> list[tuple[int, int]]:
    """The classes of a content with their hands."""
    found: list[tuple[int, int]] = []
    k = 0
    while content:
        if content & MASK:
            found.append((k, content & MASK))
        content >>= FIELD
        k += 1
    return found
