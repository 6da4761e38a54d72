"""The pack `detail_read`: one day, one task, or a list, in detail."""

from __future__ import annotations

from typing import Any

from newagent.schedule.model import ScheduleState, Slot, Task
from newagent.schedule.rules import order_range
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.filters import Positive, Status, tasks_of_category
from newagent.tools.places import legal_places
from newagent.tools.refusal import refuse
from newagent.tools.registry import tool
from newagent.tools.words import day_words, shortened, slot_words, task_line


class Range(Arguments):
    """Sections `start` to `end` of a day; the whole day when left out."""

    day: Positive
    start: Positive | None = None
    end: Positive | None = None


class OneDay(Arguments):
    """A day of the window."""

    day: Positive


class OneTask(Arguments):
    """A task by its id."""

    task_id: int


class Listing(Arguments):
    """Which tasks."""

    category: str | None = None
    status: Status | None = None


@tool("schedule", "detail_read", Range)
def query_range(context: ToolContext, query: Range) -> ToolResult:
    """查某一天（或其中几节）逐节有什么。"""
    state = context.schedule
    assert state is not None
    if query.day > len(state.window.days):
        return _no_day(state, query.day)
    first, last = query.start or 1, min(query.end or state.window.sections, state.window.sections)
    if first > last:
        return refuse("invalid_args", f"节次 {first}-{last} 不是一个范围，当天共 {state.window.sections} 节。")
    held: dict[int, list[Task]] = {}
    for task in state.tasks:
        for slot in task.slots:
            if slot.day == query.day:
                for section in range(max(first, slot.start), min(last, slot.end) + 1):
                    held.setdefault(section, []).append(task)
    lines = [day_words(state, query.day)]
    for start, end, tasks in _runs(first, last, held):
        span = f"第{start}-{end}节" if end > start else f"第{start}节"
        lines.append(f"{span}：" + ("、".join(_who(state, task) for task in tasks) or "空"))
    data = {"day": query.day, "sections": {s: [task.id for task in tasks] for s, tasks in sorted(held.items())}}
    return ToolResult(True, "ok", "\n".join(lines), data)


def _runs(first: int, last: int, held: dict[int, list[Task]]) -> list[tuple[int, int, list[Task]]]:
    runs: list[tuple[int, int, list[Task]]] = []
    for section in range(first, last + 1):
        tasks = held.get(section, [])
        if runs and runs[-1][2] == tasks:
            runs[-1] = (runs[-1][0], section, tasks)
        else:
            runs.append((section, section, tasks))
    return runs


def _who(state: ScheduleState, task: Task) -> str:
    kind = state.class_of(task).name if task.is_item else "课程，可嵌入" if task.can_embed else "课程"
    return f"#{task.id}「{task.name}」[{kind}]"


@tool("schedule", "detail_read", OneTask)
def get_task_info(context: ToolContext, query: OneTask) -> ToolResult:
    """查一个任务：所属类、次序、长度、状态和位置。"""
    state = context.schedule
    assert state is not None
    task = state.by_id.get(query.task_id)
    if task is None:
        return _no_task(query.task_id)
    return ToolResult(True, "ok", task_line(state, task), task.model_dump(mode="json", exclude={"source_id", "source"}))


@tool("schedule", "detail_read", Listing)
def list_tasks(context: ToolContext, query: Listing) -> ToolResult:
    """列出任务，可按类别（course、task、任务类名或编号）和状态筛选。"""
    state = context.schedule
    assert state is not None
    found = [t for t in tasks_of_category(state, query.category) if query.status in (None, t.status)]
    lines = [f"共 {len(found)} 个：", *(task_line(state, task) for task in found)]
    data = {"total": len(found), "task_ids": [task.id for task in found]}
    return ToolResult(True, "ok", shortened(lines, 6000, "按类别或状态筛选"), data)


@tool("schedule", "detail_read", OneDay)
def get_day_summary(context: ToolContext, query: OneDay) -> ToolResult:
    """某一天的概况：课程、任务、空闲各多少节，依次学什么。"""
    state = context.schedule
    assert state is not None
    if query.day > len(state.window.days):
        return _no_day(state, query.day)
    here = [(slot, task) for task in state.tasks for slot in task.slots if slot.day == query.day]
    here.sort(key=lambda pair: (pair[0].start, pair[1].id))
    course = {s for slot, task in here if not task.is_item for s in range(slot.start, slot.end + 1)}
    study = {s for slot, task in here if task.is_item for s in range(slot.start, slot.end + 1)}
    free = state.window.sections - len(course | study)
    lines = [f"{day_words(state, query.day)}：课程 {len(course)} 节，任务 {len(study)} 节，空闲 {free} 节。"]
    lines += [f"第{slot.start}-{slot.end}节 {_who(state, task)}" for slot, task in here]
    data: dict[str, Any] = {
        "day": query.day,
        "course_sections": len(course),
        "study_sections": len(study),
        "free_sections": free,
        "task_ids": [task.id for _, task in here],
    }
    return ToolResult(True, "ok", "\n".join(lines), data)


@tool("schedule", "detail_read", OneTask)
def get_task_context(context: ToolContext, query: OneTask) -> ToolResult:
    """一个任务的来龙去脉：任务类的要求、同类各项的次序与位置、它可以落在哪个范围。"""
    state = context.schedule
    assert state is not None
    task = state.by_id.get(query.task_id)
    if task is None:
        return _no_task(query.task_id)
    if not task.is_item:
        return ToolResult(True, "ok", task_line(state, task) + "\n课程是固定的，不能改动。", {"task_id": task.id})
    task_class = state.class_of(task)
    earlier, later = order_range(state, task)
    lines = [
        task_line(state, task),
        f"任务类「{task_class.name}」：{task_class.start_date} 至 {task_class.end_date}，策略 {task_class.strategy}，"
        f"不排第 {list(task_class.excluded_slots)} 大节、周 {list(task_class.excluded_days_of_week)}，"
        f"{'可' if task_class.allow_filler_course else '不可'}嵌入课程。",
        "最早：" + (f"{slot_words(state, earlier)} 之后" if earlier else "不限"),
        "最晚：" + (f"{slot_words(state, later)} 之前" if later else "不限"),
        "同类各项：",
        *(task_line(state, sibling) for sibling in state.items_of[task_class.id]),
    ]
    places = [] if task.status == "existing" or task.locked else [slot for slot, _ in legal_places(state, task)]
    lines.insert(4, f"现在合法的位置 {len(places)} 个。")
    data = {
        "task_id": task.id,
        "after": _bound(earlier),
        "before": _bound(later),
        "legal_places": len(places),
        "siblings": [sibling.id for sibling in state.items_of[task_class.id]],
    }
    return ToolResult(True, "ok", shortened(lines, 6000, "用 query_available_slots(for_task_id) 查位置"), data)


def _bound(slot: Slot | None) -> dict[str, int] | None:
    return slot.model_dump() if slot else None


def _no_task(task_id: int) -> ToolResult:
    return refuse("unknown_task", f"没有编号为 {task_id} 的任务。")


def _no_day(state: ScheduleState, day: int) -> ToolResult:
    return refuse(
        "out_of_window",
        f"窗口只有 D1–D{len(state.window.days)}，没有 D{day}。",
        legal={"days": [1, len(state.window.days)]},
    )
