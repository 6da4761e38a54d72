"""What to do next: negotiate, ask for a profile, place, improve or close."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from newagent.schedule.cost import Valuation
from newagent.schedule.envelope import THRESHOLDS, next_action
from newagent.schedule.judge.words import issue_words
from newagent.schedule.model import ScheduleState

WORTHWHILE = 2
WORTHWHILE_SHARE = 50
MAX_ACTIONS = 3
INTENTS = {
    "heavy_adjacent": "separate_heavy",
    "heavy_run": "separate_heavy",
    "long_block": "split_block",
    "switching": "reduce_switch",
    "overload": "rebalance_load",
    "cap": "rebalance_load",
    "avoided": "honour_preference",
    "unpreferred": "honour_preference",
    "evening_heavy": "honour_preference",
    "buffer": "increase_tolerance",
    "pending": "place_pending",
    "profile": "ask_profile",
}


class Verdict(NamedTuple):
    """The operation to go on with, and whether the work may stop here."""

    operation: str
    arguments: dict[str, Any]
    go_on: bool
    can_close: bool


def worthwhile(benefit: int, cost: int, critical: bool, threshold: str) -> bool:
    """Whether a benefit is worth another step: at least max(2, cost / 50), or 1 while a critical issue stands.

    `threshold` strict or relaxed multiplies the first limit by 0.9 or 1.1.
    """
    if critical and benefit >= 1:
        return True
    return benefit >= max(WORTHWHILE, cost / WORTHWHILE_SHARE) * THRESHOLDS[threshold] and benefit >= 1


def decide(
    value: Valuation,
    class_ids: Sequence[int],
    issues: Sequence[dict[str, Any]],
    feasibility: dict[str, Any],
    candidates: Sequence[dict[str, Any]],
    threshold: str,
) -> Verdict:
    """The verdict on a state of which everything else is known; `class_ids` are the classes with pending items."""
    critical = any(issue["severity"] == "critical" for issue in issues)
    warnings = sum(issue["severity"] == "warning" for issue in issues)
    good = not critical and warnings <= 1
    if not feasibility["is_feasible"]:
        return Verdict("ask_user", {}, False, good)
    nameless = [issue["task_class_id"] for issue in issues if issue["code"] == "profile"]
    if nameless:
        return Verdict("ask_user", {"task_class_ids": nameless}, False, good)
    if class_ids:
        arguments = {"task_class_ids": list(class_ids), "rebuild": feasibility["reason_code"] == "blocked"}
        return Verdict("rough_build", arguments, True, good)
    best = candidates[0]
    if worthwhile(best["benefit"], value.cost, critical, threshold):
        return Verdict(best["tool"], best["arguments"], True, good)
    return Verdict("close", {}, False, True)


def signal(value: Valuation) -> str:
    """A digest of pending and terms: it changes if and only if they change."""
    told = json.dumps([value.pending, value.terms], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def primary_problem(state: ScheduleState, issues: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The issue to look at first, for a person and for a machine."""
    if not issues:
        return None
    worst = issues[0]
    return {
        "code": worst["code"],
        "summary": issue_words(state, worst),
        "day": worst["day"],
        "task_ids": worst["task_ids"],
    }


def problem_scope(state: ScheduleState, issues: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Which days, classes and items the first issue is about."""
    if not issues:
        return None
    worst = issues[0]
    classes = {state.by_id[task_id].task_class_id for task_id in worst["task_ids"]}
    if "task_class_id" in worst:
        classes.add(worst["task_class_id"])
    return {
        "days": [worst["day"]] if worst["day"] else [],
        "task_class_ids": sorted(one for one in classes if one is not None),
        "task_ids": worst["task_ids"],
    }


def next_actions(
    state: ScheduleState, value: Valuation, issues: Sequence[dict[str, Any]], options: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """At most three directions: the options of a negotiation, or one for each kind of the worst issues."""
    if options:
        return [
            next_action(
                f"na_{option['code']}",
                number,
                option["code"],
                scope=((), (), "pending"),
                reads=("analyze_health",),
                criteria={"metric": "capacity_gap", "operator": "<=", "threshold": 0},
            )
            for number, option in enumerate(options[:MAX_ACTIONS], start=1)
        ]
    by_intent: dict[str, list[dict[str, Any]]] = {}
    for issue in issues:
        by_intent.setdefault(INTENTS[issue["code"]], []).append(issue)
    actions: list[dict[str, Any]] = []
    for number, (intent, group) in enumerate(list(by_intent.items())[:MAX_ACTIONS], start=1):
        worst = group[0]
        names = dict.fromkeys(
            state.class_of(state.by_id[task_id]).name for issue in group for task_id in issue["task_ids"]
        )
        days = sorted({issue["day"] for issue in group if issue["day"]})
        pool = "pending" if intent == "place_pending" else "placed"
        actions.append(
            next_action(
                f"na_{intent}",
                number,
                intent,
                target={"task_ids": worst["task_ids"], "issue_id": worst["issue_id"]},
                scope=(days, names, pool),
                reads=("analyze_health",),
                criteria=_criterion(intent, worst, value),
                writes=WRITES.get(intent, ("move", "swap", "batch_move")),
            )
        )
    return actions


WRITES = {"place_pending": ("rough_build", "place"), "ask_profile": ("upsert_task_class",)}


def _criterion(intent: str, worst: dict[str, Any], value: Valuation) -> dict[str, Any]:
    if intent in WRITES:
        return {"metric": worst["trigger"]["metric"], "operator": "==", "threshold": 0}
    return {"metric": "cost", "operator": "<", "threshold": value.cost}
