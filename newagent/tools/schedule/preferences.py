"""`set_preferences`: the student's dials."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from newagent.schedule.judge import judge_delta
from newagent.schedule.model import PeriodWish, Preferences
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.refusal import refuse
from newagent.tools.registry import tool
from newagent.tools.writing import delta_words


class Wishes(Arguments):
    """The fields of the preferences: those given are set, lists are replaced whole, null resets a field."""

    avoid: tuple[PeriodWish, ...] | None = None
    prefer: tuple[PeriodWish, ...] | None = None
    load: Literal["light", "balanced", "sprint"] | None = None
    switching: Literal["low", "balanced", "high"] | None = None
    tolerance: Literal["high", "balanced", "low"] | None = None
    long_blocks: Literal[3, 4, 6] | None = None
    evening_heavy: Literal["ok", "mild", "avoid"] | None = None
    daily_cap: Annotated[int, Field(ge=0)] | None = None


@tool("schedule", "preference", Wishes, write=True, risk="B")
def set_preferences(context: ToolContext, wishes: Wishes) -> ToolResult:
    """设置学习偏好，只填要改的，填 null 恢复默认。

    avoid/prefer 是时段（可限任务类或强度）；其余是 load、switching、tolerance、long_blocks、evening_heavy、daily_cap。
    """
    state = context.schedule
    assert state is not None
    unknown = [
        wish.task_class_id
        for wish in (*(wishes.avoid or ()), *(wishes.prefer or ()))
        if wish.task_class_id is not None and wish.task_class_id not in state.class_by_id
    ]
    if unknown:
        return refuse("invalid_args", f"没有编号为 {unknown} 的任务类。", unknown_task_class_ids=unknown)
    given = {name: getattr(wishes, name) for name in wishes.model_fields_set}
    if not given:
        return refuse("invalid_args", "至少给出一个要改的偏好。")
    kept = {name: getattr(state.preferences, name) for name in state.preferences.model_fields_set - set(given)}
    after = state.evolve(preferences=Preferences(**kept, **{k: v for k, v in given.items() if v is not None}))
    fields = _difference(state.preferences, after.preferences)
    delta = judge_delta(state, after)
    text = "；".join(f"{f['field']}：{f['before']} → {f['after']}" for f in fields) or "偏好没有变化"
    return ToolResult(True, "ok", f"{text}。\n{delta_words(delta)}", {"fields": fields, "judge": delta}, (), after)


def _difference(before: Preferences, after: Preferences) -> list[dict[str, Any]]:
    one, other = before.model_dump(mode="json"), after.model_dump(mode="json")
    return [{"field": name, "before": one[name], "after": other[name]} for name in one if one[name] != other[name]]
