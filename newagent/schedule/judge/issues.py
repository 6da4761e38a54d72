"""What the judge finds wrong: one issue for each day and term, each with its trigger and its cost."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from newagent.schedule.cost import DAY_TERMS, FREE_HEAVY_RUN, CostModel, DayLook, Valuation
from newagent.schedule.envelope import SEVERITIES, THRESHOLDS, Severity, day_facts, issue
from newagent.schedule.model import ScheduleState
from newagent.schedule.rhythm import DayItem, heavy_pairs, items_by_day

CRITICAL_SWITCHES = 5
CRITICAL_FRAGMENTATION = 0.75
DIMENSION_OF = {
    "heavy_adjacent": "rhythm",
    "heavy_run": "rhythm",
    "long_block": "rhythm",
    "switching": "rhythm",
    "overload": "preference",
    "avoided": "preference",
    "unpreferred": "preference",
    "evening_heavy": "preference",
    "buffer": "preference",
    "cap": "preference",
}


def find_issues(
    state: ScheduleState,
    model: CostModel,
    value: Valuation,
    class_ids: Collection[int],
    feasibility: dict[str, Any],
    threshold: str = "normal",
) -> list[dict[str, Any]]:
    """Every issue of a state, worst first: by severity, then by cost, then by day.

    `class_ids` are the classes in scope: what is pending and which profiles are missing is asked of them only.
    """
    found = _state_issues(state, class_ids, feasibility)
    items = items_by_day(state)
    for day, look in enumerate(value.looks, start=1):
        for term, cost in zip(DAY_TERMS, model.day_terms(look), strict=True):
            if cost > 0:
                severity, trigger = _trigger(model, term, look, THRESHOLDS[threshold])
                concerned = _concerned(state, model, term, items[day])
                found.append(
                    issue(
                        f"{term}_d{day}",
                        DIMENSION_OF[term],
                        severity,
                        trigger,
                        code=term,
                        **day_facts(state, day),
                        cost=cost,
                        task_ids=concerned,
                    )
                )
    return sorted(found, key=_rank)


def day_issues(model: CostModel, look: DayLook) -> int:
    """How many issues a day raises."""
    return sum(cost > 0 for cost in model.day_terms(look))


FEASIBLE: dict[str, Any] = {"is_feasible": True, "capacity_gap": 0, "reason_code": "ok"}


def has_issue(cost_by_term: tuple[int, ...]) -> bool:
    """Whether a day with these terms raises a warning or worse; an info makes no day one with an issue."""
    return any(cost > 0 and term != "evening_heavy" for term, cost in zip(DAY_TERMS, cost_by_term, strict=True))


def _rank(found: dict[str, Any]) -> tuple[int, int, float, int]:
    cost = found["cost"]
    return SEVERITIES.index(found["severity"]), cost is not None, -(cost or 0), found["day"] or 0


def _state_issues(
    state: ScheduleState, class_ids: Collection[int], feasibility: dict[str, Any]
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    pending = [task.id for task in state.pending if task.task_class_id in class_ids]
    if not feasibility["is_feasible"]:
        gap = feasibility["capacity_gap"]
        found.append(
            issue(
                "feasibility",
                "feasibility",
                "critical",
                ("capacity_gap", ">", 0, gap),
                code="infeasible",
                day=None,
                cost=None,
                task_ids=pending,
            )
        )
    if pending:
        found.append(
            issue(
                "pending",
                "feasibility",
                "critical",
                ("pending", ">", 0, len(pending)),
                code="pending",
                day=None,
                cost=None,
                task_ids=pending,
            )
        )
    found.extend(
        issue(
            f"profile_c{task_class.id}",
            "profile",
            "warning",
            ("missing_profile_fields", ">", 0, len(task_class.missing_profile)),
            code="profile",
            day=None,
            cost=None,
            task_ids=[],
            task_class_id=task_class.id,
            fields=list(task_class.missing_profile),
        )
        for task_class in state.task_classes
        if task_class.id in class_ids and task_class.missing_profile
    )
    return found


def _trigger(
    model: CostModel, term: str, look: DayLook, scale: float
) -> tuple[Severity, tuple[str, str, float, float]]:
    match term:
        case "heavy_adjacent":
            return "warning", ("heavy_adjacent", ">", 0, look.heavy_adjacent)
        case "heavy_run":
            return "warning", ("max_heavy_run", ">", FREE_HEAVY_RUN, look.max_heavy_run)
        case "long_block":
            return "warning", ("max_block", ">", model.free_block, look.max_block)
        case "switching":
            limit = CRITICAL_SWITCHES * scale
            if look.switch_count >= limit and look.fragmentation >= CRITICAL_FRAGMENTATION * scale:
                return "critical", ("switch_count", ">=", limit, look.switch_count)
            return "warning", ("switch_count", ">", model.free_switches, look.switch_count)
        case "overload":
            return "warning", ("used_sections", ">", model.free_load, look.used)
        case "avoided":
            return "warning", ("avoided_entries", ">", 0, look.avoided)
        case "unpreferred":
            return "warning", ("unpreferred_entries", ">", 0, look.unpreferred)
        case "evening_heavy":
            return "info", ("evening_heavy_entries", ">", 0, look.evening_heavy_entries)
        case "buffer":
            return "warning", ("pairs_of_free_sections", "<", 1, 0)
        case _:
            assert model.daily_cap is not None
            return "warning", ("study_sections", ">", model.daily_cap, look.study)


def _concerned(state: ScheduleState, model: CostModel, term: str, items: list[DayItem]) -> list[int]:
    """The items of a day that a term is about, where it is about some more than others."""
    if term == "heavy_adjacent":
        return list(dict.fromkeys(item.task.id for pair in heavy_pairs(state, items) for item in pair))
    if term in {"heavy_run", "evening_heavy"}:
        items = [item for item in items if item.task_class.is_heavy]
    if term in {"evening_heavy", "avoided", "unpreferred"}:
        items = [item for item in items if _speaks_of(model, term, item)]
    return [item.task.id for item in items]


def _speaks_of(model: CostModel, term: str, item: DayItem) -> bool:
    entries = model.classes[model.index_of[item.task_class.id]]
    by_period = {
        "evening_heavy": (False, False, entries.heavy),
        "avoided": entries.avoid,
        "unpreferred": entries.unpreferred,
    }[term]
    return any(by_period[model.period_of[section]] for section in range(item.slot.start, item.slot.end + 1, 2))
