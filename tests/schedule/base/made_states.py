"""States made up from a source of choices: any shape of day, courses, classes, dials, protections and placements."""

from __future__ import annotations

import datetime as dt
from random import Random
from typing import Any

from newagent.schedule.edits import Edited, place
from newagent.schedule.model import ScheduleState

MONDAY = dt.date(2026, 3, 2)
SHAPES = (
    {"morning": [1, 4], "afternoon": [5, 8], "evening": [9, 12]},
    {"morning": [1, 5], "afternoon": [6, 9], "evening": [10, 13]},
    {"morning": [1, 4], "afternoon": [5, 6], "evening": [7, 10]},
    {"morning": [1, 3], "afternoon": [4, 8]},
    {"afternoon": [1, 4], "evening": [5, 11]},
)


def days(first: dt.date, count: int) -> list[dict[str, Any]]:
    """The days of a window, weeks counted from the week of 2026-03-02."""
    made: list[dict[str, Any]] = []
    for index in range(count):
        date = first + dt.timedelta(days=index)
        week = (date - MONDAY).days // 7 + 1
        made.append({"day": index + 1, "week": week, "day_of_week": date.isoweekday(), "date": date.isoformat()})
    return made


def document(rng: Random, *, classes: int = 3, items: int = 8, span: int = 10) -> dict[str, Any]:
    """A state as JSON with facts, but nothing suggested yet; the numbers are the most there may be."""
    shape = rng.choice(SHAPES)
    sections = max(last for _, last in shape.values())
    count = rng.randint(3, span)
    window = days(MONDAY + dt.timedelta(days=rng.randint(0, 6)), count)
    tasks: list[dict[str, Any]] = []
    for _ in range(rng.randint(0, 5)):
        tasks.append(_course(rng, len(tasks) + 1, count, sections))
    made = [_task_class(rng, 10 * (index + 1), window) for index in range(rng.randint(1, classes))]
    for task_class in made:
        orders = rng.sample(range(1, 2 * items + 1), rng.randint(1, items))
        usual = rng.choice((1, 2, 2, 2, 3))
        for order in sorted(orders, key=lambda order: (rng.random(), order)):
            tasks.append(_item(rng, len(tasks) + 1, task_class["id"], order, usual, count, sections))
    numbers = [task["id"] for task in tasks]
    return {
        "schema_version": 1,
        "window": {"sections": sections, "periods": shape, "days": window},
        "tasks": tasks,
        "task_classes": made,
        "preferences": _preferences(rng, made),
        "protections": [_protection(rng, numbers, made, count) for _ in range(rng.choice((0, 0, 1, 2)))],
    }


def made_state(rng: Random, *, share: float = 1.0, **size: int) -> ScheduleState:
    """A state with about that share of its items placed at random, legally."""
    state = ScheduleState.load(document(rng, **size))
    for task in state.pending:
        if rng.random() < share:
            state = _somewhere(rng, state, task.id)
    return state


def _somewhere(rng: Random, state: ScheduleState, task_id: int) -> ScheduleState:
    for _ in range(12):
        day, start = rng.randint(1, len(state.window.days)), rng.randint(1, state.window.sections)
        outcome = place(state, task_id, day, start, "user")
        if isinstance(outcome, Edited):
            return outcome.state
    return state


def _course(rng: Random, number: int, count: int, sections: int) -> dict[str, Any]:
    length = rng.choice((1, 2, 2, 3, 4))
    slots = [
        {"day": day, "start": start, "end": min(sections, start + length - 1)}
        for day in sorted(rng.sample(range(1, count + 1), rng.randint(1, min(3, count))))
        for start in (rng.randint(1, sections),)
    ]
    return {
        "id": number,
        "source": "event",
        "source_id": 100 + number,
        "name": f"course {number}",
        "kind": "course",
        "status": "existing",
        "locked": rng.random() < 0.5,
        "can_embed": rng.random() < 0.5,
        "location": "A301",
        "slots": slots,
    }


def _task_class(rng: Random, number: int, window: list[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": number,
        "name": f"class {number}",
        "strategy": rng.choice(("steady", "steady", "rapid")),
        "allow_filler_course": rng.random() < 0.6,
        "excluded_slots": rng.sample(range(1, 7), rng.choice((0, 0, 1))),
        "excluded_days_of_week": rng.sample(range(1, 8), rng.choice((0, 0, 1, 2))),
        "subject_type": rng.choice(("quantitative", "memory", "reading", "mixed")),
        "difficulty_level": rng.choice(("low", "medium", "high")),
        "cognitive_intensity": rng.choice(("low", "medium", "high", "high")),
    }
    if rng.random() < 0.5:
        first = rng.randint(0, len(window) // 2)
        made["start_date"] = window[first]["date"]
        made["end_date"] = window[rng.randint(first, len(window) - 1)]["date"]
    if rng.random() < 0.4:
        made["time_of_day"] = {"morning": rng.randint(0, 2), "evening": rng.randint(0, 2)}
    if rng.random() < 0.5:
        made["aggregation"] = rng.choice(("cluster", "balanced", "interleave"))
    return made


def _item(rng: Random, number: int, class_id: int, order: int, usual: int, count: int, sections: int) -> dict[str, Any]:
    length = usual if rng.random() < 0.8 else rng.randint(1, 5)
    made: dict[str, Any] = {
        "id": number,
        "source": "task_item",
        "source_id": 200 + number,
        "name": f"item {number}",
        "kind": "task",
        "task_class_id": class_id,
        "order": order,
        "duration": length,
        "status": "pending",
        "slots": [],
        "locked": rng.random() < 0.05,
    }
    if rng.random() < 0.1 and length <= sections:
        start = rng.randint(1, sections - length + 1)
        made["status"] = "existing"
        made["slots"] = [{"day": rng.randint(1, count), "start": start, "end": start + length - 1}]
    return made


def _preferences(rng: Random, classes: list[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    choices: dict[str, tuple[Any, ...]] = {
        "load": ("light", "balanced", "sprint"),
        "switching": ("low", "balanced", "high"),
        "tolerance": ("high", "balanced", "low"),
        "long_blocks": (3, 4, 6),
        "evening_heavy": ("ok", "mild", "avoid"),
        "daily_cap": (0, 2, 4, 6, None),
    }
    for name, values in choices.items():
        if rng.random() < 0.5:
            made[name] = rng.choice(values)
    for name in ("avoid", "prefer"):
        if rng.random() < 0.4:
            wish: dict[str, Any] = {"period": rng.choice(("morning", "afternoon", "evening"))}
            if rng.random() < 0.5:
                wish["task_class_id"] = rng.choice(classes)["id"]
            if rng.random() < 0.3:
                wish["intensity"] = rng.choice(("low", "high"))
            made[name] = [wish]
    return made


def _protection(rng: Random, numbers: list[int], classes: list[dict[str, Any]], count: int) -> dict[str, Any]:
    kind = rng.choice(("task", "class", "day", "weekday"))
    values = {
        "task": numbers,
        "class": [task_class["id"] for task_class in classes],
        "day": list(range(1, count + 1)),
        "weekday": list(range(1, 8)),
    }
    return {"kind": kind, "value": rng.choice(values[kind])}
