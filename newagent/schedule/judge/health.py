"""`analyze_health`: the single judge of a timetable. Read-only, never raises, same input same output."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from newagent.schedule.cost import DAY_TERMS, CostModel, Valuation, evaluate
from newagent.schedule.envelope import THRESHOLDS, day_facts, failure, success
from newagent.schedule.judge import decision as deciding
from newagent.schedule.judge.candidates import best_edits, describe
from newagent.schedule.judge.feasibility import check, options
from newagent.schedule.judge.issues import FEASIBLE, find_issues, has_issue
from newagent.schedule.judge.metrics import BASE_SCHEMA, SCHEMAS, preference_metrics, profile_metrics, rhythm_metrics
from newagent.schedule.judge.scan import scan
from newagent.schedule.judge.tightness import tightness
from newagent.schedule.model import ScheduleState
from newagent.schedule.observers import analyze_context, analyze_load, analyze_subjects, analyze_tolerance

TOOL = "analyze_health"
DEFAULT_DIMENSIONS = ("rhythm", "tightness", "profile", "feasibility", "preference")
DETAILS = ("summary", "full")


OBSERVERS: dict[str, Callable[..., dict[str, Any]]] = {
    "load": analyze_load,
    "subjects": analyze_subjects,
    "context": analyze_context,
    "tolerance": analyze_tolerance,
}
"""What may be asked for besides: metrics only, no issue of theirs counts here."""


class Request(NamedTuple):
    """Checked arguments of a judgement."""

    class_ids: tuple[int, ...]
    dimensions: tuple[str, ...]
    threshold: str
    detail: str


def analyze_health(
    state: ScheduleState,
    *,
    class_ids: Iterable[int] | None = None,
    dimensions: Iterable[str] | None = None,
    threshold: str = "normal",
    detail: str = "summary",
) -> dict[str, Any]:
    """Judges a state: metrics, issues, feasibility, and what to go on with.

    `class_ids` are the classes in scope (default all): pending items, profiles and feasibility are asked of them. The
    cost, the days' issues and the candidates are always those of the whole window.
    """
    request = _checked(state, class_ids, dimensions, threshold, detail)
    return failure(TOOL, "invalid_args", request) if isinstance(request, str) else _judge(state, request)


def judge_delta(before: ScheduleState, after: ScheduleState) -> dict[str, Any]:
    """Two states compared: pending, cost and terms of each, and the issues gained and lost. No scan is made."""
    sides: list[dict[str, Any]] = []
    issues: list[dict[str, dict[str, Any]]] = []
    for state in (before, after):
        model = CostModel(state)
        value = evaluate(state, model)
        found = find_issues(state, model, value, tuple(state.class_by_id), FEASIBLE)
        sides.append({"pending": value.pending, "cost": value.cost, "terms": value.terms, "issues": len(found)})
        issues.append({issue["issue_id"]: issue for issue in found})
    old, new = issues
    return {
        "before": sides[0],
        "after": sides[1],
        "issues_gained": [issue for key, issue in new.items() if key not in old],
        "issues_lost": [issue for key, issue in old.items() if key not in new],
    }


def _checked(state: ScheduleState, class_ids: Any, dimensions: Any, threshold: Any, detail: Any) -> Request | str:
    known = tuple(state.class_by_id)
    allowed = (*DEFAULT_DIMENSIONS, *OBSERVERS)
    try:
        scope = known if class_ids is None else tuple(class_ids)
        wanted = DEFAULT_DIMENSIONS if dimensions is None else tuple(dimensions)
        unknown = [one for one in scope if one not in known]
        strange = [one for one in wanted if one not in allowed]
    except TypeError:
        return "class_ids and dimensions must be lists"
    if unknown:
        return f"unknown task classes: {unknown}"
    if strange or not wanted or isinstance(dimensions, str):
        return f"dimensions must be some of {', '.join(allowed)}; not {strange}"
    if not isinstance(threshold, str) or threshold not in THRESHOLDS:
        return f"threshold must be one of {', '.join(THRESHOLDS)}"
    if detail not in DETAILS:
        return f"detail must be one of {', '.join(DETAILS)}"
    return Request(scope, wanted, threshold, detail)


def _judge(state: ScheduleState, request: Request) -> dict[str, Any]:
    model = CostModel(state)
    value = evaluate(state, model)
    scope = request.class_ids
    pending = list(dict.fromkeys(task.task_class_id for task in state.pending if task.task_class_id in scope))
    pending_ids = [class_id for class_id in scope if class_id in pending]
    feasibility = check(state, pending_ids) if pending_ids else FEASIBLE
    issues = find_issues(state, model, value, scope, feasibility, request.threshold)
    days = [day for day, look in enumerate(value.looks, 1) if has_issue(model.day_terms(look))]
    scanned = scan(state, model)
    room = tightness(scanned, days)
    edits = best_edits(scanned, room["tightness_level"] == "tight")
    candidates = describe(state, value, edits, model, len(issues))
    verdict = deciding.decide(value, pending_ids, issues, feasibility, candidates, request.threshold)
    ways = options(state, pending_ids) if not feasibility["is_feasible"] else []
    metrics: dict[str, Any] = {"pending": value.pending, "cost": value.cost, "terms": value.terms}
    schema = dict(BASE_SCHEMA)
    sections: dict[str, Callable[[], dict[str, Any]]] = {
        "rhythm": lambda: rhythm_metrics(state, value),
        "tightness": lambda: room,
        "profile": lambda: profile_metrics(state, scope),
        "preference": lambda: preference_metrics(model, value),
    }
    for name in dict.fromkeys(request.dimensions):
        if name in sections:
            schema.update(SCHEMAS[name])
            metrics[name] = sections[name]()
        elif name in OBSERVERS:
            seen = OBSERVERS[name](state, threshold=request.threshold)
            schema.update({f"{name}.{key}": _triple(told) for key, told in seen["metric_schema"].items()})
            metrics[name] = seen["metrics"]
    if request.detail == "full":
        metrics["days"] = _days(state, model, value)
    metrics["can_close"] = verdict.can_close
    envelope = success(TOOL, schema, metrics, issues, deciding.next_actions(state, value, issues, ways))
    envelope["feasibility"] = feasibility
    envelope["decision"] = {
        "should_continue_optimize": verdict.go_on,
        "primary_problem": deciding.primary_problem(state, issues),
        "problem_scope": deciding.problem_scope(state, issues),
        "is_forced_imperfection": verdict.operation == "close" and any(i["severity"] != "info" for i in issues),
        "recommended_operation": verdict.operation,
        "recommended_arguments": verdict.arguments,
        "improvement_signal": deciding.signal(value),
        "candidates": candidates,
        "options": ways,
    }
    return envelope


def _triple(told: dict[str, str]) -> tuple[str, str, str]:
    return told["meaning"], told["unit"], told["direction"]


def _days(state: ScheduleState, model: CostModel, value: Valuation) -> list[dict[str, Any]]:
    """The days that cost something, with their terms."""
    days: list[dict[str, Any]] = []
    for day, look in enumerate(value.looks, start=1):
        terms = {name: cost for name, cost in zip(DAY_TERMS, model.day_terms(look), strict=True) if cost}
        if terms:
            days.append({**day_facts(state, day), "cost": sum(terms.values()), "terms": terms})
    return days
