"""A placement compiled to numbers: which items are free, and where each of them may start.

Everything that is fixed (courses, `existing` and locked items, suggested items that stay) is folded into masks of
closed sections and into the range that the placed siblings leave to a free item, so that the solvers see plain
integers only. A place in time is one number, `day * STRIDE + section`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from newagent.schedule.cost import CostModel, Entry, span_mask
from newagent.schedule.model import ScheduleState, Task
from newagent.schedule.rules import fits_day, fixed, order_range, protection_of

STRIDE = 32
"""More than the sections of any day, so that `day * STRIDE + section` orders places in time."""

FOREVER = 1 << 30

Place = tuple[int, int]
"""Day (1-based) and first section of an item."""


@dataclass(frozen=True, slots=True)
class FreeItem:
    """An item to be placed.

    It must lie after `after` and before `before`, both places in time held by placed siblings (L5). `rank` is its
    number, from 1, among the items of its class that will be placed. A `barred` item may not be placed by the agent:
    it is locked or protected, and has no legal start. `home` is where a freed suggested item stands now.
    """

    task_id: int
    klass: int
    duration: int
    rank: int
    after: int
    before: int
    barred: bool
    home: Place | None


@dataclass(frozen=True)
class Problem:
    """The free items of some classes, by class and order, and what is left of the timetable for them."""

    state: ScheduleState
    items: tuple[FreeItem, ...]
    closed: tuple[int, ...]
    hosts: tuple[tuple[tuple[int, ...], ...], ...]
    guarded_days: frozenset[int]
    _starts: dict[tuple[int, int], tuple[tuple[int, ...], ...]] = field(
        default_factory=dict[tuple[int, int], tuple[tuple[int, ...], ...]]
    )

    @cached_property
    def model(self) -> CostModel:
        """The cost of the state's classes and days."""
        return CostModel(self.state)

    @property
    def days(self) -> int:
        """Number of days of the window."""
        return len(self.state.window.days)

    @property
    def sections(self) -> int:
        """Number of sections of a day."""
        return self.state.window.sections

    @cached_property
    def of_class(self) -> dict[int, tuple[int, ...]]:
        """Numbers of the free items of each class (by class index), in order."""
        groups: dict[int, list[int]] = {}
        for number, item in enumerate(self.items):
            groups.setdefault(item.klass, []).append(number)
        return {klass: tuple(numbers) for klass, numbers in groups.items()}

    @cached_property
    def sizes(self) -> dict[int, int]:
        """How many items of each class (by class index) stand once all free items are placed."""
        free_ids = {item.task_id for item in self.items}
        return {
            self.model.index_of[class_id]: sum(bool(task.slots) or task.id in free_ids for task in items)
            for class_id, items in self.state.items_of.items()
        }

    def admits(self, klass: int, day: int) -> bool:
        """Whether a day is eligible for a class (by class index)."""
        return self.state.task_classes[klass].admits(self.state.window.days[day - 1])

    def fixed_days(self, klass: int) -> list[int]:
        """The days of the placed items of a class (by class index) that are not free, in order of the items."""
        free_ids = {item.task_id for item in self.items}
        items = self.state.items_of[self.state.task_classes[klass].id]
        return [task.slot.day for task in items if task.slot is not None and task.id not in free_ids]

    def class_starts(self, klass: int, duration: int) -> tuple[tuple[int, ...], ...]:
        """Legal starts (L1–L4, L7) of an item of that class and duration on each day; index 0 is unused."""
        key = (klass, duration)
        found = self._starts.get(key)
        if found is None:
            found = self._starts[key] = self._find_starts(klass, duration)
        return found

    def starts(self, item: FreeItem, day: int) -> tuple[int, ...]:
        """Legal starts of an item on a day, the range left by its placed siblings included."""
        if item.barred:
            return ()
        starts = self.class_starts(item.klass, item.duration)[day]
        low, high = item.after - day * STRIDE, item.before - day * STRIDE - item.duration
        if low >= self.sections or high < 1:
            return ()
        return tuple(start for start in starts if low < start <= high)

    def home_start(self, item: FreeItem) -> Place | None:
        """The place of a freed item that is legal to keep although no placement would start there."""
        if item.home is None or item.barred:
            return None
        day, start = item.home
        if start % 2 == 1 or item.duration % 2 == 1 or not item.after < day * STRIDE + start:
            return None
        if not day * STRIDE + start + item.duration - 1 < item.before:
            return None
        return item.home if self._legal(item.klass, day, start, item.duration) else None

    def on_grid(self, item: FreeItem, place: Place) -> bool:
        """Whether a place is one that placement would choose, not just one to keep."""
        return place[1] in self.starts(item, place[0])

    def without_homes(self) -> Problem:
        """The problem without the right of freed items to stay at a start off the grid."""
        return replace(self, items=tuple(replace(item, home=None) for item in self.items))

    def _find_starts(self, klass: int, duration: int) -> tuple[tuple[int, ...], ...]:
        task_class, window = self.state.task_classes[klass], self.state.window
        grid = [
            (start, span_mask(start, duration))
            for start in range(1, window.sections - duration + 2, 2 if duration % 2 == 0 else 1)
            if fits_day(window, start, duration)
        ]
        shut = excluded_mask(self.state, klass)
        grid = [(start, span) for start, span in grid if not span & shut]
        found: list[tuple[int, ...]] = [()]
        for day in window.days:
            if day.day in self.guarded_days or not task_class.admits(day):
                found.append(())
                continue
            closed = self.closed[day.day]
            hosts = self.hosts[day.day]
            found.append(
                tuple(
                    start
                    for start, span in grid
                    if not span & closed and (not hosts or _hosted(hosts, span, task_class.allow_filler_course))
                )
            )
        return tuple(found)

    def _legal(self, klass: int, day: int, start: int, duration: int) -> bool:
        task_class, window = self.state.task_classes[klass], self.state.window
        span = span_mask(start, duration)
        return (
            fits_day(window, start, duration)
            and day not in self.guarded_days
            and task_class.admits(window.days[day - 1])
            and not span & (self.closed[day] | excluded_mask(self.state, klass))
            and _hosted(self.hosts[day], span, task_class.allow_filler_course)
        )


def excluded_mask(state: ScheduleState, klass: int) -> int:
    """The sections of the blocks that a class (by index) excludes."""
    mask = 0
    for block in state.task_classes[klass].excluded_slots:
        mask |= span_mask(2 * block - 1, 2)
    return mask


def _hosted(hosts: Sequence[tuple[int, ...]], span: int, allowed: bool) -> bool:
    """L2: whether a span touches no embeddable course, or lies inside one meeting of exactly one, if allowed.

    `hosts` holds, for each embeddable course of the day, the masks of its meetings.
    """
    touched = [meetings for meetings in hosts if any(span & mask for mask in meetings)]
    if not touched:
        return True
    return allowed and len(touched) == 1 and any(span & mask == span for mask in touched[0])


def movable(state: ScheduleState, task: Task) -> bool:
    """Whether the agent may write an item where it stands (L6, L7)."""
    return not fixed(task) and protection_of(state, task, task.slot) is None


def compile_problem(state: ScheduleState, class_ids: Collection[int], freed: Collection[int] = ()) -> Problem:
    """The placement of the pending items of `class_ids`, where the suggested items of the classes `freed` that the
    agent may move are free as well."""
    free: list[Task] = [
        task
        for task in state.items
        if (task.status == "pending" and task.task_class_id in class_ids)
        or (task.status == "suggested" and task.task_class_id in freed and movable(state, task))
    ]
    free_ids = {task.id for task in free}
    bare = state if not freed else _without(state, free_ids)
    index_of = {task_class.id: index for index, task_class in enumerate(state.task_classes)}
    ranks = _ranks(state, free_ids)
    items: list[FreeItem] = []
    for task in free:
        assert task.task_class_id is not None
        earlier, later = order_range(bare, task)
        items.append(
            FreeItem(
                task_id=task.id,
                klass=index_of[task.task_class_id],
                duration=task.sections,
                rank=ranks[task.id],
                after=earlier.day * STRIDE + earlier.end if earlier else 0,
                before=later.day * STRIDE + later.start if later else FOREVER,
                barred=not movable(state, task),
                home=(task.slots[0].day, task.slots[0].start) if task.slots else None,
            )
        )
    items.sort(key=lambda item: (item.klass, item.rank))
    closed, hosts = _occupation(state, free_ids)
    guarded = {
        day.day
        for day in state.window.days
        for shield in state.protections
        if (shield.kind == "day" and shield.value == day.day)
        or (shield.kind == "weekday" and shield.value == day.day_of_week)
    }
    return Problem(state, tuple(items), closed, hosts, frozenset(guarded))


def _without(state: ScheduleState, task_ids: Collection[int]) -> ScheduleState:
    """The state with the given items pending."""
    lifted = (task.evolve(status="pending", slots=()) for task in state.items if task.id in task_ids and task.slots)
    return state.with_tasks(lifted)


def _ranks(state: ScheduleState, free_ids: Collection[int]) -> dict[int, int]:
    """Number, from 1, of each item among those of its class that are placed or free."""
    ranks: dict[int, int] = {}
    for items in state.items_of.values():
        kept = [task for task in items if task.slots or task.id in free_ids]
        ranks.update((task.id, number) for number, task in enumerate(kept, start=1))
    return ranks


def _occupation(
    state: ScheduleState, free_ids: Collection[int]
) -> tuple[tuple[int, ...], tuple[tuple[tuple[int, ...], ...], ...]]:
    """Per day the sections that no free item may use, and the meetings of embeddable courses by course."""
    days = len(state.window.days)
    closed = [0] * (days + 1)
    hosts: list[dict[int, list[int]]] = [{} for _ in range(days + 1)]
    for task in state.tasks:
        if task.id in free_ids:
            continue
        for slot in task.slots:
            mask = span_mask(slot.start, slot.end - slot.start + 1)
            if task.can_embed:
                hosts[slot.day].setdefault(task.id, []).append(mask)
            else:
                closed[slot.day] |= mask
    return tuple(closed), tuple(tuple(tuple(masks) for masks in by_course.values()) for by_course in hosts)


def fixed_entries(problem: Problem) -> list[list[Entry]]:
    """The placed items of each day that are not free, as the cost sees them; index 0 is unused."""
    free_ids = {item.task_id for item in problem.items}
    days: list[list[Entry]] = [[] for _ in range(problem.days + 1)]
    for task in problem.state.items:
        slot = task.slot
        if slot is not None and task.id not in free_ids:
            assert task.task_class_id is not None
            length = slot.end - slot.start + 1
            days[slot.day].append(Entry(slot.start, length, problem.model.index_of[task.task_class_id]))
    return days
