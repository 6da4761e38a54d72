"""`get_overview`: the timetable at a glance."""

from __future__ import annotations

from newagent.schedule.model import ScheduleState
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.registry import tool
from newagent.tools.words import day_words, shortened, task_line


class NoArguments(Arguments):
    """This tool takes none."""


@tool("schedule", "core", NoArguments)
def get_overview(context: ToolContext, _: NoArguments) -> ToolResult:
    """总览：任务类与数量、每天一行的占用、未放的任务、可嵌入的课。"""
    state = context.schedule
    assert state is not None
    lines = [f"窗口 {len(state.window.days)} 天，每天 {state.window.sections} 节；课程 {len(state.courses)} 门。"]
    for task_class in state.task_classes:
        items = state.items_of[task_class.id]
        pending = sum(task.status == "pending" for task in items)
        dates = f"{task_class.start_date or '不限'} 至 {task_class.end_date or '不限'}"
        lines.append(f"任务类 #{task_class.id}「{task_class.name}」{len(items)} 项，未放 {pending}，{dates}。")
    per_day = _per_day(state)
    lines += [f"{day_words(state, d)} 课 {course} 节，任务 {study} 节" for d, (course, study) in enumerate(per_day, 1)]
    pending_items = state.pending
    if pending_items:
        lines.append(f"未放 {len(pending_items)} 项：")
        lines += [task_line(state, task) for task in pending_items]
    hosts = [course for course in state.courses if course.can_embed]
    if hosts:
        lines.append("可嵌入的课：")
        lines += [task_line(state, course) for course in hosts]
    data = {
        "days": [{"day": d, "course_sections": c, "study_sections": s} for d, (c, s) in enumerate(per_day, 1)],
        "pending": [task.id for task in pending_items],
        "hosts": [course.id for course in hosts],
        "classes": [{"id": c.id, "name": c.name, "items": len(state.items_of[c.id])} for c in state.task_classes],
    }
    return ToolResult(True, "ok", shortened(lines, 6000, "用 query_range 查某一天，用 query_target_tasks 查任务"), data)


def _per_day(state: ScheduleState) -> list[tuple[int, int]]:
    counts = [[0, 0] for _ in state.window.days]
    for task in state.tasks:
        for slot in task.slots:
            counts[slot.day - 1][task.is_item] += slot.end - slot.start + 1
    return [(course, study) for course, study in counts]
