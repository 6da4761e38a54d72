"""What every write to the preview ends with: the changes in words and the judge's before → after."""

from __future__ import annotations

from typing import Any

from newagent.schedule.edits import Edited
from newagent.schedule.judge import judge_delta
from newagent.schedule.model import ScheduleState
from newagent.schedule.rules import Violation
from newagent.tools.base import ToolResult
from newagent.tools.refusal import refused_edit
from newagent.tools.words import change_words, shortened


def written(before: ScheduleState, outcome: Edited | Violation) -> ToolResult:
    """The result of an edit: refused with its code, or done with changes and judgement."""
    if isinstance(outcome, Violation):
        return refused_edit(before, outcome)
    delta = judge_delta(before, outcome.state)
    changes = [change_words(outcome.state, change) for change in outcome.changes]
    lines = [f"改动 {len(changes)} 处：", *changes]
    text = shortened(lines, 4500, "用 query_target_tasks 查看位置") + "\n" + delta_words(delta)
    return ToolResult(True, "ok", text, {"judge": delta}, outcome.changes, outcome.state)


def delta_words(delta: dict[str, Any]) -> str:
    """The judge's before → after in one line."""
    before, after = delta["before"], delta["after"]
    words = f"评分 {before['cost']} → {after['cost']}（越低越好），未放 {before['pending']} → {after['pending']}"
    terms = [
        f"{name} {before['terms'][name]}→{value}"
        for name, value in after["terms"].items()
        if before["terms"][name] != value
    ]
    gained, lost = len(delta["issues_gained"]), len(delta["issues_lost"])
    return f"{words}；{'，'.join(terms) or '各项不变'}；新增问题 {gained}，消除问题 {lost}。"
