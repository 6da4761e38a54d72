"""`protect` and `unprotect`: what the agent must leave alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from newagent.schedule.calendar import WEEKDAY_NAMES
from newagent.schedule.model import Protection, ScheduleState
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.refusal import refuse
from newagent.tools.registry import tool
from newagent.tools.words import day_words

WHAT = {"task": "任务", "class": "任务类", "day": "窗口中的一天", "weekday": "星期"}


class Shield(Arguments):
    """A task or task class by its id, a day of the window, or a weekday (1 Monday – 7 Sunday)."""

    kind: Literal["task", "class", "day", "weekday"]
    value: Annotated[int, Field(ge=1)]


@tool("schedule", "preference", Shield, write=True, risk="B")
def protect(context: ToolContext, shield: Shield) -> ToolResult:
    """保护一个任务、任务类、某一天或某个星期几：之后助手不再改动它，只有用户自己能改。"""
    state = context.schedule
    assert state is not None
    wanted = Protection(kind=shield.kind, value=shield.value)
    name = _name(state, wanted)
    if name is None:
        return refuse("invalid_args", f"没有编号为 {shield.value} 的{WHAT[shield.kind]}。")
    if wanted in state.protections:
        return refuse("invalid_args", f"{name}已经受保护。")
    return _written(state, (*state.protections, wanted), f"已保护：{name}。")


@tool("schedule", "preference", Shield, write=True, risk="B")
def unprotect(context: ToolContext, shield: Shield) -> ToolResult:
    """解除一项保护，助手可以再改动它。只在用户要求时使用。"""
    state = context.schedule
    assert state is not None
    unwanted = Protection(kind=shield.kind, value=shield.value)
    name = _name(state, unwanted) or f"{WHAT[shield.kind]} {shield.value}"
    if unwanted not in state.protections:
        return refuse("invalid_args", f"{name}没有受保护。")
    return _written(state, tuple(one for one in state.protections if one != unwanted), f"已解除保护：{name}。")


def _written(state: ScheduleState, protections: tuple[Protection, ...], text: str) -> ToolResult:
    fields: list[dict[str, Any]] = [
        {
            "field": "protections",
            "before": [one.model_dump() for one in state.protections],
            "after": [one.model_dump() for one in protections],
        }
    ]
    return ToolResult(True, "ok", text, {"fields": fields}, (), state.evolve(protections=protections))


def _name(state: ScheduleState, shield: Protection) -> str | None:
    """What is protected, in words; None if there is no such thing."""
    match shield.kind:
        case "task":
            task = state.by_id.get(shield.value)
            return task and f"「{task.name}」"
        case "class":
            task_class = state.class_by_id.get(shield.value)
            return task_class and f"任务类「{task_class.name}」"
        case "day":
            return day_words(state, shield.value) if shield.value <= len(state.window.days) else None
        case "weekday":
            return WEEKDAY_NAMES["zh"][shield.value - 1] if shield.value <= 7 else None
