"""The state of a timetable: window, courses and items, task classes, preferences and protections.

Everything is frozen; a change makes a new state that shares what did not change. A document round-trips: fields that
were absent in the input stay absent in the output of `ScheduleState.dump`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from newagent.schedule.calendar import MAX_SECTIONS, PERIODS, Period
from newagent.schedule.faults import StateFault

SCHEMA_VERSION = 1

Level = Literal["low", "medium", "high"]
SubjectType = Literal["quantitative", "memory", "reading", "mixed"]
Status = Literal["existing", "suggested", "pending"]
Actor = Literal["agent", "user"]


class Frozen(BaseModel):
    """Base of all documents of the timetable: immutable, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def evolve(self, **changes: Any) -> Self:
        """A copy with some fields replaced; other fields keep whether they were set.

        Unlike `model_copy` it does not carry over cached properties. Values are not validated.
        """
        values = {name: self.__dict__[name] for name in type(self).model_fields}
        return type(self).model_construct(_fields_set={*self.model_fields_set, *changes}, **{**values, **changes})

    def resolve(self, **values: Any) -> None:
        """Fills in fields that the document left out, without marking them as set.

        Only for a document that nobody else holds yet: while it is loaded or made.
        """
        for name, value in values.items():
            object.__setattr__(self, name, value)


class Day(Frozen):
    """A day of the window. `assumed` marks one beyond the loaded data, taken to be free."""

    day: int = Field(ge=1)
    week: int = Field(ge=1)
    day_of_week: int = Field(ge=1, le=7)
    date: dt.date
    assumed: bool = False


class Window(Frozen):
    """A run of consecutive days of the semester, and how a day is divided."""

    sections: int = Field(ge=1, le=MAX_SECTIONS)
    periods: dict[Period, tuple[int, int]]
    days: tuple[Day, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for index, day in enumerate(self.days):
            if day.day != index + 1:
                raise ValueError(f"days must be numbered from 1 without gaps, not {day.day} at place {index + 1}")
            if day.date != self.days[0].date + dt.timedelta(days=index):
                raise ValueError(f"day {day.day} does not follow the day before it")
            if day.date.isoweekday() != day.day_of_week:
                raise ValueError(f"day {day.day}: {day.date} is not weekday {day.day_of_week}")
        covered: list[int] = []
        for name in PERIODS:
            if name in self.periods:
                first, last = self.periods[name]
                covered.extend(range(first, last + 1))
        if covered != list(range(1, self.sections + 1)):
            raise ValueError("periods must cover the sections 1 to the last once, in order")
        return self

    @cached_property
    def period_of(self) -> tuple[Period, ...]:
        """Period of each section; index 0 is unused (it repeats section 1)."""
        by_section: list[Period] = []
        for name in PERIODS:
            if name in self.periods:
                first, last = self.periods[name]
                by_section.extend(name for _ in range(first, last + 1))
        return (by_section[0], *by_section)


class Slot(Frozen):
    """A run of sections of one day, both ends included."""

    day: int = Field(ge=1)
    start: int = Field(ge=1)
    end: int = Field(ge=1)

    @model_validator(mode="after")
    def _runs_forward(self) -> Self:
        if self.end < self.start:
            raise ValueError("a slot must not end before it starts")
        return self


class Task(Frozen):
    """A course (one slot for each day on which it meets) or an item of a task class (one slot once placed).

    `duration` of an item is in sections and always filled in after loading, as is `embed_host`, the id of the
    embeddable course whose slot holds the item.
    """

    id: int
    source: Literal["event", "task_item"]
    source_id: int
    name: str
    kind: Literal["course", "task"]
    status: Status
    locked: bool = False
    can_embed: bool = False
    location: str | None = None
    task_class_id: int | None = None
    order: int | None = None
    duration: int | None = Field(default=None, ge=1)
    priority: int | None = Field(default=None, ge=1, le=4)
    slots: tuple[Slot, ...] = ()
    embed_host: int | None = None

    @model_validator(mode="after")
    def _shape(self) -> Self:
        if self.kind == "course":
            if self.status != "existing":
                raise ValueError(f"course {self.id} must be existing")
            if self.embed_host is not None:
                raise ValueError(f"course {self.id} cannot be embedded in another")
            return self
        if self.can_embed:
            raise ValueError(f"item {self.id}: only a course can host others")
        if (self.status == "pending") != (not self.slots):
            raise ValueError(f"item {self.id}: pending if and only if it has no slot")
        if len(self.slots) > 1:
            raise ValueError(f"item {self.id} has more than one slot")
        return self

    @property
    def is_item(self) -> bool:
        """Whether this is an item of a task class rather than a course."""
        return self.kind == "task"

    @property
    def slot(self) -> Slot | None:
        """Where an item stands, None while it is pending."""
        return self.slots[0] if self.slots else None

    @property
    def sections(self) -> int:
        """Length of an item in sections."""
        assert self.duration is not None, "durations are resolved when the state is made"
        return self.duration


class TaskClass(Frozen):
    """A body of work: its dates, how it wants to be spread, what it excludes, and its profile."""

    id: int
    name: str
    mode: Literal["auto", "manual"] = "auto"
    start_date: dt.date | None = None
    end_date: dt.date | None = None
    strategy: Literal["steady", "rapid"] = "steady"
    total_slots: int | None = Field(default=None, ge=1)
    allow_filler_course: bool = False
    excluded_slots: tuple[int, ...] = ()
    excluded_days_of_week: tuple[int, ...] = ()
    subject_type: SubjectType | None = None
    difficulty_level: Level | None = None
    cognitive_intensity: Level | None = None
    tolerance: Literal["high", "balanced", "low"] | None = None
    time_of_day: dict[Period, Literal[0, 1, 2]] | None = None
    aggregation: Literal["cluster", "balanced", "interleave"] | None = None
    milestones: tuple[Any, ...] = ()
    tags: tuple[str, ...] = ()
    notes: str = ""

    @model_validator(mode="after")
    def _shape(self) -> Self:
        if self.start_date and self.end_date and self.end_date < self.start_date:
            raise ValueError(f"class {self.id} ends before it starts")
        if any(not 1 <= day <= 7 for day in self.excluded_days_of_week):
            raise ValueError(f"class {self.id}: weekdays are 1 to 7")
        if any(block < 1 for block in self.excluded_slots):
            raise ValueError(f"class {self.id}: blocks are counted from 1")
        return self

    @property
    def is_heavy(self) -> bool:
        """A class is heavy if its cognitive intensity is high."""
        return self.cognitive_intensity == "high"

    def admits(self, day: Day) -> bool:
        """Whether a day is eligible: inside the class's dates and not an excluded weekday."""
        if self.start_date and day.date < self.start_date:
            return False
        if self.end_date and day.date > self.end_date:
            return False
        return day.day_of_week not in self.excluded_days_of_week

    @property
    def missing_profile(self) -> tuple[str, ...]:
        """The profile fields that are not given."""
        names = ("subject_type", "difficulty_level", "cognitive_intensity")
        return tuple(name for name in names if getattr(self, name) is None)


class PeriodWish(Frozen):
    """An `avoid` or a `prefer`: the fields given must all match; none given means every class."""

    period: Period
    task_class_id: int | None = None
    intensity: Level | None = None

    def speaks_of(self, task_class: TaskClass) -> bool:
        """Whether the wish applies to the items of a class."""
        if self.task_class_id is not None and self.task_class_id != task_class.id:
            return False
        return self.intensity is None or self.intensity == task_class.cognitive_intensity


class Preferences(Frozen):
    """The student's dials; an absent field has its default."""

    avoid: tuple[PeriodWish, ...] = ()
    prefer: tuple[PeriodWish, ...] = ()
    load: Literal["light", "balanced", "sprint"] = "balanced"
    switching: Literal["low", "balanced", "high"] = "balanced"
    tolerance: Literal["high", "balanced", "low"] = "balanced"
    long_blocks: Literal[3, 4, 6] = 4
    evening_heavy: Literal["ok", "mild", "avoid"] = "mild"
    daily_cap: int | None = Field(default=None, ge=0)


class Protection(Frozen):
    """Something that the agent must not write: a task, a class, a day of the window or a weekday."""

    kind: Literal["task", "class", "day", "weekday"]
    value: int


class ScheduleState(Frozen):
    """One version of a student's timetable, as the model, the tools and the judge see it."""

    schema_version: Literal[1] = SCHEMA_VERSION
    window: Window
    tasks: tuple[Task, ...] = ()
    task_classes: tuple[TaskClass, ...] = ()
    preferences: Preferences = Preferences()
    protections: tuple[Protection, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _check_references(self)
        _fill_in(self)
        return self

    @classmethod
    def load(cls, document: Any) -> ScheduleState:
        """Reads a JSON document. Raises `StateFault` with the path of every fault; a newer schema is named."""
        version: object = None
        if isinstance(document, Mapping):
            version = cast("Mapping[str, object]", document).get("schema_version")
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise StateFault(
                "snapshot_too_new", f"the state has schema {version}; this version reads up to {SCHEMA_VERSION}"
            )
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            faults = [f"{'.'.join(str(part) for part in e['loc']) or 'state'}: {e['msg']}" for e in error.errors()]
            raise StateFault("invalid_state", "; ".join(faults[:5]), faults) from None

    def dump(self) -> dict[str, Any]:
        """The state as a JSON document, without the fields that were never set."""
        return self.model_dump(mode="json", exclude_unset=True)

    @cached_property
    def by_id(self) -> Mapping[int, Task]:
        """Tasks by id."""
        return {task.id: task for task in self.tasks}

    @cached_property
    def class_by_id(self) -> Mapping[int, TaskClass]:
        """Task classes by id."""
        return {task_class.id: task_class for task_class in self.task_classes}

    def class_of(self, task: Task) -> TaskClass:
        """The class of an item."""
        assert task.task_class_id is not None
        return self.class_by_id[task.task_class_id]

    @cached_property
    def items_of(self) -> Mapping[int, tuple[Task, ...]]:
        """The items of each class in their order."""
        groups: dict[int, list[Task]] = {task_class.id: [] for task_class in self.task_classes}
        for task in self.tasks:
            if task.task_class_id is not None:
                groups[task.task_class_id].append(task)
        return {key: tuple(sorted(group, key=lambda task: task.order or 0)) for key, group in groups.items()}

    @cached_property
    def courses(self) -> tuple[Task, ...]:
        """The courses and other events."""
        return tuple(task for task in self.tasks if not task.is_item)

    @cached_property
    def items(self) -> tuple[Task, ...]:
        """The items of all classes, in order of loading."""
        return tuple(task for task in self.tasks if task.is_item)

    @cached_property
    def meetings(self) -> Mapping[int, tuple[tuple[Task, Slot], ...]]:
        """What stands on each day that holds anything: courses and items with the slot they have there."""
        days: dict[int, list[tuple[Task, Slot]]] = {}
        for task in self.tasks:
            for slot in task.slots:
                days.setdefault(slot.day, []).append((task, slot))
        return {day: tuple(held) for day, held in days.items()}

    @cached_property
    def order_bounds(self) -> Mapping[int, tuple[Slot | None, Slot | None]]:
        """For each item the last place of a lower-ordered and the first of a higher-ordered placed sibling."""
        bounds: dict[int, tuple[Slot | None, Slot | None]] = {}
        for items in self.items_of.values():
            last: Slot | None = None
            before: list[Slot | None] = []
            for item in items:
                before.append(last)
                place = item.slot
                if place is not None and (last is None or (place.day, place.end) > (last.day, last.end)):
                    last = place
            following: Slot | None = None
            for item, earlier in zip(reversed(items), reversed(before), strict=True):
                bounds[item.id] = earlier, following
                place = item.slot
                if place is not None and (
                    following is None or (place.day, place.start) < (following.day, following.start)
                ):
                    following = place
        return bounds

    @property
    def pending(self) -> tuple[Task, ...]:
        """The items that are not placed."""
        return tuple(task for task in self.items if task.status == "pending")

    def with_tasks(self, changed: Iterable[Task]) -> ScheduleState:
        """The state with some tasks replaced by their new selves."""
        replaced = {task.id: task for task in changed}
        return self.evolve(tasks=tuple(replaced.get(task.id, task) for task in self.tasks))


def _check_references(state: ScheduleState) -> None:
    seen: set[int] = set()
    orders: set[tuple[int, int]] = set()
    classes = {task_class.id for task_class in state.task_classes}
    if len(classes) != len(state.task_classes):
        raise ValueError("two task classes have the same id")
    courses = {task.id for task in state.tasks if task.kind == "course"}
    for task in state.tasks:
        if task.id in seen:
            raise ValueError(f"two tasks have the id {task.id}")
        seen.add(task.id)
        for slot in task.slots:
            if slot.day > len(state.window.days) or slot.end > state.window.sections:
                raise ValueError(f"task {task.id}: slot {slot.day}/{slot.start}-{slot.end} lies outside the window")
        if task.kind == "course":
            continue
        if task.task_class_id not in classes:
            raise ValueError(f"item {task.id}: unknown task class {task.task_class_id}")
        if task.order is None or (task.task_class_id, task.order) in orders:
            raise ValueError(f"item {task.id}: its order in class {task.task_class_id} is missing or repeated")
        orders.add((task.task_class_id, task.order))
        if task.embed_host is not None and task.embed_host not in courses:
            raise ValueError(f"item {task.id}: no course {task.embed_host} to be embedded in")


def _fill_in(state: ScheduleState) -> None:
    """Resolves durations and hosts that the document leaves out, without marking them as set."""
    count: dict[int, int] = {}
    for task in state.tasks:
        if task.task_class_id is not None:
            count[task.task_class_id] = count.get(task.task_class_id, 0) + 1
    totals = {task_class.id: task_class.total_slots for task_class in state.task_classes}
    for task in state.tasks:
        if not task.is_item:
            continue
        assert task.task_class_id is not None
        if task.duration is None:
            total, items = totals[task.task_class_id], count[task.task_class_id]
            task.resolve(duration=max(1, (2 * total + items) // (2 * items)) if total else 2)
        slot = task.slot
        if slot is not None and task.status == "suggested" and slot.end - slot.start + 1 != task.duration:
            raise ValueError(f"item {task.id}: its slot is not {task.duration} sections long")
        if slot is not None and "embed_host" not in task.model_fields_set:
            task.resolve(embed_host=host_of(state.courses, slot))


def host_of(courses: Iterable[Task], slot: Slot) -> int | None:
    """The embeddable course one of whose slots holds `slot` wholly, if there is exactly one; else None."""
    hosts = [
        course.id
        for course in courses
        if course.can_embed
        and any(s.day == slot.day and s.start <= slot.start and slot.end <= s.end for s in course.slots)
    ]
    return hosts[0] if len(hosts) == 1 else None
