"""`apply_preview`: writes the preview into the stored timetable."""

from __future__ import annotations

from newagent.schedule.edits import Change
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.refusal import refuse
from newagent.tools.registry import tool
from newagent.tools.words import change_words, shortened


class Apply(Arguments):
    """Which classes to write; all of the preview when left out."""

    task_class_ids: tuple[int, ...] | None = None


@tool("schedule", "mutation", Apply, write=True, risk="D", needs="store")
async def apply_preview(context: ToolContext, wanted: Apply) -> ToolResult:
    """把预览里放好的任务正式写入课表（可只写某些任务类）；与课表现状有任何冲突就整体拒绝并列出冲突。"""
    state = context.schedule
    assert state is not None
    assert context.timetable is not None
    chosen = [
        task
        for task in state.items
        if task.status == "suggested" and (wanted.task_class_ids is None or task.task_class_id in wanted.task_class_ids)
    ]
    if not chosen:
        return refuse("no_preview", "预览里没有可写入的任务。")
    rows = await context.timetable.apply(state, wanted.task_class_ids)
    applied = state.with_tasks(task.evolve(status="existing") for task in chosen)
    changes = tuple(Change(task.id, None, task.slot) for task in chosen)
    lines = [f"已写入课表 {len(chosen)} 项：", *(change_words(applied, change) for change in changes)]
    data = {"applied": len(chosen), "rows": rows}
    return ToolResult(True, "ok", shortened(lines, 6000, "用 query_range 查某一天"), data, changes, applied)
