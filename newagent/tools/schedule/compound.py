"""`spread_even` and `min_context_switch`: many items moved at once towards one stated goal, all of them or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from newagent.schedule import compound
from newagent.schedule.compound.work import MAX_TASKS
from newagent.schedule.edits import Edited
from newagent.schedule.model import ScheduleState
from newagent.schedule.rules import Violation
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.filters import PlaceFilter
from newagent.tools.refusal import refuse
from newagent.tools.registry import tool
from newagent.tools.writing import written

TaskIds = Annotated[tuple[int, ...], Field(min_length=1, max_length=MAX_TASKS)]
REASONS = {
    "infeasible": "这些任务放不进筛选后剩下的位置，没有任何改动；请放宽筛选或少选几项。",
    "undecided": "可能的排法太多，在搜索预算内算不出最好的，没有任何改动；请少选几项。",
}


class Spread(PlaceFilter):
    """Which placed tasks, and where they may go."""

    task_ids: TaskIds


class Exchange(Arguments):
    """Which placed tasks trade places."""

    task_ids: TaskIds


@tool("schedule", "compound", Spread, write=True)
def spread_even(context: ToolContext, wanted: Spread) -> ToolResult:
    """把这些已放的任务在筛选留下的位置里摊匀：优先去更空的天，各天学习节数的平方和最小。要么全部成功，要么不动。"""
    state = context.schedule
    assert state is not None
    return _carried_out(
        state,
        lambda: compound.spread_even(state, wanted.task_ids, lambda slot: wanted.admits(state, slot)),
        "这些任务已经摊得最匀，预览不变。",
    )


@tool("schedule", "compound", Exchange, write=True)
def min_context_switch(context: ToolContext, wanted: Exchange) -> ToolResult:
    """让这些已放的任务互换位置，把同一科凑到一起，换科次数最少；占用的位置不变，每一科内部的先后不变。"""
    state = context.schedule
    assert state is not None
    return _carried_out(
        state,
        lambda: compound.min_context_switch(state, wanted.task_ids),
        "换科次数已经最少，预览不变。",
    )


def _carried_out(state: ScheduleState, edit: Callable[[], Edited | Violation], nothing: str) -> ToolResult:
    if not any(task.status == "suggested" for task in state.items):
        return refuse("no_preview", "预览里还没有放好的任务，请先 rough_build 或 place。")
    outcome = edit()
    if isinstance(outcome, Violation) and outcome.code in REASONS:
        return refuse(outcome.code, REASONS[outcome.code], task_ids=list(outcome.task_ids))
    if isinstance(outcome, Edited) and not outcome.changes:
        return ToolResult(True, "ok", nothing, {"changed": 0})
    return written(state, outcome)
