"""`analyze_tolerance`: how much usable free time the days keep for what comes unexpectedly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pydantic import Field

from newagent.schedule.envelope import Schema, day_facts, issue, next_action, ratio
from newagent.schedule.model import ScheduleState, Slot, Task
from newagent.schedule.observers.query import Detail, Findings, SpanQuery, observe

TOOL = "analyze_tolerance"
MANY_DAYS, SOME_DAYS = 2, 1
FRAGMENTED, RATHER_FRAGMENTED = 0.65, 0.45
SCHEMA: Schema = {
    "overall.total_free": ("free sections", "sections", "higher"),
    "overall.usable": ("free sections in runs of at least min_usable_size", "sections", "higher"),
    "overall.fragmented": ("free sections in shorter runs", "sections", "lower"),
    "overall.fragmentation_rate": ("fragmented / total_free", "ratio", "lower"),
    "overall.days_without_buffer": ("days with fewer than min_daily_buffer usable sections", "days", "lower"),
    "days[].free_blocks": ("runs of free sections with what stands before and after", "list", "neutral"),
    "days[].buffer_sufficient": ("whether the day has min_daily_buffer usable sections", "bool", "higher"),
}


class ToleranceQuery(SpanQuery):
    """Which days, how long a run of free sections must be to be of use, how much of it a day should keep."""

    min_usable_size: int = Field(default=2, ge=1)
    min_daily_buffer: int = Field(default=2, ge=0)
    detail: Detail = "summary"


class _Day(NamedTuple):
    day: int
    runs: list[tuple[int, int]]
    free: int
    usable: int
    sufficient: bool


def analyze_tolerance(state: ScheduleState, **arguments: Any) -> dict[str, Any]:
    """The room that the days keep as an envelope; arguments are those of `ToleranceQuery`."""
    return observe(TOOL, ToleranceQuery, _look, state, arguments)


def _look(state: ScheduleState, query: ToleranceQuery) -> Findings:
    days = [_day(state, query, day.day) for day in query.days(state)]
    free, usable = sum(day.free for day in days), sum(day.usable for day in days)
    without = sum(not day.sufficient for day in days)
    share = (free - usable) / free if free else 0.0
    metrics: dict[str, Any] = {
        "overall": {
            "total_free": free,
            "usable": usable,
            "fragmented": free - usable,
            "fragmentation_rate": ratio(free - usable, free),
            "days_without_buffer": without,
        },
        "days": [_row(state, query, day) for day in days],
    }
    issues = [*_issues(query, without, share)]
    if not issues and usable < free:
        issues.append(issue("fragmented", "tolerance", "info", ("fragmented", ">", 0, free - usable)))
    return Findings(SCHEMA, metrics, issues, _actions(state, query, days, issues))


def _day(state: ScheduleState, query: ToleranceQuery, number: int) -> _Day:
    held = {section for _, slot in state.meetings.get(number, ()) for section in range(slot.start, slot.end + 1)}
    runs: list[tuple[int, int]] = []
    for section in range(1, state.window.sections + 1):
        if section not in held:
            if runs and runs[-1][1] == section - 1:
                runs[-1] = runs[-1][0], section
            else:
                runs.append((section, section))
    lengths = [end - start + 1 for start, end in runs]
    usable = sum(length for length in lengths if length >= query.min_usable_size)
    return _Day(number, runs, sum(lengths), usable, usable >= query.min_daily_buffer)


def _row(state: ScheduleState, query: ToleranceQuery, day: _Day) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    for start, end in day.runs:
        before, after = _beside(state, day.day, start - 1), _beside(state, day.day, end + 1)
        block: dict[str, Any] = {
            "start": start,
            "end": end,
            "usable": end - start + 1 >= query.min_usable_size,
            "before": _kind(before),
            "after": _kind(after),
        }
        if query.detail == "full":
            block["task_ids"] = [task.id if task else None for task in (before, after)]
        blocks.append(block)
    return {
        **day_facts(state, day.day),
        "free": day.free,
        "usable": day.usable,
        "fragmented": day.free - day.usable,
        "buffer_sufficient": day.sufficient,
        "free_blocks": blocks,
    }


def _beside(state: ScheduleState, day: int, section: int) -> Task | None:
    """What holds a section, an item before the course that it is embedded in."""
    holders = [task for task, slot in state.meetings.get(day, ()) if _holds(slot, section)]
    return max(holders, key=lambda task: task.is_item, default=None)


def _holds(slot: Slot, section: int) -> bool:
    return slot.start <= section <= slot.end


def _kind(task: Task | None) -> str:
    return "edge" if task is None else task.kind


def _issues(query: ToleranceQuery, without: int, share: float) -> Iterable[dict[str, Any]]:
    if without >= query.above(MANY_DAYS):
        trigger = "days_without_buffer", ">=", query.above(MANY_DAYS), without
        yield issue("days_without_buffer", "tolerance", "critical", trigger)
    elif without >= query.above(SOME_DAYS):
        trigger = "days_without_buffer", ">=", query.above(SOME_DAYS), without
        yield issue("days_without_buffer", "tolerance", "warning", trigger)
    if share >= query.above(FRAGMENTED):
        trigger = "fragmentation_rate", ">=", query.above(FRAGMENTED), round(share, 6)
        yield issue("fragmentation_rate", "tolerance", "critical", trigger)
    elif share >= query.above(RATHER_FRAGMENTED):
        trigger = "fragmentation_rate", ">=", query.above(RATHER_FRAGMENTED), round(share, 6)
        yield issue("fragmentation_rate", "tolerance", "warning", trigger)


def _actions(
    state: ScheduleState, query: ToleranceQuery, days: list[_Day], issues: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    actions: list[dict[str, Any]] = []
    for found in issues:
        if found["severity"] == "info":
            continue
        buffer = found["trigger"]["metric"] == "days_without_buffer"
        chosen = [day.day for day in days if (not day.sufficient if buffer else day.usable < day.free)]
        roomy = [day.day for day in days if day.usable >= query.min_daily_buffer + 2 and day.day not in chosen]
        names = [state.class_of(task).name for task in state.items if task.slot is not None and task.slot.day in chosen]
        limit = query.above(SOME_DAYS if buffer else RATHER_FRAGMENTED)
        actions.append(
            next_action(
                "na_increase_tolerance" if buffer else "na_join_blocks",
                len(actions) + 1,
                "increase_tolerance" if buffer else "join_blocks",
                target={"days": chosen},
                slots={"days": roomy} if buffer else {},
                scope=(chosen, dict.fromkeys(names), "placed"),
                reads=("query_available_slots",),
                criteria={"metric": found["trigger"]["metric"], "operator": "<", "threshold": limit},
                writes=("move", "spread_even") if buffer else ("move", "swap"),
            )
        )
    return actions
