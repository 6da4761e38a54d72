"""Small timetables written by hand."""

from __future__ import annotations

from typing import Any

from newagent.schedule.model import ScheduleState
from tests.schedule.base.made_states import MONDAY, days

PERIODS = {"morning": [1, 4], "afternoon": [5, 8], "evening": [9, 12]}


def course(number: int, *slots: tuple[int, int, int], can_embed: bool = False) -> dict[str, Any]:
    """A course that meets in the given (day, first section, last section)."""
    return {
        "id": number,
        "source": "event",
        "source_id": 100 + number,
        "name": f"course {number}",
        "kind": "course",
        "status": "existing",
        "locked": True,
        "can_embed": can_embed,
        "location": "",
        "slots": [{"day": day, "start": start, "end": end} for day, start, end in slots],
    }


def item(
    number: int, class_id: int, order: int, at: tuple[int, int] | None = None, *, length: int = 2, **more: Any
) -> dict[str, Any]:
    """An item of a class, placed at (day, first section) or pending."""
    slots = [{"day": at[0], "start": at[1], "end": at[1] + length - 1}] if at else []
    return {
        "id": number,
        "source": "task_item",
        "source_id": 200 + number,
        "name": f"item {number}",
        "kind": "task",
        "task_class_id": class_id,
        "order": order,
        "duration": length,
        "status": "suggested" if at else "pending",
        "slots": slots,
        **more,
    }


def task_class(number: int, **more: Any) -> dict[str, Any]:
    """A class of low intensity with a whole profile."""
    return {
        "id": number,
        "name": f"class {number}",
        "strategy": "steady",
        "subject_type": "reading",
        "difficulty_level": "low",
        "cognitive_intensity": "low",
        **more,
    }


def heavy(number: int, **more: Any) -> dict[str, Any]:
    """A class of high intensity."""
    return task_class(number, **{"cognitive_intensity": "high", **more})


def timetable(
    tasks: list[dict[str, Any]], classes: list[dict[str, Any]], *, span: int = 7, **more: Any
) -> dict[str, Any]:
    """The document of a state whose window starts on Monday 2026-03-02, twelve sections a day."""
    return {
        "schema_version": 1,
        "window": {"sections": 12, "periods": PERIODS, "days": days(MONDAY, span)},
        "tasks": tasks,
        "task_classes": classes,
        "preferences": {},
        "protections": [],
        **more,
    }


def state_of(tasks: list[dict[str, Any]], classes: list[dict[str, Any]], **more: Any) -> ScheduleState:
    """The same as a state."""
    return ScheduleState.load(timetable(tasks, classes, **more))
