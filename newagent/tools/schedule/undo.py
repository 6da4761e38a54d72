"""`undo_last`: the preview as it was before the last executed writes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from newagent.schedule.edits import Change
from newagent.schedule.judge import judge_delta
from newagent.schedule.refresh import same_facts
from newagent.schedule.rules import first, state_faults
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.refusal import refuse, refused_edit
from newagent.tools.registry import tool
from newagent.tools.words import change_words, shortened
from newagent.tools.writing import delta_words


class Undo(Arguments):
    """How many executed writes to take back."""

    steps: Annotated[int, Field(ge=1, le=50)] = 1


@tool("schedule", "mutation", Undo, write=True, needs="session")
async def undo_last(context: ToolContext, undo: Undo) -> ToolResult:
    """撤销最近执行的几步写操作，预览回到那之前。"""
    state, agent = context.schedule, context.state
    assert state is not None
    assert agent is not None
    if len(agent.undo) < undo.steps or context.earlier is None:
        return refuse("no_preview", f"可撤销的写操作只有 {len(agent.undo)} 步。", available=len(agent.undo))
    restored = await context.earlier(agent.undo[-undo.steps])
    if not same_facts(state, restored):
        return refuse("stale_candidate", "课表的事实在那之后变了，不能撤销到那一步。")
    fault = first(state_faults(restored))
    if fault:
        return refused_edit(state, fault)
    changes = tuple(
        Change(task.id, task.slot, restored.by_id[task.id].slot)
        for task in state.items
        if task.slot != restored.by_id[task.id].slot
    )
    delta = judge_delta(state, restored)
    lines = [change_words(restored, change) for change in changes] or ["位置不变，偏好恢复"]
    text = shortened(lines, 4500, "用 query_target_tasks 查看位置") + "\n" + delta_words(delta)
    after = agent.model_copy(update={"undo": agent.undo[: -undo.steps]})
    return ToolResult(True, "ok", text, {"judge": delta}, changes, restored, after)
