"""`analyze_rhythm`: why a day feels torn or crammed: its sequence, its switches, its demanding pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from newagent.schedule import rhythm as r
from newagent.schedule.cost import CostModel, DayLook, evaluate
from newagent.schedule.envelope import Schema, day_facts, issue, next_action, ratio
from newagent.schedule.model import ScheduleState
from newagent.schedule.observers.query import Detail, Findings, Query, Unusable, day_range, observe

TOOL = "analyze_rhythm"
SCHEMA: Schema = {
    "overall.days_with_items": ("days of the range with a placed item", "days", "neutral"),
    "overall.fragmented_count": ("days that switch too often for their length", "days", "lower"),
    "overall.compressed_count": ("days that stay with one class, or with heavy ones, too long", "days", "lower"),
    "overall.heavy_pairs": ("pairs of different heavy classes back to back", "pairs", "lower"),
    "overall.same_type_transition_ratio": ("share of neighbours with the same subject type", "ratio", "neutral"),
    "days[].sequence": ("classes of the day in order, one entry for every two sections", "list", "neutral"),
    "days[].blocks": ("runs of one class with their lengths in entries", "list", "neutral"),
    "days[].switch_count": ("neighbours that differ in class", "switches", "lower"),
    "days[].fragmentation": ("switch_count / max(entries − 1, 1)", "ratio", "lower"),
    "days[].max_block": ("longest run of one class", "entries", "lower"),
    "days[].max_heavy_run": ("longest run of heavy entries", "entries", "lower"),
    "days[].heavy_pairs": ("pairs of different heavy classes back to back, with task ids", "list", "lower"),
    "days[].same_type_transitions": ("neighbours with the same subject type", "transitions", "neutral"),
    "days[].fragmented": ("switch_count ≥ 3, or fragmentation ≥ 0.55 and switch_count ≥ 2", "bool", "lower"),
    "days[].compressed": ("max_block ≥ 5 or max_heavy_run ≥ 4", "bool", "lower"),
}


class RhythmQuery(Query):
    """Which days; `full` adds the items of each day."""

    day_from: int | None = Field(default=None, ge=1)
    day_to: int | None = Field(default=None, ge=1)
    detail: Detail = "summary"


def analyze_rhythm(state: ScheduleState, **arguments: Any) -> dict[str, Any]:
    """The rhythm of the days as an envelope; arguments are those of `RhythmQuery`. Without a placed item in the range
    there is nothing to explain: `insufficient_data`."""
    return observe(TOOL, RhythmQuery, _look, state, arguments)


def _look(state: ScheduleState, query: RhythmQuery) -> Findings:
    by_day, looks = r.items_by_day(state), evaluate(state, CostModel(state)).looks
    days = [day.day for day in day_range(state, query.day_from, query.day_to) if by_day[day.day]]
    if not days:
        raise Unusable("insufficient_data", "nothing is placed on these days")
    rows = [_row(state, query, day, by_day[day], looks[day - 1]) for day in days]
    neighbours = sum(looks[day - 1].entries - 1 for day in days)
    metrics: dict[str, Any] = {
        "overall": {
            "days_with_items": len(days),
            "fragmented_count": sum(row["fragmented"] for row in rows),
            "compressed_count": sum(row["compressed"] for row in rows),
            "heavy_pairs": sum(len(row["heavy_pairs"]) for row in rows),
            "same_type_transition_ratio": ratio(sum(row["same_type_transitions"] for row in rows), neighbours),
        },
        "days": rows,
    }
    issues = [
        found for day, row in zip(days, rows, strict=True) for found in _issues(state, query, row, looks[day - 1])
    ]
    return Findings(SCHEMA, metrics, issues, _actions(query, rows))


def _row(state: ScheduleState, query: RhythmQuery, day: int, items: list[r.DayItem], look: DayLook) -> dict[str, Any]:
    entries, scale = r.sequence(items), query.above(1)
    row: dict[str, Any] = {
        **day_facts(state, day),
        "sequence": [task_class.name for task_class in entries],
        "blocks": [{"category": task_class.name, "entries": length} for task_class, length in r.runs(entries)],
        "switch_count": look.switch_count,
        "fragmentation": round(look.fragmentation, 6),
        "max_block": look.max_block,
        "max_heavy_run": look.max_heavy_run,
        "heavy_pairs": [[one.task.id, other.task.id] for one, other in r.heavy_pairs(state, items)],
        "same_type_transitions": r.same_type_transitions(entries),
        "fragmented": r.is_fragmented(look, scale),
        "compressed": r.is_compressed(look, scale),
    }
    if query.detail == "full":
        row["items"] = [
            {"task_id": item.task.id, "category": item.task_class.name, "start": item.slot.start, "end": item.slot.end}
            for item in items
        ]
    return row


def _issues(state: ScheduleState, query: RhythmQuery, row: dict[str, Any], look: DayLook) -> Iterable[dict[str, Any]]:
    facts = day_facts(state, row["day"])
    if row["fragmented"]:
        limit = query.above(r.FRAGMENTED_SWITCHES)
        if look.switch_count >= limit:
            trigger = "switch_count", ">=", limit, look.switch_count
        else:
            trigger = "fragmentation", ">=", query.above(r.FRAGMENTED_SHARE), round(look.fragmentation, 6)
        yield issue(f"fragmented_d{row['day']}", "rhythm", "warning", trigger, **facts)
    if row["compressed"]:
        limit = query.above(r.COMPRESSED_BLOCK)
        if look.max_block >= limit:
            trigger = "max_block", ">=", limit, look.max_block
        else:
            trigger = "max_heavy_run", ">=", query.above(r.COMPRESSED_HEAVY_RUN), look.max_heavy_run
        yield issue(f"compressed_d{row['day']}", "rhythm", "warning", trigger, **facts)
    if row["heavy_pairs"]:
        trigger = "heavy_pairs", ">", 0, len(row["heavy_pairs"])
        ids = list(dict.fromkeys(task_id for pair in row["heavy_pairs"] for task_id in pair))
        yield issue(f"heavy_pairs_d{row['day']}", "rhythm", "warning", trigger, **facts, task_ids=ids)


def _actions(query: RhythmQuery, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    wanted = (
        ("fragmented", "reduce_switch", ("switch_count", "<", query.above(r.FRAGMENTED_SWITCHES))),
        ("compressed", "split_block", ("max_block", "<", query.above(r.COMPRESSED_BLOCK))),
        ("heavy_pairs", "separate_heavy", ("heavy_pairs", "==", 0)),
    )
    actions: list[dict[str, Any]] = []
    for name, intent, goal in wanted:
        days = [row for row in rows if row[name]]
        if days:
            names = dict.fromkeys(name for row in days for name in row["sequence"])
            actions.append(
                next_action(
                    f"na_{intent}",
                    len(actions) + 1,
                    intent,
                    target={"days": [row["day"] for row in days]},
                    scope=([row["day"] for row in days], names, "placed"),
                    reads=("analyze_health",),
                    criteria=dict(zip(("metric", "operator", "threshold"), goal, strict=True)),
                    writes=("move", "swap", "batch_move"),
                )
            )
    return actions
