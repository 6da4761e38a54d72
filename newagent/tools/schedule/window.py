"""`extend_window`: more days for some classes, as it was negotiated."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from newagent.schedule.judge import judge_delta
from newagent.schedule.placement import relax
from newagent.schedule.placement.relaxations import MAX_EXTENSION
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.refusal import refuse
from newagent.tools.registry import tool
from newagent.tools.words import day_words
from newagent.tools.writing import delta_words


class Extension(Arguments):
    """Which classes end later, and by how many days."""

    task_class_ids: Annotated[tuple[int, ...], Field(min_length=1, max_length=100)]
    days: Annotated[int, Field(ge=1, le=MAX_EXTENSION)]


@tool("schedule", "preference", Extension, write=True, risk="B")
def extend_window(context: ToolContext, extension: Extension) -> ToolResult:
    """把这些任务类的截止日期往后延几天，窗口随之变长；新增的天按空闲计（标为假定）。只在用户同意延期后使用。"""
    state = context.schedule
    assert state is not None
    class_ids = tuple(dict.fromkeys(extension.task_class_ids))
    unknown = [class_id for class_id in class_ids if class_id not in state.class_by_id]
    if unknown:
        return refuse("invalid_args", f"没有编号为 {unknown} 的任务类。", unknown_task_class_ids=unknown)
    wish = {"kind": "extend_window", "task_class_ids": class_ids, "days": extension.days}
    after = relax(state, wish)
    fields: list[dict[str, Any]] = [
        {"field": "window_days", "before": len(state.window.days), "after": len(after.window.days)}
    ]
    lines: list[str] = []
    for class_id in class_ids:
        before, later = state.class_by_id[class_id], after.class_by_id[class_id].end_date
        if before.end_date and later:
            old, new = before.end_date.isoformat(), later.isoformat()
            fields.append({"field": "end_date", "task_class_id": class_id, "before": old, "after": new})
            lines.append(f"「{before.name}」截止 {old} → {new}")
    first, last = day_words(after, len(state.window.days) + 1), day_words(after, len(after.window.days))
    head = f"窗口加长 {extension.days} 天：{first} 到 {last}。"
    delta = judge_delta(state, after)
    text = "\n".join([head, *lines, delta_words(delta)])
    return ToolResult(True, "ok", text, {"fields": fields, "judge": delta}, (), after)
