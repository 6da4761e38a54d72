"""The guards: what a decision may not do now, each with a stable code that goes back to the model as the result.

All functions are pure; the text of a refusal is for the model.
"""

from __future__ import annotations

from typing import Any, cast

from newagent.llm.decision import Decision
from newagent.loop.draft import call_digest, refusal_digest
from newagent.settings import Budgets
from newagent.state.documents import AgentState, Phase
from newagent.tools.base import Tool, ToolResult
from newagent.tools.refusal import refuse
from newagent.tools.registry import Catalogue
from newagent.tools.visibility import is_active, phase_allows

CONTROLS: dict[Phase, tuple[str, ...]] = {
    "planning": ("reply", "continue", "ask_user", "plan_done", "abort"),
    "executing": ("continue", "write", "ask_user", "plan_done", "next_step", "done", "abort"),
    "delivering": ("reply",),
}
PER_TASK = frozenset({"place", "move", "swap", "batch_move", "unplace", "apply_candidate"})
TUNING = frozenset({"move", "swap", "batch_move", "apply_candidate"})
FREE_BATCH = 2


def action_fault(decision: Decision, phase: Phase) -> ToolResult | None:
    """Whether the phase allows the action at all."""
    if decision.action in CONTROLS.get(phase, ()) or (decision.action == "write" and phase == "planning"):
        return None
    allowed = "、".join(CONTROLS.get(phase, ()))
    return refuse("phase_forbidden", f"现在是 {phase} 阶段，不能 {decision.action}；可以：{allowed}。")


def call_fault(
    tool: Tool | None, name: str, arguments: dict[str, Any], state: AgentState, catalogue: Catalogue, version: int
) -> ToolResult | None:
    """The guards on a call before it is tried: known, active, allowed in the phase, not a repetition."""
    if tool is None:
        near = "、".join(sorted(catalogue.by_name)[:60])
        return refuse("unknown_tool", f"没有工具 {name}。现有：{near}。")
    if not phase_allows(tool, state.phase):
        return refuse("phase_forbidden", f"{name} 会改动数据，规划阶段不能用；先用 plan_done 给出计划。")
    if not is_active(tool, state):
        return refuse(
            "tool_not_active",
            f"{name} 还没有打开：先调用 context_tools_add(domain=“{tool.domain}”, packs=[“{tool.pack}”])。",
            domain=tool.domain,
            pack=tool.pack,
        )
    if refusal_digest(name, arguments, state, version) in state.refused_calls:
        return refuse("call_repeated", "同样的调用刚刚在同样的情况下被拒绝过，请换参数或换做法。")
    if not tool.write and tool.pack != "context" and call_digest(name, arguments, version) in state.read_calls:
        return refuse("query_redundant", "课表没有变化，同样的查询已有结果，请直接使用上面的结果。")
    return None


def write_fault(tool: Tool, arguments: dict[str, Any], state: AgentState, version: int) -> ToolResult | None:
    """The guards on a write before it is tried: negotiation, budgets, batches."""
    judgement = state.judgement
    if (
        tool.name in TUNING
        and judgement is not None
        and judgement.state_version == version
        and not judgement.feasible
        and arguments.get("candidate_id") != "close"
    ):
        return refuse("infeasible_negotiate", "按现在的约束放不下所有任务：先用 ask_user 把放宽的选项给用户选。")
    moves = arguments.get("moves")
    if tool.name == "batch_move" and isinstance(moves, list) and len(cast("list[Any]", moves)) > FREE_BATCH:
        current = judgement.candidates if judgement is not None and judgement.state_version == version else ()
        offered = [candidate["arguments"] for candidate in current if candidate["tool"] == "batch_move"]
        if arguments not in offered and not any(cover.tool == "batch_move" for cover in state.covers):
            return refuse("batch_move_disabled", "一次移动超过两个任务需要计划里写明（covers），或使用候选操作。")
    return None


def task_budget_fault(tool: Tool, result: ToolResult, state: AgentState, budgets: Budgets) -> ToolResult | None:
    """Whether a write would touch a task that this run has written often enough."""
    if tool.name not in PER_TASK:
        return None
    spent = [
        change.task_id
        for change in result.changes
        if state.counters.task_writes.get(str(change.task_id), 0) >= budgets.max_task_writes
    ]
    if not spent:
        return None
    return refuse("task_budget_exhausted", f"任务 {spent} 在本轮已改动 {budgets.max_task_writes} 次，不能再改。")


def evidence_fault(decision: Decision, state: AgentState) -> ToolResult | None:
    """Whether a step may be called finished: it needs a check of its goal and one success in the step."""
    if not decision.goal_check.strip():
        return refuse("evidence_missing", "请在 goal_check 里写明这一步的目标如何达成。")
    if state.counters.step_evidence < 1:
        return refuse("evidence_missing", "这一步还没有任何成功的查询、写入或用户答复，不能算完成。")
    return None
