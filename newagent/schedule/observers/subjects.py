"""`analyze_subjects`: how each class is spread over its days, and how far its budget has come."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import inf
from typing import Any, Literal, NamedTuple

from newagent.schedule.envelope import Schema, Severity, issue, next_action, ratio
from newagent.schedule.model import ScheduleState, TaskClass
from newagent.schedule.observers.query import Detail, Findings, Query, Unusable, observe, std

TOOL = "analyze_subjects"
LONG_GAP, RATHER_LONG_GAP = 6, 4
CONCENTRATED, RATHER_CONCENTRATED = 0.85, 0.70
BEHIND, NEAR = 0.4, 7
SCHEMA: Schema = {
    "subjects[].task_count": ("items of the class that are looked at", "items", "neutral"),
    "subjects[].placed": ("items with a place, applied ones included", "items", "neutral"),
    "subjects[].pending": ("items without a place; null where they are not looked at", "items", "lower"),
    "subjects[].present_days": ("days of the window with an item of the class", "days", "neutral"),
    "subjects[].gaps": ("days without the class between one such day and the next", "days", "neutral"),
    "subjects[].max_gap": ("longest gap; avg_gap, min_gap and std_gap likewise", "days", "lower"),
    "subjects[].concentration": (
        "normalised Herfindahl index of the sections by eligible day",
        "0 even – 1 one day",
        "lower",
    ),
    "subjects[].budget_progress": ("placed sections / total_slots; null without a budget", "ratio", "higher"),
    "subjects[].days_to_end": ("days from the first day of the window to the class's end", "days", "neutral"),
}


class SubjectsQuery(Query):
    """Which class (by name or number, all if none), and whether its pending items are looked at."""

    category: str | None = None
    include_pending: bool = True
    detail: Detail = "summary"


class _Subject(NamedTuple):
    """A class with the sections of its placed items by day, and its metrics."""

    task_class: TaskClass
    by_day: dict[int, int]
    max_gap: int
    concentration: float
    progress: float | None
    days_to_end: int | None
    row: dict[str, Any]


def analyze_subjects(state: ScheduleState, **arguments: Any) -> dict[str, Any]:
    """The spread of the classes as an envelope; arguments are those of `SubjectsQuery`. An unknown category is a
    success with no subjects."""
    return observe(TOOL, SubjectsQuery, _look, state, arguments)


def _look(state: ScheduleState, query: SubjectsQuery) -> Findings:
    if not state.task_classes:
        raise Unusable("insufficient_data", "there are no task classes")
    wanted = [c for c in state.task_classes if query.category in (None, c.name, str(c.id))]
    subjects = [_subject(state, query, task_class) for task_class in wanted]
    issues = [found for subject in subjects for found in _issues(query, subject)]
    order = {"critical": 0, "warning": 1}
    issues.sort(key=lambda found: order[found["severity"]])
    if not issues:
        issues = [
            issue(
                f"rhythm_c{subject.task_class.id}",
                "subjects",
                "info",
                ("std_gap", ">", 0, subject.row["std_gap"]),
                task_class_id=subject.task_class.id,
            )
            for subject in subjects
            if subject.row["std_gap"] > 0
        ]
    metrics = {"subjects": [subject.row for subject in subjects]}
    return Findings(SCHEMA, metrics, issues, _actions(state, query, subjects, issues))


def _subject(state: ScheduleState, query: SubjectsQuery, task_class: TaskClass) -> _Subject:
    items = state.items_of[task_class.id]
    by_day: dict[int, int] = {}
    for item in items:
        if item.slot is not None:
            by_day[item.slot.day] = by_day.get(item.slot.day, 0) + item.slot.end - item.slot.start + 1
    present = sorted(by_day)
    gaps = [following - day - 1 for day, following in pairwise(present)]
    used, placed = sum(by_day.values()), sum(item.slot is not None for item in items)
    progress = used / task_class.total_slots if task_class.total_slots else None
    start, end = state.window.days[0].date, task_class.end_date
    days_to_end = (end - start).days if end else None
    index = concentration(list(by_day.values()), sum(task_class.admits(day) for day in state.window.days))
    row: dict[str, Any] = {
        "task_class_id": task_class.id,
        "category": task_class.name,
        "task_count": len(items) if query.include_pending else placed,
        "placed": placed,
        "pending": len(items) - placed if query.include_pending else None,
        "present_days": present,
        "gaps": gaps,
        "avg_gap": ratio(sum(gaps), len(gaps)),
        "max_gap": max(gaps, default=0),
        "min_gap": min(gaps, default=0),
        "std_gap": round(std([float(gap) for gap in gaps]), 6),
        "concentration": round(index, 6),
        "used_slots": used,
        "budget_progress": None if progress is None else round(progress, 6),
        "days_to_end": days_to_end,
    }
    if query.detail == "full":
        row["sections_by_day"] = [{"day": day, "sections": by_day[day]} for day in present]
        row["items"] = [{"task_id": item.id, "order": item.order, "day": item.slot and item.slot.day} for item in items]
    return _Subject(task_class, by_day, row["max_gap"], index, progress, days_to_end, row)


def concentration(parts: list[int], days: int) -> float:
    """(Σ s² − 1/n) / (1 − 1/n) over n days, s being a day's share; 0 for one day, for none, and for nothing placed."""
    total = sum(parts)
    if days <= 1 or not total:
        return 0.0
    return (sum((part / total) ** 2 for part in parts) - 1 / days) / (1 - 1 / days)


def _issues(query: SubjectsQuery, subject: _Subject) -> Iterable[dict[str, Any]]:
    gaps: tuple[tuple[Severity, float, float], ...] = (
        ("critical", LONG_GAP, inf),
        ("warning", RATHER_LONG_GAP, LONG_GAP),
    )
    shares: tuple[tuple[Severity, float, float], ...] = (
        ("critical", CONCENTRATED, inf),
        ("warning", RATHER_CONCENTRATED, CONCENTRATED),
    )
    class_id = subject.task_class.id
    for metric, levels, actual in (
        ("max_gap", gaps, subject.max_gap),
        ("concentration", shares, subject.concentration),
    ):
        for severity, limit, next_limit in levels:
            if query.above(limit) <= actual < query.above(next_limit):
                trigger = metric, ">=", query.above(limit), round(actual, 6)
                yield issue(f"{metric}_c{class_id}", "subjects", severity, trigger, task_class_id=class_id)
    behind = subject.progress is not None and subject.progress < query.below(BEHIND)
    if behind and subject.days_to_end is not None and subject.days_to_end <= query.below(NEAR):
        also = {
            "metric": "days_to_end",
            "operator": "<=",
            "threshold": query.below(NEAR),
            "actual": subject.days_to_end,
        }
        trigger = "budget_progress", "<", query.below(BEHIND), subject.row["budget_progress"]
        yield issue(f"budget_c{class_id}", "subjects", "critical", trigger, task_class_id=class_id, also=also)


Direction = tuple[str, tuple[str, ...], Literal["placed", "pending", "mixed"], tuple[str, float]]
"""Intent, tools to write with, which items, and the criterion."""


def _directions(query: SubjectsQuery) -> dict[str, Direction]:
    concentrated = query.above(RATHER_CONCENTRATED)
    return {
        "max_gap": ("fill_gap", ("move", "place"), "mixed", ("<", query.above(RATHER_LONG_GAP))),
        "concentration": ("spread_subject", ("spread_even", "move"), "placed", ("<", concentrated)),
        "budget_progress": ("catch_up", ("rough_build", "place"), "pending", (">=", query.below(BEHIND))),
    }


def _actions(
    state: ScheduleState, query: SubjectsQuery, subjects: list[_Subject], issues: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    by_id = {subject.task_class.id: subject for subject in subjects}
    actions: list[dict[str, Any]] = []
    for found in issues:
        if found["severity"] == "info":
            continue
        subject, metric = by_id[found["task_class_id"]], found["trigger"]["metric"]
        intent, writes, pool, goal = _directions(query)[metric]
        days = _days_of(subject, metric) or [1, len(state.window.days)]
        actions.append(
            next_action(
                f"na_{found['issue_id']}",
                len(actions) + 1,
                intent,
                target={"task_class_ids": [subject.task_class.id]},
                scope=(days, (subject.task_class.name,), pool),
                reads=("query_available_slots",),
                criteria={"metric": metric, "operator": goal[0], "threshold": goal[1]},
                writes=writes,
            )
        )
    return actions


def _days_of(subject: _Subject, metric: str) -> list[int]:
    """The first and the last day of the longest gap, or the days where most of the class stands."""
    present = sorted(subject.by_day)
    if metric == "max_gap":
        day, following = max(pairwise(present), key=lambda pair: pair[1] - pair[0])
        return [day + 1, following - 1]
    if metric == "concentration":
        most = max(subject.by_day.values())
        return [day for day in present if subject.by_day[day] == most]
    return []
