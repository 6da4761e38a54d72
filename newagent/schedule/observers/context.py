"""`analyze_context`: how often a day changes from class to class, and where demanding ones meet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from pydantic import Field

from newagent.schedule.envelope import Schema, day_facts, issue, next_action, ratio
from newagent.schedule.model import ScheduleState
from newagent.schedule.observers.query import Findings, Query, Unusable, day_range, observe
from newagent.schedule.rhythm import DayItem, changes, items_by_day, pairs_of, runs, sequence

TOOL = "analyze_context"
MANY, RATHER_MANY = 5, 3
FRAGMENTED, RATHER_FRAGMENTED, AT_LEAST = 0.75, 0.55, 2
SCHEMA: Schema = {
    "overall.total_switches": ("changes of class within days, summed", "switches", "lower"),
    "overall.avg_switches_per_day": ("mean of them over days with items", "switches", "lower"),
    "overall.longest_block": ("longest run of one class", "entries", "lower"),
    "overall.avg_block_size": ("mean run of one class", "entries", "neutral"),
    "overall.heavy_adjacent": ("pairs of different demanding classes back to back", "pairs", "lower"),
    "days[].switch_count": ("neighbours in the day's sequence that differ in class", "switches", "lower"),
    "days[].fragmentation": ("switch_count / max(entries − 1, 1)", "ratio", "lower"),
    "days[].adjacent_pairs": ("neighbouring items of different classes; heavy if both are demanding", "list", "lower"),
    "days[].blocks": ("runs of one class with their lengths", "list", "neutral"),
}


class ContextQuery(Query):
    """Which days, and which classes (by name) count as demanding; by default those of high intensity."""

    day_from: int | None = Field(default=None, ge=1)
    day_to: int | None = Field(default=None, ge=1)
    detail: Literal["summary", "day_detail"] = "summary"
    hard_categories: list[str] | None = None


class _Day(NamedTuple):
    day: int
    items: list[DayItem]
    blocks: list[tuple[str, int]]
    switches: int
    entries: int
    heavy: list[tuple[DayItem, DayItem]]

    @property
    def fragmentation(self) -> float:
        return self.switches / max(self.entries - 1, 1)


def analyze_context(state: ScheduleState, **arguments: Any) -> dict[str, Any]:
    """The switches of the days as an envelope; arguments are those of `ContextQuery`. Without a placed item in the
    range the metrics are empty."""
    return observe(TOOL, ContextQuery, _look, state, arguments)


def _look(state: ScheduleState, query: ContextQuery) -> Findings:
    names = {task_class.name for task_class in state.task_classes}
    strange = [name for name in query.hard_categories or () if name not in names]
    if strange:
        raise Unusable("invalid_args", f"hard_categories: there is no class {', '.join(strange)}")
    by_day = items_by_day(state)
    days = [
        _day(state, query, day.day, by_day[day.day])
        for day in day_range(state, query.day_from, query.day_to)
        if by_day[day.day]
    ]
    if not days:
        return Findings(SCHEMA, {})
    lengths = [length for day in days for _, length in day.blocks]
    switches = sum(day.switches for day in days)
    metrics: dict[str, Any] = {
        "overall": {
            "total_switches": switches,
            "avg_switches_per_day": ratio(switches, len(days)),
            "longest_block": max(lengths),
            "avg_block_size": ratio(sum(lengths), len(lengths)),
            "heavy_adjacent": sum(len(day.heavy) for day in days),
        },
        "days": [_row(state, query, day) for day in days],
    }
    issues = [*_issues(state, query, days, critical=True), *_issues(state, query, days, critical=False)]
    if not issues and switches:
        issues.append(issue("total_switches", "context", "info", ("total_switches", ">", 0, switches)))
    return Findings(SCHEMA, metrics, issues, _actions(query, days, issues))


def _day(state: ScheduleState, query: ContextQuery, number: int, items: list[DayItem]) -> _Day:
    entries = sequence(items)
    hard = query.hard_categories
    demanding = {
        item.task_class.id
        for item in items
        if (item.task_class.is_heavy if hard is None else item.task_class.name in hard)
    }
    blocks = [(task_class.name, length) for task_class, length in runs(entries)]
    return _Day(number, items, blocks, len(blocks) - 1, len(entries), pairs_of(state, items, demanding))


def _row(state: ScheduleState, query: ContextQuery, day: _Day) -> dict[str, Any]:
    row: dict[str, Any] = {
        **day_facts(state, day.day),
        "switch_count": day.switches,
        "fragmentation": round(day.fragmentation, 6),
        "heavy_adjacent": len(day.heavy),
        "adjacent_pairs": [
            {
                "categories": [one.task_class.name, other.task_class.name],
                "task_ids": [one.task.id, other.task.id],
                "heavy": (one, other) in day.heavy,
            }
            for one, other in changes(day.items)
        ],
        "blocks": [{"category": name, "entries": length} for name, length in day.blocks],
    }
    if query.detail == "day_detail":
        row["sequence"] = [
            {
                "task_id": item.task.id,
                "category": item.task_class.name,
                "start": item.slot.start,
                "end": item.slot.end,
                "entries": item.blocks,
            }
            for item in day.items
        ]
    return row


def _issues(state: ScheduleState, query: ContextQuery, days: list[_Day], *, critical: bool) -> Iterable[dict[str, Any]]:
    for day in days:
        share, switches = day.fragmentation, day.switches
        torn = switches >= query.above(MANY) and share >= query.above(FRAGMENTED)
        if torn != critical:
            continue
        facts = day_facts(state, day.day)
        also = {"metric": "fragmentation", "operator": ">=", "actual": round(share, 6)}
        if critical:
            also["threshold"] = query.above(FRAGMENTED)
            trigger = "switch_count", ">=", query.above(MANY), switches
            yield issue(f"context_d{day.day}", "context", "critical", trigger, **facts, also=also)
        elif switches >= query.above(RATHER_MANY):
            trigger = "switch_count", ">=", query.above(RATHER_MANY), switches
            yield issue(f"context_d{day.day}", "context", "warning", trigger, **facts)
        elif share >= query.above(RATHER_FRAGMENTED) and switches >= query.above(AT_LEAST):
            trigger = "fragmentation", ">=", query.above(RATHER_FRAGMENTED), round(share, 6)
            yield issue(f"context_d{day.day}", "context", "warning", trigger, **facts)


def _actions(query: ContextQuery, days: list[_Day], issues: list[dict[str, Any]]) -> list[dict[str, Any]]:
    torn = [found["day"] for found in issues if "day" in found]
    actions: list[dict[str, Any]] = []
    if torn:
        names = dict.fromkeys(name for day in days if day.day in torn for name, _ in day.blocks)
        actions.append(
            next_action(
                "na_reduce_switch",
                1,
                "reduce_switch",
                target={"days": torn},
                scope=(torn, names, "placed"),
                reads=("analyze_health",),
                criteria={"metric": "switch_count", "operator": "<", "threshold": query.above(RATHER_MANY)},
                writes=("move", "swap"),
            )
        )
    heavy = [day.day for day in days if day.heavy]
    if heavy:
        pairs = [pair for day in days for pair in day.heavy]
        actions.append(
            next_action(
                "na_separate_heavy",
                len(actions) + 1,
                "separate_heavy",
                target={"task_ids": list(dict.fromkeys(item.task.id for pair in pairs for item in pair))},
                scope=(heavy, dict.fromkeys(item.task_class.name for pair in pairs for item in pair), "placed"),
                reads=("analyze_health",),
                criteria={"metric": "heavy_adjacent", "operator": "==", "threshold": 0},
                writes=("move", "swap"),
            )
        )
    return actions
