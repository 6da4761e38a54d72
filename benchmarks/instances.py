"""Random timetables with task classes, drawn from a seed alone: the instances of every benchmark and soak test."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from typing import Any

from newagent.schedule.edits import Edited, place
from newagent.schedule.model import ScheduleState
from newagent.schedule.placement import feasibility, rough_build

PERIODS = {"morning": [1, 4], "afternoon": [5, 8], "evening": [9, 12]}
PROFILES = (
    ("quantitative", "high", "high"),
    ("memory", "medium", "medium"),
    ("reading", "low", "low"),
    ("mixed", "medium", "high"),
)


@dataclass(frozen=True)
class Recipe:
    """What an instance should look like: its size, and the share of the open sections that its items need."""

    items: int
    weeks: int
    occupancy: float
    classes: int | None = None
    dials: bool = True


def window(weeks: int, start: dt.date = dt.date(2026, 3, 2)) -> dict[str, Any]:
    """A window of whole weeks with the default day of 12 sections."""
    days = [
        {
            "day": index + 1,
            "week": index // 7 + 1,
            "day_of_week": index % 7 + 1,
            "date": (start + dt.timedelta(days=index)).isoformat(),
        }
        for index in range(7 * weeks)
    ]
    return {"sections": 12, "periods": PERIODS, "days": days}


def draw(seed: int, recipe: Recipe) -> ScheduleState:
    """The instance of a seed: all items pending, and a full placement exists.

    Courses fill the weeks until the items need about the wanted share of what is left; where that leaves no
    placement, the next attempt of the same seed has fewer courses.
    """
    for attempt in range(60):
        rng = random.Random(f"{seed}/{attempt}/{recipe}")
        document = _document(rng, recipe, recipe.occupancy * (1 - attempt / 60))
        state = ScheduleState.load(document)
        if feasibility(state, [task_class.id for task_class in state.task_classes])[2] == "ok":
            return state
    raise ValueError(f"no placement exists for {recipe} at any number of courses")


def _document(rng: random.Random, recipe: Recipe, occupancy: float) -> dict[str, Any]:
    frame = window(recipe.weeks)
    days = len(frame["days"])
    wanted = days * 12 - int(2 * recipe.items / occupancy)
    tasks = _courses(rng, days, max(0, wanted))
    count = recipe.classes or min(8, max(3, recipe.items // rng.randint(10, 22)))
    classes = [_task_class(rng, 10 + index, frame, recipe.dials) for index in range(count)]
    shares = [rng.randint(2, 6) for _ in classes]
    owners = sorted(rng.choices(range(count), weights=shares, k=recipe.items - count) + list(range(count)))
    tasks.extend(_items(len(tasks), [(classes[owner], 2) for owner in owners]))
    preferences = _preferences(rng, classes) if recipe.dials and rng.random() < 0.6 else {}
    return {
        "schema_version": 1,
        "window": frame,
        "tasks": tasks,
        "task_classes": classes,
        "preferences": preferences,
        "protections": [],
    }


def _items(courses: int, wanted: list[tuple[dict[str, Any], int]]) -> list[dict[str, Any]]:
    """Pending items, given as (class, duration), numbered after the courses."""
    items: list[dict[str, Any]] = []
    order: dict[int, int] = {}
    for task_class, duration in wanted:
        number = order[task_class["id"]] = order.get(task_class["id"], 0) + 1
        task_id = courses + len(items) + 1
        items.append(
            {
                "id": task_id,
                "source": "task_item",
                "source_id": 1000 + task_id,
                "name": f"{task_class['name']} {number}",
                "kind": "task",
                "task_class_id": task_class["id"],
                "order": number,
                "duration": duration,
                "status": "pending",
                "slots": [],
                "embed_host": None,
            }
        )
    return items


def _courses(rng: random.Random, days: int, wanted: int) -> list[dict[str, Any]]:
    """Weekly courses, some every other week, until they hold `wanted` sections; no two overlap."""
    taken: set[tuple[int, int]] = set()
    courses: list[dict[str, Any]] = []
    held = 0
    for _ in range(400):
        if held >= wanted:
            break
        weekday, start = rng.randint(1, 7), rng.choice((1, 3, 5, 7, 9, 11))
        length = min(rng.choice((2, 2, 2, 2, 3, 4)), 4 * ((start + 3) // 4) - start + 1)
        if weekday > 5 and rng.random() < 0.5:
            continue
        parity = rng.choice((None, None, 0, 1))
        meetings = [day for day in range(weekday, days + 1, 7) if parity is None or day // 7 % 2 == parity]
        span = [(day, section) for day in meetings for section in range(start, start + length)]
        if not span or taken.intersection(span):
            continue
        taken.update(span)
        held += len(span)
        courses.append(
            {
                "id": len(courses) + 1,
                "source": "event",
                "source_id": 100 + len(courses),
                "name": f"course {len(courses) + 1}",
                "kind": "course",
                "status": "existing",
                "locked": True,
                "can_embed": rng.random() < 0.2,
                "location": "A301",
                "slots": [{"day": day, "start": start, "end": start + length - 1} for day in meetings],
            }
        )
    return courses


def _task_class(rng: random.Random, class_id: int, frame: dict[str, Any], dials: bool) -> dict[str, Any]:
    days = frame["days"]
    first = rng.randint(0, len(days) // 3) if rng.random() < 0.7 else 0
    last = len(days) - 1 - (rng.randint(0, len(days) // 3) if rng.random() < 0.7 else 0)
    subject, difficulty, intensity = rng.choice(PROFILES)
    drawn: dict[str, Any] = {
        "id": class_id,
        "name": f"class {class_id}",
        "start_date": days[first]["date"],
        "end_date": days[last]["date"],
        "strategy": "rapid" if rng.random() < 0.25 else "steady",
        "allow_filler_course": rng.random() < 0.5,
        "excluded_slots": rng.sample(range(1, 7), rng.choice((0, 0, 1))),
        "excluded_days_of_week": rng.sample(range(1, 8), rng.choice((0, 0, 1))),
        "subject_type": subject,
        "difficulty_level": difficulty,
        "cognitive_intensity": intensity,
    }
    if dials and rng.random() < 0.3:
        drawn["time_of_day"] = {period: rng.randint(0, 2) for period in PERIODS}
    if dials and rng.random() < 0.4:
        drawn["aggregation"] = rng.choice(("cluster", "balanced", "interleave"))
    return drawn


def _preferences(rng: random.Random, classes: list[dict[str, Any]]) -> dict[str, Any]:
    def wishes() -> list[dict[str, Any]]:
        drawn: list[dict[str, Any]] = []
        for _ in range(rng.choice((0, 0, 1, 2))):
            wish: dict[str, Any] = {"period": rng.choice(tuple(PERIODS))}
            if rng.random() < 0.5:
                wish["task_class_id"] = rng.choice(classes)["id"]
            elif rng.random() < 0.7:
                wish["intensity"] = rng.choice(("low", "medium", "high"))
            drawn.append(wish)
        return drawn

    return {
        "avoid": wishes(),
        "prefer": wishes(),
        "load": rng.choice(("light", "balanced", "sprint")),
        "switching": rng.choice(("low", "balanced", "high")),
        "tolerance": rng.choice(("high", "balanced", "low")),
        "long_blocks": rng.choice((3, 4, 6)),
        "evening_heavy": rng.choice(("ok", "mild", "avoid")),
        "daily_cap": rng.choice((None, None, 4, 6, 8)),
    }


def varied(seed: int) -> ScheduleState:
    """The instance of a seed in the sizes that a student may have: 30–200 items, 2–16 weeks, 20–90 % occupied."""
    rng = random.Random(f"varied {seed}")
    weeks = rng.randint(2, 16)
    occupancy = rng.uniform(0.2, 0.9)
    items = rng.randint(30, min(200, max(30, int(weeks * 42 * min(occupancy, 0.6)))))
    return draw(seed, Recipe(items, weeks, occupancy))


def full(seed: int, extra: int = 0, share: float = 1.0) -> ScheduleState:
    """An instance in which every place that any class may use is needed, or a share of them; and `extra` items more.

    The items are counted off a random placement, so without extra ones they fit; the windows of the classes overlap
    partly, and some classes may use embeddable courses.
    """
    rng = random.Random(f"full {seed}")
    weeks = rng.randint(1, 3)
    frame = window(weeks)
    days = len(frame["days"])
    courses = _courses(rng, days, rng.randint(days, 6 * days))
    classes = [_task_class(rng, 10 + index, frame, dials=False) for index in range(rng.randint(2, 5))]
    document = {
        "schema_version": 1,
        "window": frame,
        "tasks": courses,
        "task_classes": classes,
        "preferences": {},
        "protections": [],
    }
    state = ScheduleState.load({**document, "tasks": [*courses, *_items(len(courses), [(one, 2) for one in classes])]})
    owners: list[int] = []
    for day in range(1, days + 1):
        for start in range(1, 12, 2):
            takers = [
                index
                for index, task_class in enumerate(state.task_classes)
                if isinstance(place(state, state.items_of[task_class.id][0].id, day, start), Edited)
            ]
            if takers:
                owners.append(rng.choice(takers))
    rng.shuffle(owners)
    owners = [*owners[: round(share * len(owners))], *rng.choices(owners, k=extra)]
    wanted = [(classes[owner], 2) for owner in sorted(owners)]
    return ScheduleState.load({**document, "tasks": [*courses, *_items(len(courses), wanted)]})


def half_suggested(state: ScheduleState, seed: int) -> ScheduleState:
    """The state, of which a placement exists, with about half of its items suggested.

    For even seeds they stand at random legal places, off the grid too; for odd ones where a placement has them, but for
    a few.
    """
    rng = random.Random(f"half {seed}")
    days, sections = len(state.window.days), state.window.sections
    solved = rough_build(state, [task_class.id for task_class in state.task_classes])
    assert isinstance(solved, Edited)
    for task in rng.sample(state.items, len(state.items) // 2):
        slot = solved.state.by_id[task.id].slot
        assert slot is not None
        wanted = (slot.day, slot.start)
        for _ in range(40):
            if seed % 2 == 0 or rng.random() < 0.05:
                wanted = (rng.randint(1, days), rng.randint(1, sections))
            outcome = place(state, task.id, *wanted)
            if isinstance(outcome, Edited):
                state = outcome.state
                break
    return state


def mixed(seed: int) -> ScheduleState:
    """A small instance with items of one to four sections, some of them more than fit."""
    rng = random.Random(f"mixed {seed}")
    frame = window(1)
    frame["days"] = frame["days"][: rng.randint(1, 3)]
    days = len(frame["days"])
    courses = _courses(rng, days, rng.randint(2 * days, 9 * days))
    classes = [_task_class(rng, 10 + index, frame, dials=False) for index in range(rng.randint(1, 3))]
    for task_class in classes:
        task_class["excluded_days_of_week"] = []
    wanted = [(rng.choice(classes), rng.choice((1, 1, 2, 2, 3, 4))) for _ in range(rng.randint(3, 7))]
    wanted.sort(key=lambda pair: pair[0]["id"])
    return ScheduleState.load(
        {
            "schema_version": 1,
            "window": frame,
            "tasks": [*courses, *_items(len(courses), wanted)],
            "task_classes": classes,
            "preferences": {},
            "protections": [],
        }
    )
