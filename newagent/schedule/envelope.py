"""The one shape of every analysis: metrics with their schema, issues with their triggers, next actions, or an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from newagent.schedule.calendar import WEEKDAY_NAMES
from newagent.schedule.model import ScheduleState

Severity = Literal["critical", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
THRESHOLDS = {"strict": 0.9, "normal": 1.0, "relaxed": 1.1}
"""What each level multiplies a limit by that triggers from above."""

Schema = Mapping[str, tuple[str, str, str]]
"""Metric name → (meaning, unit, direction: lower | higher | neutral is better)."""


def success(
    tool: str,
    schema: Schema,
    metrics: dict[str, Any],
    issues: Iterable[dict[str, Any]] = (),
    next_actions: Iterable[dict[str, Any]] = (),
) -> dict[str, Any]:
    """The envelope of an analysis that worked."""
    return {
        "tool": tool,
        "success": True,
        "metric_schema": {
            name: {"meaning": meaning, "unit": unit, "direction": direction}
            for name, (meaning, unit, direction) in schema.items()
        },
        "metrics": metrics,
        "issues": list(issues),
        "next_actions": list(next_actions),
        "error": "",
        "error_code": "",
    }


def failure(tool: str, code: Literal["invalid_args", "insufficient_data"], message: str) -> dict[str, Any]:
    """The envelope of an analysis that could not be made; nothing is raised."""
    return {**success(tool, {}, {}), "success": False, "error": message, "error_code": code}


def issue(
    issue_id: str, dimension: str, severity: Severity, trigger: tuple[str, str, float, float], **extra: Any
) -> dict[str, Any]:
    """An issue; `trigger` is (metric, operator, threshold, actual value)."""
    metric, operator, threshold, actual = trigger
    return {
        "issue_id": issue_id,
        "dimension": dimension,
        "severity": severity,
        "trigger": {"metric": metric, "operator": operator, "threshold": threshold, "actual": actual},
        **extra,
    }


def next_action(
    action_id: str,
    priority: int,
    intent_code: str,
    *,
    target: Mapping[str, Any] | None = None,
    slots: Mapping[str, Any] | None = None,
    scope: tuple[Iterable[int], Iterable[str], Literal["placed", "pending", "mixed"]],
    reads: Iterable[str] = (),
    criteria: Mapping[str, Any] | None = None,
    writes: Iterable[str] = (),
) -> dict[str, Any]:
    """A direction with its bounds and its criterion, never a final argument; `scope` is (days, classes, pool)."""
    days, categories, pool = scope
    return {
        "action_id": action_id,
        "priority": priority,
        "intent_code": intent_code,
        "target_filter": dict(target or {}),
        "slot_filter": dict(slots or {}),
        "candidate_scope": {"day_range": list(days), "categories": list(categories), "task_pool": pool},
        "required_reads": list(reads),
        "success_criteria": dict(criteria or {}),
        "candidate_write_tools": list(writes),
    }


def day_facts(state: ScheduleState, number: int) -> dict[str, Any]:
    """A day of the window with its date, weekday and week: a day is never named without them."""
    day = state.window.days[number - 1]
    return {
        "day": number,
        "date": day.date.isoformat(),
        "weekday": WEEKDAY_NAMES["zh"][day.day_of_week - 1],
        "week": day.week,
    }


def ratio(part: float, whole: float) -> float:
    """part / whole, 0 where there is no whole; rounded to six digits."""
    return round(part / whole, 6) if whole else 0.0
