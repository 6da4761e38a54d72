"""Refusals as results: the violation in words for the model, in data for everyone else."""

from __future__ import annotations

from typing import Any

from newagent.schedule.model import ScheduleState
from newagent.schedule.rules import Violation
from newagent.texts import Locale, say
from newagent.tools.base import ToolResult
from newagent.tools.words import slot_words


def refuse(code: str, text: str, **data: Any) -> ToolResult:
    """A refused call."""
    return ToolResult(False, code, text, data)


def violation_words(state: ScheduleState, violation: Violation, locale: Locale = "zh") -> str:
    """A violation as a person reads it, with names, places and the legal range."""
    names = [state.by_id[task_id].name for task_id in violation.task_ids if task_id in state.by_id]
    text = say(
        locale,
        f"violation.{violation.code}",
        name=names[0] if names else violation.task_ids[0] if violation.task_ids else "?",
        other=names[1] if len(names) > 1 else "",
        place=slot_words(state, violation.slots[0], locale) if violation.slots else "",
        detail=violation.message,
    )
    sides: list[tuple[str, dict[str, int] | None]] = [(side, violation.legal.get(side)) for side in ("after", "before")]
    bounds = [
        say(locale, f"violation.{side}", day=bound["day"], section=bound["section"])
        for side, bound in sides
        if bound is not None
    ]
    return text + "".join(bounds)


def refused_edit(state: ScheduleState, violation: Violation) -> ToolResult:
    """A refused edit: its code, words and the violation itself under `violation`."""
    return refuse(violation.code, violation_words(state, violation), violation=violation.as_json())
