"""`analyze_load`: how full the days are, and how evenly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, Literal, NamedTuple

from newagent.schedule.calendar import PERIODS
from newagent.schedule.envelope import Schema, Severity, day_facts, issue, next_action, ratio
from newagent.schedule.model import Day, ScheduleState
from newagent.schedule.observers.query import Detail, Findings, SpanQuery, observe, std

TOOL = "analyze_load"
FULL, HIGH = 0.90, 0.80
UNEVEN, RATHER_UNEVEN, WIDE = 3.0, 2.0, 7
WRITES = ("move", "queue_apply_head_move", "spread_even")
SCHEMA: Schema = {
    "summary.total_used": ("sections held by courses and items, each counted once", "sections", "neutral"),
    "summary.course_used": ("sections held by courses", "sections", "neutral"),
    "summary.task_used": ("sections held by items outside courses", "sections", "neutral"),
    "summary.embedded": ("sections of items inside courses", "sections", "neutral"),
    "summary.pending_count": ("items that are not placed", "items", "lower"),
    "summary.utilization_rate": ("total_used / all sections of the span", "ratio", "neutral"),
    "summary.peak": ("first day with the most sections used", "day", "neutral"),
    "summary.valley": ("first day with the fewest sections used", "day", "neutral"),
    "summary.load_std_dev": ("sample standard deviation of the days' total_used", "sections", "lower"),
    "summary.load_range": ("most minus fewest sections used on a day", "sections", "lower"),
    "days": ("each day: its load, by period, its level, and the change from the day before", "list", "neutral"),
    "weeks": ("each week: its load and its utilization", "list", "neutral"),
    "time_of_day": ("each period: its load and its utilization over the span", "list", "neutral"),
}


class LoadQuery(SpanQuery):
    """Which days, in which grain, in how much detail."""

    granularity: Literal["day", "week", "time_of_day"] = "day"
    detail: Detail = "summary"


class _Load(NamedTuple):
    """Sections of a day: held by courses, by items outside courses, of items inside courses, used in all by period."""

    courses: int
    tasks: int
    embedded: int
    by_period: dict[str, int]

    @property
    def total(self) -> int:
        return self.courses + self.tasks


def analyze_load(state: ScheduleState, **arguments: Any) -> dict[str, Any]:
    """The load of the days as an envelope; arguments are those of `LoadQuery`."""
    return observe(TOOL, LoadQuery, _look, state, arguments)


def _look(state: ScheduleState, query: LoadQuery) -> Findings:
    days = query.days(state)
    every = [_load(state, day) for day in state.window.days]
    loads = [every[day.day - 1] for day in days]
    totals = [load.total for load in loads]
    sections = state.window.sections
    peak, valley = totals.index(max(totals)), totals.index(min(totals))
    spread, width = std([float(total) for total in totals]), max(totals) - min(totals)
    metrics: dict[str, Any] = {
        "summary": {
            **_sums(loads),
            "pending_count": len(state.pending),
            "utilization_rate": ratio(sum(totals), sections * len(days)),
            "peak": {**day_facts(state, days[peak].day), "total_used": totals[peak]},
            "valley": {**day_facts(state, days[valley].day), "total_used": totals[valley]},
            "load_std_dev": round(spread, 6),
            "load_range": width,
        }
    }
    whole = query.detail == "full"
    if whole or query.granularity == "day":
        metrics["days"] = [_day_row(state, query, every, day) for day in days]
    if whole or query.granularity == "week":
        metrics["weeks"] = _weeks(days, loads, sections)
    if whole or query.granularity == "time_of_day":
        metrics["time_of_day"] = _time_of_day(state, loads)
    issues = [*_day_issues(state, query, days, loads), *_spread_issues(query, spread, width)]
    if not issues and spread > 0:
        issues.append(issue("load_std_dev", "load", "info", ("load_std_dev", ">", 0, round(spread, 6))))
    return Findings(SCHEMA, metrics, issues, _actions(state, query, days, loads, issues))


def _load(state: ScheduleState, day: Day) -> _Load:
    courses, tasks = set[int](), set[int]()
    for task, slot in state.meetings.get(day.day, ()):
        (tasks if task.is_item else courses).update(range(slot.start, slot.end + 1))
    used = courses | tasks
    by_period = {
        name: sum(first <= section <= last for section in used)
        for name in PERIODS
        if name in state.window.periods
        for first, last in (state.window.periods[name],)
    }
    return _Load(len(courses), len(tasks - courses), len(tasks & courses), by_period)


def _sums(loads: Sequence[_Load]) -> dict[str, int]:
    return {
        "total_used": sum(load.total for load in loads),
        "course_used": sum(load.courses for load in loads),
        "task_used": sum(load.tasks for load in loads),
        "embedded": sum(load.embedded for load in loads),
    }


def _day_row(state: ScheduleState, query: LoadQuery, every: list[_Load], day: Day) -> dict[str, Any]:
    load = every[day.day - 1]
    share = load.total / state.window.sections
    level = "full" if share >= query.above(FULL) else "high" if share >= query.above(HIGH) else "normal"
    return {
        **day_facts(state, day.day),
        **_sums([load]),
        "by_period": load.by_period,
        "utilization": ratio(load.total, state.window.sections),
        "level": level if load.total else "empty",
        "delta_from_prev": load.total - every[day.day - 2].total if day.day > 1 else None,
    }


def _weeks(days: list[Day], loads: list[_Load], sections: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for week in sorted({day.week for day in days}):
        of_week = [load for day, load in zip(days, loads, strict=True) if day.week == week]
        sums = _sums(of_week)
        share = ratio(sums["total_used"], sections * len(of_week))
        rows.append({"week": week, "days": len(of_week), **sums, "utilization": share})
    return rows


def _time_of_day(state: ScheduleState, loads: list[_Load]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name in loads[0].by_period:
        first, last = state.window.periods[name]  # type: ignore[index]
        used = sum(load.by_period[name] for load in loads)
        share = ratio(used, (last - first + 1) * len(loads))
        rows.append({"period": name, "sections": [first, last], "total_used": used, "utilization": share})
    return rows


def _day_issues(
    state: ScheduleState, query: LoadQuery, days: list[Day], loads: list[_Load]
) -> Iterable[dict[str, Any]]:
    levels: tuple[tuple[Severity, float, float], ...] = (("critical", FULL, inf), ("warning", HIGH, FULL))
    for severity, limit, next_limit in levels:
        for day, load in zip(days, loads, strict=True):
            share = load.total / state.window.sections
            if query.above(limit) <= share < query.above(next_limit):
                trigger = "utilization", ">=", query.above(limit), round(share, 6)
                yield issue(f"load_d{day.day}", "load", severity, trigger, **day_facts(state, day.day))


def _spread_issues(query: LoadQuery, spread: float, width: int) -> Iterable[dict[str, Any]]:
    if spread >= query.above(UNEVEN) and width >= query.above(WIDE):
        also = {"metric": "load_range", "operator": ">=", "threshold": query.above(WIDE), "actual": width}
        trigger = "load_std_dev", ">=", query.above(UNEVEN), round(spread, 6)
        yield issue("load_std_dev", "load", "critical", trigger, also=also)
    elif spread >= query.above(RATHER_UNEVEN):
        trigger = "load_std_dev", ">=", query.above(RATHER_UNEVEN), round(spread, 6)
        yield issue("load_std_dev", "load", "warning", trigger)


def _actions(
    state: ScheduleState, query: LoadQuery, days: list[Day], loads: list[_Load], issues: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Directions for items only: what courses hold is a fact. From the fullest days to those below the mean."""
    mean = sum(load.total for load in loads) / len(loads)
    quiet = [day.day for day, load in zip(days, loads, strict=True) if load.total < mean]
    crowded = [found["day"] for found in issues if "day" in found]
    uneven = any(found["issue_id"] == "load_std_dev" and found["severity"] != "info" for found in issues)
    actions: list[dict[str, Any]] = []
    busy = {day.day for day, load in zip(days, loads, strict=True) if load.tasks or load.embedded}
    full = [day for day in crowded if day in busy]
    if full and quiet:
        limit = query.above(HIGH)
        actions.append(_rebalance(state, "na_full_days", len(actions) + 1, full, quiet, ("utilization", "<", limit)))
    peaks = [day.day for day, load in zip(days, loads, strict=True) if load.total > mean and day.day in busy]
    if uneven and peaks and quiet:
        limit = query.above(RATHER_UNEVEN)
        actions.append(_rebalance(state, "na_uneven", len(actions) + 1, peaks, quiet, ("load_std_dev", "<", limit)))
    return actions


def _rebalance(
    state: ScheduleState, action_id: str, priority: int, days: list[int], quiet: list[int], goal: tuple[str, str, float]
) -> dict[str, Any]:
    names = [state.class_of(task).name for task in state.items if task.slot is not None and task.slot.day in days]
    return next_action(
        action_id,
        priority,
        "rebalance_load",
        target={"days": days},
        slots={"days": quiet},
        scope=(days, dict.fromkeys(names), "placed"),
        reads=("query_available_slots",),
        criteria=dict(zip(("metric", "operator", "threshold"), goal, strict=True)),
        writes=WRITES,
    )
