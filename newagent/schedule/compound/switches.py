"""`min_context_switch`: the same places, other classes in them, so that a day changes from class to class less often.

The places that the items hold are filled anew, day by day. How many items of each class have been used up is all that
the rest of the window needs to know, since items of a class keep their order; so dynamic programming over the days
finds the fewest switches, and among those the least cost, exactly. Switches, the terms of a day and the deviations of
the items placed on it add up over the days.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from newagent.schedule.compound.work import Worker, workers
from newagent.schedule.cost import W_SPREAD, CostModel, Entry, entries_by_day, evaluate
from newagent.schedule.edits import Edited, finish
from newagent.schedule.judge.board import LINE
from newagent.schedule.judge.places import Places
from newagent.schedule.model import Actor, ScheduleState, Slot
from newagent.schedule.rules import Violation

NODES = 400_000
"""Partial assignments that are looked at before the search gives up; counted, so that it is the same everywhere."""

Counts = tuple[int, ...]
"""How many items of each class have been used."""


class Layout(NamedTuple):
    """A way to fill a day: its switches, its cost, and which of the `kinds` stands in each place in order of time."""

    switches: int
    cost: int
    kinds: tuple[int, ...]


class Step(NamedTuple):
    """The best way to a state: what it comes to, the state before, and the layout of the day."""

    switches: int
    cost: int
    before: Counts
    kinds: tuple[int, ...]


def min_context_switch(
    state: ScheduleState, task_ids: Sequence[int], actor: Actor = "agent", nodes: int = NODES
) -> Edited | Violation:
    """The state with the fewest switches that exchanging the items' places can give, ties by cost.

    `undecided` where the search would take more than so many nodes; the caller's state stands.
    """
    items = workers(state, task_ids, actor)
    if isinstance(items, Violation):
        return items
    kinds: dict[int, list[Worker]] = {}
    for item in items:
        kinds.setdefault(item.klass, []).append(item)
    seen = state if actor == "agent" else state.evolve(protections=())
    search = _Search(seen, list(kinds.values()), nodes)
    filled = search.run()
    if filled is None:
        return Violation("undecided", "too many ways to exchange these places; name fewer tasks", tuple(task_ids))
    targets: dict[int, Slot | None] = {}
    for kind, slots in enumerate(filled):
        for item, slot in zip(search.kinds[kind], slots, strict=True):
            if item.slot != slot:
                targets[item.task.id] = slot
    outcome = finish(state, targets, actor) if targets else Edited(state, ())
    if isinstance(outcome, Edited) and _goal(outcome.state) >= _goal(state):
        return Edited(state, ())
    return outcome


def _goal(state: ScheduleState) -> tuple[int, int]:
    value = evaluate(state)
    return sum(look.switch_count for look in value.looks), value.cost


class _Search:
    def __init__(self, state: ScheduleState, kinds: list[list[Worker]], nodes: int) -> None:
        self.kinds = kinds
        self._nodes = nodes
        self._model = CostModel(state)
        self._places = Places(state, self._model)
        self._targets = [self._targets_of(state, items) for items in kinds]
        by_day: dict[int, list[Slot]] = {}
        for slot in sorted((item.slot for items in kinds for item in items), key=lambda slot: (slot.day, slot.start)):
            by_day.setdefault(slot.day, []).append(slot)
        self._slots = by_day
        moving = {(item.slot.day, item.slot.start) for items in kinds for item in items}
        self._others = [
            [entry for entry in entries if (day, entry.start) not in moving]
            for day, entries in enumerate(entries_by_day(state, self._model))
        ]

    def run(self) -> list[list[Slot]] | None:
        """The places of the items of each class in their order; None if it takes too many nodes."""
        total: Counts = tuple(len(items) for items in self.kinds)
        limit = self._switches_now()
        layouts = {day: self._layouts(day, slots) for day, slots in self._slots.items()}
        least = {day: min(ways[0].switches for ways in by_counts.values()) for day, by_counts in layouts.items()}
        rest = sum(least.values())
        states: dict[Counts, tuple[int, int]] = {tuple(0 for _ in total): (0, 0)}
        history: list[dict[Counts, Step]] = []
        for day, by_counts in layouts.items():
            rest -= least[day]
            steps: dict[Counts, Step] = {}
            for used, (switches, cost) in sorted(states.items()):
                for counts, ways in by_counts.items():
                    self._nodes -= 1
                    after = tuple(a + b for a, b in zip(used, counts, strict=True))
                    if any(a > b for a, b in zip(after, total, strict=True)):
                        continue
                    way = next((way for way in ways if self._in_range(day, used, way)), None)
                    if way is None or switches + way.switches + rest > limit:
                        continue
                    step = Step(
                        switches + way.switches, cost + way.cost + self._spread(day, used, counts), used, way.kinds
                    )
                    known = steps.get(after)
                    if known is None or step < known:
                        steps[after] = step
                if self._nodes < 0:
                    return None
            history.append(steps)
            states = {counts: step[:2] for counts, step in steps.items()}
        return self._read_back(history, total)

    def _read_back(self, history: list[dict[Counts, Step]], total: Counts) -> list[list[Slot]]:
        filled: list[list[Slot]] = [[] for _ in self.kinds]
        counts = total
        for steps, slots in zip(reversed(history), reversed(self._slots.values()), strict=True):
            step = steps[counts]
            for kind, slot in zip(reversed(step.kinds), reversed(slots), strict=True):
                filled[kind].append(slot)
            counts = step.before
        return [slots[::-1] for slots in filled]

    def _switches_now(self) -> int:
        switches = 0
        for day in self._slots:
            mine = [(i.slot, i.klass) for items in self.kinds for i in items if i.slot.day == day]
            entries = [Entry(slot.start, slot.end - slot.start + 1, klass) for slot, klass in mine]
            switches += self._model.look(day, [*self._others[day], *entries]).switch_count
        return switches

    def _layouts(self, day: int, slots: list[Slot]) -> dict[Counts, list[Layout]]:
        """The ways to fill the places of a day, by how many items of each class they take, the best first."""
        found: dict[Counts, list[Layout]] = {}
        for kinds in self._fillings(day, slots):
            self._nodes -= 1
            entries = [
                Entry(slot.start, slot.end - slot.start + 1, self.kinds[kind][0].klass)
                for slot, kind in zip(slots, kinds, strict=True)
            ]
            look = self._model.look(day, [*self._others[day], *entries])
            cost = sum(self._model.day_terms(look))
            counts = tuple(kinds.count(kind) for kind in range(len(self.kinds)))
            layout = Layout(look.switch_count, cost + self._pairs(day, counts), kinds)
            found.setdefault(counts, []).append(layout)
        return {counts: sorted(ways) for counts, ways in sorted(found.items())}

    def _fillings(self, day: int, slots: list[Slot]) -> Iterator[tuple[int, ...]]:
        if not slots:
            yield ()
            return
        slot = slots[0]
        length = slot.end - slot.start + 1
        for kind, items in enumerate(self.kinds):
            fits = any(item.task.sections == length for item in items)
            if fits and self._places.legal(items[0].klass, length)[day] >> slot.start & 1:
                for rest in self._fillings(day, slots[1:]):
                    yield (kind, *rest)

    def _in_range(self, day: int, used: Counts, way: Layout) -> bool:
        """Whether the items that would come to stand there fit, and stay between their siblings that do not move."""
        following = list(used)
        for slot, kind in zip(self._slots[day], way.kinds, strict=True):
            item = self.kinds[kind][following[kind]]
            following[kind] += 1
            if slot.end - slot.start + 1 != item.task.sections:
                return False
            if not (item.after < day * LINE + slot.start and day * LINE + slot.end < item.before):
                return False
        return True

    def _pairs(self, day: int, counts: Counts) -> int:
        pairs = 0
        for items, count in zip(self.kinds, counts, strict=True):
            klass = items[0].klass
            there = count + sum(entry.klass == klass for entry in self._others[day])
            pairs += self._model.classes[klass].same_day_weight * (there * (there - 1) // 2)
        return pairs

    def _spread(self, day: int, used: Counts, counts: Counts) -> int:
        """The deviations of the items that would come to stand on the day."""
        return W_SPREAD * sum(
            abs(self._model.classes[items[0].klass].rank[day] - target)
            for items, targets, start, count in zip(self.kinds, self._targets, used, counts, strict=True)
            for target in targets[start : start + count]
        )

    def _targets_of(self, state: ScheduleState, items: list[Worker]) -> list[int]:
        model = self._model.classes[items[0].klass]
        placed = [task.id for task in state.items_of[model.id] if task.slot is not None]
        if not model.steady:
            return [0] * len(items)
        number = {task_id: k for k, task_id in enumerate(placed, start=1)}
        return [(2 * number[i.task.id] - 1) * model.eligible_days // (2 * len(placed)) for i in items]
