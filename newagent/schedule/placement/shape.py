"""Days of one shape, that is with the same courses, fixed items and legal starts: what their contents cost.

The costs are found once for all days of the shape. Classes with interchangeable items that agree in all that the cost
sees may trade places, so of contents that differ only by such a trade one is arranged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from newagent.schedule.cost import W_CAP, CostModel, Entry, span_mask
from newagent.schedule.placement.arrange import IMPOSSIBLE, STEPS, Arranger, Choices, Step, TooIntricateError
from newagent.schedule.placement.hands import FIELD, MASK, Card, Hands, held

if TYPE_CHECKING:
    from collections.abc import Mapping

Layout = tuple[tuple[int, int], ...]
"""(free class, start) of each free item of a day, in time."""

Starts = tuple["Mapping[int, tuple[int, ...]]", ...]
"""By free class and duration the legal starts."""


class Shape:
    """Costs and layouts of the contents of alike days.

    `classes[k]` is the class index of the k-th class with free items; `spent` counts arrangements looked into.
    """

    def __init__(
        self,
        model: CostModel,
        classes: Sequence[int],
        hands: Sequence[Hands],
        courses: int,
        fixed: Sequence[Entry],
        starts: Starts,
        off_grid: bool,
    ) -> None:
        self.model, self.classes, self.hands = model, classes, hands
        self.starts = starts
        self.spent = 0
        self.known: dict[int, int] = {}
        self._settled = not fixed
        self._study = sum(entry.length for entry in fixed)
        self._seeds: dict[int, Layout] = {}
        self._steps: dict[int, tuple[int, tuple[Step, ...]]] = {}
        self._choices: dict[tuple[int, Card], Choices] = {}
        self._floors: dict[tuple[int, int], int] = {}
        self._heavy = sum(MASK << (FIELD * k) for k, klass in enumerate(classes) if model.classes[klass].heavy)
        hosting = off_grid or any(
            span_mask(start, length) & courses
            for by_length in starts
            for length, legal in by_length.items()
            for start in legal
        )
        self._arranger = Arranger(model, courses, fixed, hosting, self._next)
        groups: dict[object, list[int]] = {}
        for k, klass in enumerate(classes):
            if hands[k].plain and not any(entry.klass == klass for entry in fixed):
                traits = model.classes[klass]
                alike = (traits.heavy, traits.avoid, traits.unpreferred, tuple(starts[k].items()))
                groups.setdefault(alike, []).append(k)
        self._twins = [group for group in groups.values() if len(group) > 1]
        self._group_of = {k: number for number, group in enumerate(self._twins) for k in group}

    def cost(self, content: int) -> int:
        """The least cost of a content; `IMPOSSIBLE` if it cannot be laid out."""
        found = self.known.get(content)
        if found is None:
            one = self._representative(content)
            found = self.known[content] = self._arranged(one) if one == content else self.cost(one)
        return found

    def layout(self, content: int) -> Layout:
        """A layout of that cost."""
        if content in self._seeds:
            return self._seeds[content]
        renamed = {klass: k for k, klass in enumerate(self.classes)}
        for group in self._twins:
            ordered = sorted(group, key=lambda k: (-(content >> (FIELD * k) & MASK), k))
            renamed.update((self.classes[k], other) for k, other in zip(group, ordered, strict=True))
        places = self._arranger.places(self._representative(content))
        return tuple((renamed[klass], start) for klass, start in places)

    def seed(self, content: int, layout: Layout, cost: int) -> None:
        """Tells of a layout that is known to be legal and of its cost, so that an intricate day is not taken for
        impossible."""
        if cost < self.cost(content):
            self._seeds[content] = layout
            self.known[content] = cost

    def _arranged(self, content: int) -> int:
        sections = 0
        for k, number in held(content):
            sections += self.hands[k].sections(number)
        cap = self.model.daily_cap
        capped = 0 if cap is None else W_CAP * max(0, self._study + sections - cap)
        try:
            return min(IMPOSSIBLE, capped + self._arranger.cost(content, sections))
        except TooIntricateError:
            return IMPOSSIBLE
        finally:
            self.spent += STEPS - self._arranger.left

    def _representative(self, content: int) -> int:
        """The content that stands for all that differ only by interchangeable classes."""
        for group in self._twins:
            counts = [content >> (FIELD * k) & MASK for k in group]
            ordered = sorted(counts, reverse=True)
            if counts != ordered:
                for k, old, new in zip(group, counts, ordered, strict=True):
                    content += (new - old) << (FIELD * k)
        return content

    def _next(self, content: int) -> tuple[int, tuple[Step, ...]]:
        """The least that the places of a content's items cost, and its possible next items."""
        found = self._steps.get(content)
        if found is not None:
            return found
        steps: list[Step] = []
        twins: dict[tuple[int, int], int] = {}
        holds = held(content)
        floor = sum(self._floor(k, number) for k, number in holds)
        for k, number in holds:
            hands = self.hands[k]
            choices = self._choices_of(k, hands.cards(number)[0])
            rest = content + ((hands.rest(number) - number) << (FIELD * k))
            group = self._group_of.get(k, -1)
            steps.append(
                (
                    self.classes[k],
                    rest,
                    floor - choices.least if floor < IMPOSSIBLE else IMPOSSIBLE,
                    choices.blocks,
                    choices.heavy,
                    not self._settled or rest >> (FIELD * k) & MASK != 0,
                    not self._settled or rest & self._heavy != 0,
                    twins.setdefault((group, number), len(twins)) if group >= 0 else -1,
                    choices.far,
                    choices.near,
                )
            )
        found = self._steps[content] = floor, tuple(steps)
        return found

    def _floor(self, k: int, number: int) -> int:
        """The least that the places of a hand's items cost, each taken alone."""
        known = self._floors.get((k, number))
        if known is None:
            known = sum(self._choices_of(k, card).least for card in self.hands[k].cards(number))
            self._floors[k, number] = known
        return known

    def _choices_of(self, k: int, card: Card) -> Choices:
        found = self._choices.get((k, card))
        if found is None:
            starts = {*self.starts[k][card.duration], *([card.home] if card.home else ())}
            legal = sorted(start for start in starts if card.after < start and start + card.duration <= card.before)
            found = self._choices[k, card] = Choices(self._arranger, self.classes[k], card.duration, legal)
        return found
