"""What the judge says to a person, in Chinese: a day is named with its week, weekday and date."""

from __future__ import annotations

from typing import Any

from newagent.schedule.calendar import WEEKDAY_NAMES
from newagent.schedule.judge.scan import Edit
from newagent.schedule.model import ScheduleState, Slot

PROBLEMS = {
    "heavy_adjacent": "两门费脑的课挨在一起",
    "heavy_run": "费脑的内容连得太长",
    "long_block": "同一科连得太长",
    "switching": "换科太多",
    "overload": "排得太满",
    "avoided": "有任务排在想避开的时段",
    "unpreferred": "有任务没排在偏好的时段",
    "evening_heavy": "晚上有费脑的任务",
    "buffer": "没有留出连续两节的空档",
    "cap": "超过了每天学习的上限",
}
WEEKDAYS = WEEKDAY_NAMES["zh"]


def day_words(state: ScheduleState, number: int) -> str:
    """`第3周周三（03-18）`."""
    day = state.window.days[number - 1]
    return f"第{day.week}周{WEEKDAYS[day.day_of_week - 1]}（{day.date:%m-%d}）"


def slot_words(state: ScheduleState, slot: Slot) -> str:
    """`第3周周三（03-18）第3-4节`."""
    span = f"{slot.start}-{slot.end}" if slot.end > slot.start else f"{slot.start}"
    return f"{day_words(state, slot.day)}第{span}节"


def edit_words(state: ScheduleState, edit: Edit, benefit: int) -> str:
    """What an edit would do and what it gains."""
    gain = f"，评分降低 {benefit}"
    tasks = [state.by_id[task_id] for task_id in edit.targets]
    if edit.tool == "swap":
        first, second = (f"「{task.name}」（{slot_words(state, task.slots[0])}）" for task in tasks)
        return f"交换{first}和{second}{gain}"
    parts = [
        f"「{task.name}」从{slot_words(state, task.slots[0])}移到{slot_words(state, edit.targets[task.id])}"
        for task in tasks
    ]
    return "；".join(parts) + gain


def issue_words(state: ScheduleState, issue: dict[str, Any]) -> str:
    """An issue in one sentence."""
    code = issue["code"]
    match code:
        case "infeasible":
            return f"按现在的约束放不下，还差 {issue['trigger']['actual']} 节"
        case "pending":
            return f"还有 {issue['trigger']['actual']} 项没有放进课表"
        case "profile":
            return f"任务类「{state.class_by_id[issue['task_class_id']].name}」缺少学科画像"
        case _:
            return f"{day_words(state, issue['day'])}{PROBLEMS[code]}"


def relaxation_words(state: ScheduleState, relaxation: dict[str, Any]) -> str:
    """A relaxation of a placement report as an offer."""

    def name() -> str:
        return f"「{state.class_by_id[relaxation['task_class_id']].name}」"

    match relaxation["kind"]:
        case "extend_window":
            return f"把截止日期往后延 {relaxation['days']} 天"
        case "free_block":
            return f"允许{name()}使用第 {relaxation['block']} 大节"
        case "free_weekday":
            return f"允许{name()}排在{WEEKDAYS[relaxation['day_of_week'] - 1]}"
        case "allow_filler":
            return f"允许{name()}嵌入可嵌入的课"
        case _:
            names = "、".join(f"「{state.by_id[task_id].name}」" for task_id in relaxation["task_ids"])
            return f"这次先不排 {names}"
