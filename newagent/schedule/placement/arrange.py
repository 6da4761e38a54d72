"""The cheapest arrangement of one day's items, for all days of one kind at once.

A recursion along the day: which item comes next, and where does it start? What the rest of the day may still cost
depends on the past only through a few numbers (where the last item ended and of which class it was, runs, switches), so
answers are kept by them, and contents that end alike share their work. Of two starts of the same item the later one is
worth trying only if it is cheaper, lies inside a course where the earlier does not, or opens the day's first free pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from newagent.schedule.cost import (
    EVENING,
    FREE_HEAVY_RUN,
    HEAVY_REACH,
    W_AVOIDED,
    W_BUFFER,
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

IMPOSSIBLE = 1 << 40
STEPS = 6000
"""Answers that one content may cost before its day is given up as too intricate."""

LIGHT, HEAVY = -1, -2
"""Stand for the class of the last item where only its weight still matters (or nothing does)."""

Choice = tuple[int, int, int, int]
"""A start worth trying: the section, the section after the item, its price there, sections it adds to the day's use."""


class Choices:
    """The starts worth trying for one item, by the first section that is open to it: after a neighbour of another
    heavy class (`near`, which matters to a heavy item), or after anything else (`far`). `least` is the least that its
    place can cost."""

    def __init__(self, arranger: Arranger, klass: int, length: int, starts: Iterable[int]) -> None:
        model = arranger.model
        priced: list[Choice] = []
        for start in starts:
            entry = Entry(start, length, klass)
            use = added_use(arranger.courses, entry) if arranger.hosting else 0
            priced.append((start, start + length, place_cost(model, entry), use))
        self.blocks = (length + 1) // 2
        self.heavy = model.classes[klass].heavy
        self.least = min((price for _, _, price, _ in priced), default=IMPOSSIBLE)
        self.far: list[tuple[Choice, ...]] = [()]
        self.near: list[tuple[Choice, ...]] = [()]
        for position in range(1, model.sections + 2):
            open_starts = [choice for choice in priced if choice[0] >= position]
            self.far.append(arranger.worthwhile(position, open_starts))
            tight = [
                (start, end, price + W_HEAVY_ADJACENT * model_near(model, position, start), use)
                for start, end, price, use in open_starts
            ]
            self.near.append(arranger.worthwhile(position, tight) if self.heavy else self.far[-1])


Step = tuple[int, int, int, int, bool, bool, bool, int, Sequence[tuple[Choice, ...]], Sequence[tuple[Choice, ...]]]
"""An item that may come next: class index, the content that remains after it and the least that the places of its items
cost, length in blocks, whether the class is heavy, whether it or any heavy one may still follow, a number shared by
interchangeable steps (-1: none), and the starts worth trying by the first open section, `Choices.far` and `near`."""


Past = tuple[int, int, int, int, int, int, int, int, int, bool]
"""What the rest of a day depends on: first section after the last item, fixed items passed, class of the last item,
its run and the run of heavy entries up to it, the longest of both as far as they cost, switches as far as they are free
(-1 before the first item), sections used as far as they are free, and whether a free pair was passed."""

Found = tuple[int, int, Past, int, int]
"""The least cost of the rest of a day, and how it goes on: content and past after the next item, its class (-1: a fixed
item) and start."""


class TooIntricateError(Exception):
    """The steps allowed for one content are exhausted."""


class Arranger:
    """Arranges contents on days with the given courses (a mask) and fixed items.

    `steps_of` tells the least that the places of a content's items cost, and its next items. Where none of them can lie
    in a course, the day's use is known from the content alone, and neither steps nor fixed items raise it (`hosting` is
    False).
    """

    def __init__(
        self,
        model: CostModel,
        courses: int,
        fixed: Sequence[Entry],
        hosting: bool,
        steps_of: Callable[[int], tuple[int, tuple[Step, ...]]],
    ) -> None:
        self.model = model
        self.courses = courses
        self.hosting = hosting
        self.fixed = [(entry, place_cost(model, entry), hosting * added_use(courses, entry)) for entry in fixed]
        self.steps_of = steps_of
        self.left = 0
        self.used = courses.bit_count()
        if not hosting:
            self.used += sum(added_use(courses, entry) for entry in fixed)
        counted = min(model.free_load, self.used) if hosting else 0
        self.start: Past = (1, 0, LIGHT, 0, 0, model.free_block, FREE_HEAVY_RUN, -1, counted, not model.wants_buffer)
        self._known: dict[tuple[int, Past], Found] = {}

    def cost(self, content: int, sections: int) -> int:
        """The least cost of a content whose items have `sections` sections in all; `IMPOSSIBLE` if it has no
        arrangement. Raises TooIntricateError."""
        self.left = STEPS
        used = self.used if self.hosting else self.used + sections
        over = W_OVERLOAD * max(0, used - self.model.free_load)
        return min(IMPOSSIBLE, over + self._rest(content, self.start))

    def places(self, content: int) -> list[tuple[int, int]]:
        """(class index, start) of each free item, in time, in an arrangement of that cost; the content has one."""
        self.left = STEPS
        found: list[tuple[int, int]] = []
        past = self.start
        while content or past[1] < len(self.fixed):
            self._rest(content, past)
            _, content, past, klass, start = self._known[content, past]
            if klass >= 0:
                found.append((klass, start))
        return found

    def worthwhile(self, position: int, choices: Sequence[Choice]) -> tuple[Choice, ...]:
        """The choices in time of which none is as cheap as an earlier one that uses as much and leaves as free."""
        cheapest: dict[tuple[int, bool], int] = {}
        kept: list[Choice] = []
        for choice in choices:
            start, _, price, use = choice
            kind = (use, self.model.wants_buffer and self.pair(position, start))
            if price < cheapest.get(kind, IMPOSSIBLE):
                cheapest[kind] = price
                kept.append(choice)
        return tuple(kept)

    def pair(self, position: int, end: int) -> bool:
        """Whether two consecutive sections from `position` on and before `end` are free of courses."""
        free = ~self.courses & span_mask(position, max(0, end - position))
        return bool(free & (free >> 1))

    def _rest(self, content: int, past: Past) -> int:
        """The least cost of a day's rest: the given content and the fixed items not yet passed."""
        known = self._known.get((content, past))
        if known is not None:
            return known[0]
        passed = past[1]
        if not content and passed == len(self.fixed):
            return 0 if past[9] or self.pair(past[0], self.model.sections + 1) else W_BUFFER
        self.left -= 1
        if self.left < 0:
            raise TooIntricateError
        best: Found = (IMPOSSIBLE, 0, past, -1, 0)
        limit = self.model.sections + 1
        if passed < len(self.fixed):
            best = self._fixed_next(content, past)
            limit = best[4]
        best = self._free_next(content, past, limit, best)
        self._known[content, past] = best
        return best[0]

    def _fixed_next(self, content: int, past: Past) -> Found:
        """The rest of the day if the next fixed item comes before any free one."""
        position, passed, last, *_, roomy = past
        entry, price, use = self.fixed[passed]
        heavy = self.model.classes[entry.klass].heavy
        if heavy and self._weighs(last, entry.klass) and model_near(self.model, position, entry.start):
            price += W_HEAVY_ADJACENT
        over = max(0, past[8] + use - self.model.free_load) if use else 0
        price += W_OVERLOAD * over
        extra, tail = self._sequel(past, entry.klass, (entry.length + 1) // 2, heavy)
        end = max(position, entry.start + entry.length)
        after = (end, passed + 1, *tail, past[8] + use - over, roomy or self.pair(position, entry.start))
        return min(IMPOSSIBLE, price + extra + self._rest(content, after)), content, after, -1, entry.start

    def _free_next(self, content: int, past: Past, limit: int, best: Found) -> Found:
        """The better of `best` and the rest of the day with a free item next, which must end before `limit`."""
        position, passed, last, _, _, _, _, _, used, roomy = past
        free_load = self.model.free_load
        least = best[0]
        twins = 0
        bottom, steps = self.steps_of(content)
        for klass, rest, floor, blocks, heavy, again, heavy_later, twin, far, near in steps:
            if twin >= 0 and klass != last:
                if twins >> twin & 1:
                    continue
                twins |= 1 << twin
            choices = (near if heavy and self._weighs(last, klass) else far)[position]
            if not choices or choices[0][1] > limit:
                continue
            extra, tail = self._sequel(past, klass, blocks, heavy)
            if not again or not heavy_later:
                tail = _forgotten(tail, heavy, again, heavy_later)
            extra += floor
            for start, end, price, use in choices:
                if end > limit:
                    break
                price += extra
                counted = used + use
                if counted > free_load and use:
                    price += W_OVERLOAD * (counted - free_load)
                    counted = free_load
                if price >= least:
                    continue
                after = (end, passed, *tail, counted, roomy or self.pair(position, start))
                price += self._rest(rest, after) - floor
                if price < least:
                    least = price
                    best = (price, rest, after, klass, start)
                    if least <= bottom:
                        return best
        return best

    def _weighs(self, last: int, klass: int) -> bool:
        """Whether the last item is of a heavy class other than this one."""
        return last == HEAVY or (last >= 0 and last != klass and self.model.classes[last].heavy)

    def _sequel(
        self, past: Past, klass: int, blocks: int, heavy: bool
    ) -> tuple[int, tuple[int, int, int, int, int, int]]:
        """What an item adds to the cost by following the past, wherever it starts, and the sequence after it."""
        _, _, last, run, heavy_run, longest, heaviest, switches, _, _ = past
        price = 0
        if last == klass:
            run += blocks
        else:
            run = blocks
            if switches < self.model.free_switches:
                switches += 1
            else:
                price += W_SWITCHING
        if run > longest:
            price += W_LONG_BLOCK * (run - longest)
            longest = run
        heavy_run = heavy_run + blocks if heavy else 0
        if heavy_run > heaviest:
            price += W_HEAVY_RUN * (heavy_run - heaviest)
            heaviest = heavy_run
        return price, (klass, run, heavy_run, longest, heaviest, switches)


def _forgotten(
    tail: tuple[int, int, int, int, int, int], heavy: bool, again: bool, heavy_later: bool
) -> tuple[int, int, int, int, int, int]:
    """The sequence without what no later item can depend on."""
    klass, run, heavy_run, longest, heaviest, switches = tail
    if not again:
        klass, run = HEAVY if heavy and heavy_later else LIGHT, 0
    return klass, run, heavy_run if heavy_later else 0, longest, heaviest, switches


def model_near(model: CostModel, position: int, start: int) -> bool:
    """Whether an item that starts there is a neighbour in its period of one that ended just before `position`."""
    return start - position + 1 < HEAVY_REACH and model.period_of[position - 1] == model.period_of[start]


def place_cost(model: CostModel, entry: Entry) -> int:
    """The terms that depend only on where an item stands: avoided, unpreferred, evening_heavy."""
    traits, cost = model.classes[entry.klass], 0
    for section in range(entry.start, entry.start + entry.length, 2):
        period = model.period_of[section]
        cost += W_AVOIDED * traits.avoid[period] + W_UNPREFERRED * traits.unpreferred[period]
        cost += model.evening_weight * (traits.heavy and period == EVENING)
    return cost


def added_use(courses: int, entry: Entry) -> int:
    """Sections of an item that no course holds."""
    return (span_mask(entry.start, entry.length) & ~courses).bit_count()
