"""The observers as tools: each looks at one side of the timetable, explains, and decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from newagent.schedule.observers import (
    ContextQuery,
    LoadQuery,
    RhythmQuery,
    SubjectsQuery,
    ToleranceQuery,
)
from newagent.schedule.observers import analyze_context as look_at_context
from newagent.schedule.observers import analyze_load as look_at_load
from newagent.schedule.observers import analyze_rhythm as look_at_rhythm
from newagent.schedule.observers import analyze_subjects as look_at_subjects
from newagent.schedule.observers import analyze_tolerance as look_at_tolerance
from newagent.tools.analyze.fitting import envelope_text
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.registry import tool


class Rhythm(RhythmQuery, Arguments):
    """Which days; `full` adds the items of each day."""


class Load(LoadQuery, Arguments):
    """Which days, in which grain, in how much detail."""


class Subjects(SubjectsQuery, Arguments):
    """Which class (by name or number, all if none), and whether its pending items are looked at."""


class Context(ContextQuery, Arguments):
    """Which days, and which classes (by name) count as demanding."""


class Tolerance(ToleranceQuery, Arguments):
    """Which days, how long a run of free sections must be to be of use, how much of it a day should keep."""


def _observed(look: Callable[..., dict[str, Any]], context: ToolContext, query: Arguments) -> ToolResult:
    state = context.schedule
    assert state is not None
    envelope = look(state, **query.model_dump())
    code = "ok" if envelope["success"] else envelope["error_code"]
    return ToolResult(envelope["success"], code, envelope_text(envelope), envelope)


@tool("schedule", "deep_analyze", Rhythm)
def analyze_rhythm(context: ToolContext, query: Rhythm) -> ToolResult:
    """观察每天的节奏：科目序列、连续块、切换次数、相邻的费脑任务、过碎或过挤的日子。只解释，不做裁决。"""
    return _observed(look_at_rhythm, context, query)


@tool("schedule", "deep_analyze", Load)
def analyze_load(context: ToolContext, query: Load) -> ToolResult:
    """观察负载：每天、每周或各时段占用多少节、利用率、波动和峰谷。只解释，不做裁决。"""
    return _observed(look_at_load, context, query)


@tool("schedule", "deep_analyze", Subjects)
def analyze_subjects(context: ToolContext, query: Subjects) -> ToolResult:
    """观察各任务类：出现在哪些天、间隔、集中度、预算进度、离截止还有几天。只解释，不做裁决。"""
    return _observed(look_at_subjects, context, query)


@tool("schedule", "deep_analyze", Context)
def analyze_context(context: ToolContext, query: Context) -> ToolResult:
    """观察切换：每天换科几次、有多碎、连续块多长、哪些费脑任务挨在一起。只解释，不做裁决。"""
    return _observed(look_at_context, context, query)


@tool("schedule", "deep_analyze", Tolerance)
def analyze_tolerance(context: ToolContext, query: Tolerance) -> ToolResult:
    """观察余量：每天有多少可用的空闲块、多少零碎空档、哪些天没有缓冲。只解释，不做裁决。"""
    return _observed(look_at_tolerance, context, query)
