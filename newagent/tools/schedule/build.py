"""`rough_build`: puts every pending item of some classes, all or none."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from newagent.schedule.placement import PlacementReport
from newagent.schedule.placement import rough_build as build_roughly
from newagent.schedule.rules import Violation
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.refusal import refuse
from newagent.tools.registry import tool
from newagent.tools.writing import written


class Build(Arguments):
    """The classes to place; `rebuild` lets their suggested items move too."""

    task_class_ids: Annotated[tuple[int, ...], Field(min_length=1, max_length=100)]
    rebuild: bool = False


@tool("schedule", "mutation", Build, write=True)
def rough_build(context: ToolContext, build: Build) -> ToolResult:
    """把这些任务类的所有未放任务一次放好：要么全部放进去，要么不动并说明差在哪里、放宽什么就能放下。"""
    state = context.schedule
    assert state is not None
    unknown = [class_id for class_id in build.task_class_ids if class_id not in state.class_by_id]
    if unknown:
        return refuse("invalid_args", f"没有编号为 {unknown} 的任务类。", unknown_task_class_ids=unknown)
    outcome = build_roughly(state, build.task_class_ids, rebuild=build.rebuild)
    if isinstance(outcome, PlacementReport):
        report = outcome.as_json()
        return refuse(report["code"], _report_words(report), report=report)
    if isinstance(outcome, Violation) or outcome.changes:
        return written(state, outcome)
    return ToolResult(True, "ok", "这些任务类没有未放的任务，预览不变。", {"placed": 0})


def _report_words(report: dict[str, Any]) -> str:
    head = {
        "infeasible": "放不下：",
        "blocked": "被已放的任务挡住了：",
        "undecided": "在搜索预算内无法判断能否放下：",
    }[report["code"]]
    required, available, missing = (report[f] for f in ("required_sections", "available_sections", "capacity_gap"))
    gap = f"需要 {required} 节，可用 {available} 节，缺口 {missing} 节。"
    options = [relaxation_words(relaxation) for relaxation in report["relaxations"]]
    return head + gap + ("可行的放宽：" + "；".join(options) if options else "")


def relaxation_words(relaxation: dict[str, Any]) -> str:
    """A relaxation of a placement report as a person reads it."""
    match relaxation["kind"]:
        case "rebuild":
            return "允许重排这些任务类已放的任务"
        case "extend_window":
            return f"截止日期向后延 {relaxation['days']} 天"
        case "free_block":
            return f"任务类 {relaxation['task_class_id']} 放开第 {relaxation['block']} 大节"
        case "free_weekday":
            return f"任务类 {relaxation['task_class_id']} 放开周{'一二三四五六日'[relaxation['day_of_week'] - 1]}"
        case "allow_filler":
            return f"允许任务类 {relaxation['task_class_id']} 嵌入水课"
        case _:
            return f"少排 {len(relaxation['task_ids'])} 项（编号 {relaxation['task_ids']}）"
