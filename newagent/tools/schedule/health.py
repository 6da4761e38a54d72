"""`analyze_health`, the one judge, and `apply_candidate`, which carries out what it offered."""

from __future__ import annotations

from typing import Any, Literal

from newagent.schedule import edits
from newagent.schedule.judge import analyze_health as judge
from newagent.state.documents import AgentState, Judgement
from newagent.tools.analyze.fitting import envelope_text
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.refusal import refuse
from newagent.tools.registry import tool
from newagent.tools.writing import written

CLOSE = "close"


class Health(Arguments):
    """What to look at, how strictly, how much to tell."""

    dimensions: tuple[str, ...] | None = None
    threshold: Literal["strict", "normal", "relaxed"] = "normal"
    detail: Literal["summary", "full"] = "summary"


class Choice(Arguments):
    """A candidate of the last judgement, or `close`."""

    candidate_id: str


@tool("schedule", "analyze", Health)
def analyze_health(context: ToolContext, wanted: Health) -> ToolResult:
    """体检（唯一裁判）：给出指标、问题、是否值得继续优化，以及合法且已算好收益的候选操作 c1…。

    照 decision 决定下一步。
    """
    state = context.schedule
    assert state is not None
    scope = context.state.task_class_ids if context.state and context.state.task_class_ids else None
    envelope = judge(
        state, class_ids=scope, dimensions=wanted.dimensions, threshold=wanted.threshold, detail=wanted.detail
    )
    text = envelope_text(envelope)
    if not envelope["success"]:
        return ToolResult(False, envelope["error_code"], text, envelope)
    agent = context.state
    if agent is not None:
        agent = agent.model_copy(update={"judgement": judgement_of(envelope, context.schedule_version)})
    return ToolResult(True, "ok", text, envelope, state=agent)


def judgement_of(envelope: dict[str, Any], version: int) -> Judgement:
    """What flow control keeps of a judgement."""
    metrics, decision = envelope["metrics"], envelope["decision"]
    return Judgement(
        state_version=version,
        pending=metrics["pending"],
        cost=metrics["cost"],
        critical=sum(issue["severity"] == "critical" for issue in envelope["issues"]),
        signal=decision["improvement_signal"],
        should_continue=decision["should_continue_optimize"],
        can_close=metrics["can_close"],
        feasible=envelope["feasibility"]["is_feasible"],
        recommended=decision["recommended_operation"],
        candidates=tuple(decision["candidates"]),
        relaxations=tuple(decision.get("options", ())),
    )


def _only_current(schema: dict[str, Any], state: AgentState) -> dict[str, Any] | None:
    if state.judgement is None:
        return None
    ids = [candidate["candidate_id"] for candidate in state.judgement.candidates]
    if not ids:
        return None
    schema["properties"]["candidate_id"] = {"type": "string", "enum": ids}
    return schema


@tool("schedule", "mutation", Choice, write=True, needs="session", adapt=_only_current)
def apply_candidate(context: ToolContext, choice: Choice) -> ToolResult:
    """执行最近一次 analyze_health 给出的一个候选操作（只填编号）；选 close 结束优化。"""
    state, agent = context.schedule, context.state
    assert state is not None
    judgement = agent.judgement if agent else None
    if agent is None or judgement is None or judgement.state_version != context.schedule_version:
        return refuse("stale_candidate", "候选属于另一个版本的课表，请先重新 analyze_health。")
    offered = {candidate["candidate_id"]: candidate for candidate in judgement.candidates}
    candidate = offered.get(choice.candidate_id)
    if candidate is None:
        return refuse("invalid_args", f"没有候选 {choice.candidate_id}；现有：{'、'.join(offered)}。")
    if candidate["effect"] == CLOSE:
        closed = agent.model_copy(update={"optimizing": False})
        return ToolResult(True, "ok", "优化结束，预览保持不变。", {"closed": True}, state=closed)
    arguments = candidate["arguments"]
    match candidate["tool"]:
        case "swap":
            outcome = edits.swap(state, arguments["task_a"], arguments["task_b"])
        case "move":
            outcome = edits.move(state, arguments["task_id"], arguments["day"], arguments["start"])
        case _:
            outcome = edits.batch_move(state, [edits.Move(**one) for one in arguments["moves"]])
    return written(state, outcome)
