"""`query_available_slots` and `query_target_tasks`: where something fits, and which tasks are meant."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from newagent.tools.base import ToolContext, ToolResult
from newagent.tools.filters import PlaceFilter, Positive, Status, tasks_of_category
from newagent.tools.places import free_places, legal_places
from newagent.tools.refusal import refuse
from newagent.tools.registry import tool
from newagent.tools.words import shortened, slot_words, task_line


class SlotQuery(PlaceFilter):
    """Which places: their length and number, whether hosts count, and the task that they must be legal for."""

    span: Annotated[int, Field(ge=1, le=24)] = 2
    limit: Annotated[int, Field(ge=1, le=200)] = 12
    allow_embed: bool = True
    for_task_id: int | None = None


class TaskQuery(PlaceFilter):
    """Which tasks: by category (course, task, or a class's name or id), status, ids, and where they stand."""

    category: str | None = None
    status: Status | None = None
    task_ids: tuple[int, ...] | None = None
    limit: Positive = 60


@tool("schedule", "core", SlotQuery)
def query_available_slots(context: ToolContext, query: SlotQuery) -> ToolResult:
    """查空位：先列纯空位，再列可嵌入的课。给 for_task_id 时只列对该任务合法的位置（长度取任务自己的）。"""
    state = context.schedule
    assert state is not None
    if query.for_task_id is not None:
        task = state.by_id.get(query.for_task_id)
        if task is None:
            return refuse("unknown_task", f"没有编号为 {query.for_task_id} 的任务。")
        if not task.is_item or task.status == "existing" or task.locked:
            return refuse("locked", f"「{task.name}」是固定的，不能改动。")
        places = list(legal_places(state, task))
    else:
        places = list(free_places(state, query.span))
    found = [(slot, host) for slot, host in places if query.admits(state, slot) and (host is None or query.allow_embed)]
    found.sort(key=lambda pair: (pair[1] is not None, pair[0].day, pair[0].start))
    shown = found[: query.limit]
    lines = [
        slot_words(state, slot) + (f" 可嵌入「{state.by_id[host].name}」" if host is not None else "")
        for slot, host in shown
    ]
    head = f"符合的位置共 {len(found)} 个，列出 {len(shown)} 个："
    data = {
        "total": len(found),
        "slots": [{**slot.model_dump(), "embed_host": host} for slot, host in shown],
    }
    return ToolResult(True, "ok", shortened([head, *lines], 6000, "减小 limit 或缩小日期范围"), data)


@tool("schedule", "core", TaskQuery)
def query_target_tasks(context: ToolContext, query: TaskQuery) -> ToolResult:
    """查任务：按类别（course、task、任务类名或编号）、状态、编号和所在位置筛选，每个任务一行。"""
    state = context.schedule
    assert state is not None
    found = [
        task
        for task in tasks_of_category(state, query.category)
        if (query.status is None or task.status == query.status)
        and (query.task_ids is None or task.id in query.task_ids)
        and (query.any_place or any(query.admits(state, slot) for slot in task.slots))
    ]
    shown = found[: query.limit]
    head = f"符合的任务共 {len(found)} 个，列出 {len(shown)} 个："
    lines = [head, *(task_line(state, task) for task in shown)]
    data = {"total": len(found), "task_ids": [task.id for task in shown]}
    return ToolResult(True, "ok", shortened(lines, 6000, "按类别、状态或日期缩小范围"), data)
