"""Where an item of a class may stand as far as window, class, courses and protections go (L2–L4, L7).

Places are sets of starts as bit masks: bit s of a day's mask is set where an item may start at section s.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from newagent.schedule.cost import CostModel, span_mask
from newagent.schedule.model import Day, ScheduleState, TaskClass
from newagent.schedule.rules import fits_day


class Places:
    """The legal starts of each class and length on each day, items left out of account; for the agent."""

    def __init__(self, state: ScheduleState, model: CostModel) -> None:
        self._state = state
        self._model = model
        self._hard = [0] * (model.days + 1)
        hosts: list[list[tuple[int, int]]] = [[] for _ in range(model.days + 1)]
        for course in state.courses:
            for slot in course.slots:
                mask = span_mask(slot.start, slot.end - slot.start + 1)
                if course.can_embed:
                    hosts[slot.day].append((course.id, mask))
                else:
                    self._hard[slot.day] |= mask
        self._hosts = [tuple(meetings) for meetings in hosts]
        self._legal: dict[tuple[int, int], list[int]] = {}
        self._days = [[day.day for day in state.window.days if self._open(c, day)] for c in state.task_classes]
        self._day_sets = [frozenset(days) for days in self._days]
        self._patterns: dict[tuple[int, int, tuple[tuple[int, int], ...], bool], int] = {}

    def legal(self, klass: int, length: int) -> Sequence[int]:
        """Legal starts by day, at any section; index 0 is unused."""
        known = self._legal.get((klass, length))
        if known is None:
            known = self._legal[klass, length] = self._compute(self._state.task_classes[klass], length)
        return known

    def days_of(self, klass: int, first: int, last: int) -> Sequence[int]:
        """The days from `first` to `last` that the class admits and nothing protects."""
        days = self._days[klass]
        return days[bisect_left(days, first) : bisect_right(days, last)]

    def admits(self, klass: int, day: int) -> bool:
        """Whether the class admits a day and nothing protects it."""
        return day in self._day_sets[klass]

    def free_starts(self, klass: int, length: int, day: int, busy: int) -> int:
        """The starts that placement uses on a day where `busy` holds the sections of other items.

        An item of even length starts on an odd section, one of odd length anywhere.
        """
        starts = self.legal(klass, length)[day]
        if length % 2 == 0:
            starts &= ODD_SECTIONS
        if not starts or not busy:
            return starts
        free = ~busy
        for _ in range(length):
            starts &= free
            free >>= 1
        return starts

    def host(self, day: int, start: int, length: int) -> int | None:
        """The first embeddable course that a place touches."""
        span = span_mask(start, length)
        return next((course for course, mask in self._hosts[day] if mask & span), None)

    def _open(self, task_class: TaskClass, day: Day) -> bool:
        if not task_class.admits(day):
            return False
        return not any(
            (shield.kind == "class" and shield.value == task_class.id)
            or (shield.kind == "day" and shield.value == day.day)
            or (shield.kind == "weekday" and shield.value == day.day_of_week)
            for shield in self._state.protections
        )

    def _compute(self, task_class: TaskClass, length: int) -> list[int]:
        window = self._state.window
        allowed = 0
        for start in range(1, window.sections + 1):
            blocks = range((start + 1) // 2, (start + length) // 2 + 1)
            if fits_day(window, start, length) and not any(block in task_class.excluded_slots for block in blocks):
                allowed |= 1 << start
        masks = [0]
        open_days = self._day_sets[self._model.index_of[task_class.id]]
        filler = task_class.allow_filler_course
        masks.extend(
            allowed & self._beside_courses(day, length, filler) if allowed and day in open_days else 0
            for day in range(1, self._model.days + 1)
        )
        return masks

    def _beside_courses(self, day: int, length: int, filler: bool) -> int:
        """Starts that touch no course, or lie wholly inside one meeting of exactly one embeddable course."""
        key = length, self._hard[day], self._hosts[day], filler
        known = self._patterns.get(key)
        if known is None:
            known = 0
            for start in range(1, self._model.sections + 1):
                span = span_mask(start, length)
                if span & self._hard[day]:
                    continue
                touched = [(course, mask) for course, mask in self._hosts[day] if mask & span]
                if not touched or (
                    filler
                    and len({course for course, _ in touched}) == 1
                    and any(mask & span == span for _, mask in touched)
                ):
                    known |= 1 << start
            self._patterns[key] = known
        return known


def bits_of(starts: int) -> list[int]:
    """A set of starts as a list, in order."""
    return [start for start in range(1, starts.bit_length()) if starts >> start & 1]


ODD_SECTIONS = sum(1 << section for section in range(1, 64, 2))
