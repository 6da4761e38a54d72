"""The cost of a timetable: one integer that placement, candidates, compound tools and judge all share.

`Terms` are already weighted and add up to the cost. The first ten are sums over the days of the window, the last two
sums over the classes, so an edit can be costed by the days and classes it touches. The reasons for the terms and
their sources are told in docs/backend/judge.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from newagent.schedule.calendar import PERIODS, Period
from newagent.schedule.model import ScheduleState, Slot, TaskClass

DAY_TERMS = (
    "heavy_adjacent",
    "heavy_run",
    "long_block",
    "switching",
    "overload",
    "avoided",
    "unpreferred",
    "evening_heavy",
    "buffer",
    "cap",
)
CLASS_TERMS = ("spread", "same_day")
TERMS = (*DAY_TERMS, *CLASS_TERMS)

W_HEAVY_ADJACENT, W_HEAVY_RUN, W_LONG_BLOCK, W_SWITCHING, W_OVERLOAD = 40, 25, 15, 10, 5
W_AVOIDED, W_UNPREFERRED, W_EVENING_HEAVY, W_BUFFER, W_CAP = 20, 10, 4, 10, 20
W_SPREAD, W_SAME_DAY = 2, 12

FREE_HEAVY_RUN = 3
HEAVY_REACH = 3
"""Heavy entries whose sections are closer than this are adjacent: fewer than two sections lie between them."""
EVENING = PERIODS.index("evening")
FREE_SWITCHES = {"low": 1, "balanced": 2, "high": 4}
FREE_LOAD = {"light": 8, "balanced": 10, "sprint": 12}
EVENING_FACTOR = {"ok": 0, "mild": 1, "avoid": 5}
SAME_DAY_FACTOR = {"cluster": 0, "balanced": 1, "interleave": 2}


class Entry(NamedTuple):
    """A placed item as a day sees it: first section, length in sections, index of its class."""

    start: int
    length: int
    klass: int


class DayLook(NamedTuple):
    """What one day looks like; the definitions are those of the judge's specification."""

    entries: int
    switch_count: int
    max_block: int
    max_heavy_run: int
    heavy_adjacent: int
    used: int
    study: int
    avoided: int
    unpreferred: int
    evening_heavy_entries: int
    cramped: bool

    @property
    def fragmentation(self) -> float:
        """Share of the neighbours in the day's sequence that differ in class."""
        return self.switch_count / max(self.entries - 1, 1)


@dataclass(frozen=True)
class ClassModel:
    """What the cost needs to know of a class; `rank[d]` counts the eligible days before day d (1-based)."""

    id: int
    heavy: bool
    steady: bool
    avoid: tuple[bool, bool, bool]
    unpreferred: tuple[bool, bool, bool]
    same_day_weight: int
    rank: tuple[int, ...]
    eligible_days: int


class CostModel:
    """A state's preferences and classes compiled once; its methods are pure and take plain numbers.

    `classes[i]` and `index_of[class id]` map classes to indices; `course_mask[d]` has bit s set where a course holds
    section s of day d.
    """

    def __init__(self, state: ScheduleState) -> None:
        window, wishes = state.window, state.preferences
        self.sections = window.sections
        self.days = len(window.days)
        self.period_of = tuple(PERIODS.index(name) for name in window.period_of)
        self.classes = tuple(_class_model(state, task_class) for task_class in state.task_classes)
        self.index_of = {task_class.id: index for index, task_class in enumerate(state.task_classes)}
        masks = [0] * (self.days + 1)
        for course in state.courses:
            for slot in course.slots:
                masks[slot.day] |= span_mask(slot.start, slot.end - slot.start + 1)
        self.course_mask = tuple(masks)
        self.free_switches = FREE_SWITCHES[wishes.switching]
        self.free_block = wishes.long_blocks
        self.free_load = FREE_LOAD[wishes.load] * window.sections // 12
        self.evening_weight = W_EVENING_HEAVY * EVENING_FACTOR[wishes.evening_heavy]
        self.wants_buffer = wishes.tolerance == "high"
        self.daily_cap = wishes.daily_cap
        self._all_sections = span_mask(1, self.sections)
        self._standing: dict[Entry, tuple[int, int, int, int, int, bool]] = {}

    def look(self, day: int, entries: Iterable[Entry]) -> DayLook:
        """A day with the given items, in any order."""
        switches = run = block = heavy_run = max_heavy = adjacent = study = 0
        avoided = unpreferred = evening_heavy = count = 0
        mask = self.course_mask[day]
        last: Entry | None = None
        for entry in sorted(entries):
            start, length, klass = entry
            model = self.classes[klass]
            blocks = (length + 1) // 2
            count += blocks
            study += length
            mask |= span_mask(start, length)
            if last is not None and last.klass == klass:
                run += blocks
            else:
                switches += last is not None
                run = blocks
            block = max(block, run)
            heavy_run = heavy_run + blocks if model.heavy else 0
            max_heavy = max(max_heavy, heavy_run)
            if last is not None and last.klass != klass and model.heavy and self.classes[last.klass].heavy:
                end = last.start + last.length - 1
                adjacent += start - end < HEAVY_REACH and self.period_of[end] == self.period_of[start]
            for position in range(start, start + length, 2):
                period = self.period_of[position]
                avoided += model.avoid[period]
                unpreferred += model.unpreferred[period]
                evening_heavy += model.heavy and period == EVENING
            last = entry
        free = ~mask & self._all_sections
        return DayLook(
            count,
            switches,
            block,
            max_heavy,
            adjacent,
            mask.bit_count(),
            study,
            avoided,
            unpreferred,
            evening_heavy,
            not free & (free >> 1),
        )

    def day_terms(self, look: DayLook) -> tuple[int, ...]:
        """The ten weighted terms of a day, in the order of `DAY_TERMS`."""
        return (
            W_HEAVY_ADJACENT * look.heavy_adjacent,
            W_HEAVY_RUN * max(0, look.max_heavy_run - FREE_HEAVY_RUN),
            W_LONG_BLOCK * max(0, look.max_block - self.free_block),
            W_SWITCHING * max(0, look.switch_count - self.free_switches),
            W_OVERLOAD * max(0, look.used - self.free_load),
            W_AVOIDED * look.avoided,
            W_UNPREFERRED * look.unpreferred,
            self.evening_weight * look.evening_heavy_entries,
            W_BUFFER * (self.wants_buffer and look.cramped),
            W_CAP * max(0, look.study - self.daily_cap) if self.daily_cap is not None else 0,
        )

    def day_cost(self, day: int, entries: Sequence[Entry]) -> int:
        """The sum of a day's terms; `entries` in order of start.

        The same number as by way of `look`, several times faster: the searches ask for it thousands of times.
        """
        cost = switches = run = longest = heavy_run = longest_heavy = study = 0
        mask = self.course_mask[day]
        known, klass, end, end_period, after_heavy = self._standing, -1, 0, 0, False
        for entry in entries:
            standing = known.get(entry) or self._stand(entry)
            own, blocks, bits, period, last_period, heavy = standing
            cost += own
            mask |= bits
            study += entry[1]
            if entry[2] == klass:
                run += blocks
            else:
                switches += 1
                if heavy and after_heavy and end_period == period and entry[0] - end < HEAVY_REACH:
                    cost += W_HEAVY_ADJACENT
                run = blocks
                klass = entry[2]
            if run > longest:
                longest = run
            heavy_run = heavy_run + blocks if heavy else 0
            if heavy_run > longest_heavy:
                longest_heavy = heavy_run
            end, end_period, after_heavy = entry[0] + entry[1] - 1, last_period, heavy
        if longest_heavy > FREE_HEAVY_RUN:
            cost += W_HEAVY_RUN * (longest_heavy - FREE_HEAVY_RUN)
        if longest > self.free_block:
            cost += W_LONG_BLOCK * (longest - self.free_block)
        if switches - 1 > self.free_switches:
            cost += W_SWITCHING * (switches - 1 - self.free_switches)
        used = mask.bit_count()
        if used > self.free_load:
            cost += W_OVERLOAD * (used - self.free_load)
        if self.wants_buffer:
            free = ~mask & self._all_sections
            cost += W_BUFFER * (not free & (free >> 1))
        if self.daily_cap is not None and study > self.daily_cap:
            cost += W_CAP * (study - self.daily_cap)
        return cost

    def _stand(self, entry: Entry) -> tuple[int, int, int, int, int, bool]:
        """What an entry is on any day: own cost, blocks, sections, period of its first and last section, heavy."""
        start, length, klass = entry
        model, own = self.classes[klass], 0
        for position in range(start, start + length, 2):
            period = self.period_of[position]
            own += W_AVOIDED * model.avoid[period] + W_UNPREFERRED * model.unpreferred[period]
            own += self.evening_weight * (model.heavy and period == EVENING)
        ends = self.period_of[start], self.period_of[start + length - 1]
        standing = own, (length + 1) // 2, span_mask(start, length), *ends, model.heavy
        self._standing[entry] = standing
        return standing

    def class_terms(self, klass: int, days: Sequence[int]) -> tuple[int, int]:
        """Weighted spread and same_day of a class whose placed items, in order, stand on `days`."""
        model = self.classes[klass]
        ranks = [model.rank[day] for day in days]
        if not model.steady:
            return W_SPREAD * sum(ranks), 0
        count = len(ranks)
        deviation = sum(
            abs(rank - (2 * k - 1) * model.eligible_days // (2 * count)) for k, rank in enumerate(ranks, start=1)
        )
        if not model.same_day_weight:
            return W_SPREAD * deviation, 0
        on_day: dict[int, int] = {}
        for day in days:
            on_day[day] = on_day.get(day, 0) + 1
        pairs = sum(n * (n - 1) // 2 for n in on_day.values())
        return W_SPREAD * deviation, model.same_day_weight * pairs


def span_mask(start: int, length: int) -> int:
    """Bits `start` … `start + length - 1`."""
    return ((1 << length) - 1) << start


def _class_model(state: ScheduleState, task_class: TaskClass) -> ClassModel:
    wishes = state.preferences
    avoid = {wish.period for wish in wishes.avoid if wish.speaks_of(task_class)}
    prefer = {wish.period for wish in wishes.prefer if wish.speaks_of(task_class)}
    for period, weight in (task_class.time_of_day or {}).items():
        if weight == 0:
            avoid.add(period)
        elif weight == 2:
            prefer.add(period)
    rank, before = [0], 0
    for day in state.window.days:
        rank.append(before)
        before += task_class.admits(day)
    steady = task_class.strategy == "steady"
    return ClassModel(
        id=task_class.id,
        heavy=task_class.is_heavy,
        steady=steady,
        avoid=_by_period(lambda period: period in avoid),
        unpreferred=_by_period(lambda period: bool(prefer) and period not in prefer and period not in avoid),
        same_day_weight=W_SAME_DAY * SAME_DAY_FACTOR[task_class.aggregation or "balanced"] if steady else 0,
        rank=tuple(rank),
        eligible_days=before,
    )


def _by_period(holds: Callable[[Period], bool]) -> tuple[bool, bool, bool]:
    morning, afternoon, evening = (holds(period) for period in PERIODS)
    return morning, afternoon, evening


@dataclass(frozen=True)
class Valuation:
    """A state valued: number of pending items, weighted terms by name, their sum, and each day's look.

    `looks[0]` is day 1.
    """

    pending: int
    terms: dict[str, int]
    cost: int
    looks: tuple[DayLook, ...]

    @property
    def key(self) -> tuple[int, int]:
        """What two states are compared by: lower is better."""
        return self.pending, self.cost


def entries_by_day(state: ScheduleState, model: CostModel) -> list[list[Entry]]:
    """The placed items of each day; index 0 is unused."""
    days: list[list[Entry]] = [[] for _ in range(model.days + 1)]
    for task in state.items:
        slot = task.slot
        if slot is not None:
            assert task.task_class_id is not None
            length = slot.end - slot.start + 1
            days[slot.day].append(Entry(slot.start, length, model.index_of[task.task_class_id]))
    return days


def evaluate(state: ScheduleState, model: CostModel | None = None) -> Valuation:
    """Values a state. `model` spares compiling it anew where window, courses, classes and dials are the same."""
    model = model or CostModel(state)
    looks = tuple(model.look(day, entries) for day, entries in enumerate(entries_by_day(state, model)) if day)
    totals = [sum(column) for column in zip(*(model.day_terms(look) for look in looks), strict=True)]
    spread = same_day = 0
    for class_id, items in state.items_of.items():
        days = [task.slot.day for task in items if task.slot is not None]
        one, other = model.class_terms(model.index_of[class_id], days)
        spread, same_day = spread + one, same_day + other
    terms: dict[str, int] = dict(zip(TERMS, [*totals, spread, same_day], strict=True))
    return Valuation(len(state.pending), terms, sum(terms.values()), looks)


def revalue(state: ScheduleState, value: Valuation, targets: Mapping[int, Slot], model: CostModel) -> Valuation:
    """The valuation of `state` with some placed items elsewhere, from its own: only what they touch is valued anew.

    A day that they do not touch keeps the very same look.
    """
    days = {slot.day for task_id, to in targets.items() for slot in (*state.by_id[task_id].slots, to)}
    entries: dict[int, list[Entry]] = {day: [] for day in days}
    for day in days:
        for task, slot in state.meetings.get(day, ()):
            if task.task_class_id is not None and task.id not in targets:
                length = slot.end - slot.start + 1
                entries[day].append(Entry(slot.start, length, model.index_of[task.task_class_id]))
    terms, looks = dict(value.terms), list(value.looks)
    classes = {state.class_of(state.by_id[task_id]).id for task_id in targets}
    for task_id, slot in targets.items():
        klass = model.index_of[state.class_of(state.by_id[task_id]).id]
        entries[slot.day].append(Entry(slot.start, slot.end - slot.start + 1, klass))
    for day, held in entries.items():
        look = model.look(day, held)
        for name, old, new in zip(DAY_TERMS, model.day_terms(looks[day - 1]), model.day_terms(look), strict=True):
            terms[name] += new - old
        looks[day - 1] = look
    for class_id in classes:
        items = [task for task in state.items_of[class_id] if task.slots]
        old = model.class_terms(model.index_of[class_id], [task.slots[0].day for task in items])
        new = model.class_terms(model.index_of[class_id], [targets.get(task.id, task.slots[0]).day for task in items])
        for name, one, other in zip(CLASS_TERMS, old, new, strict=True):
            terms[name] += other - one
    return Valuation(value.pending, terms, sum(terms.values()), tuple(looks))
