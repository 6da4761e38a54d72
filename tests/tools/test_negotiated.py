"""More days and protections: written as agreed, shown on the card in the student's words, refused if wrong."""

from __future__ import annotations

from typing import Any

import pytest

from newagent.loop.gate import changes_of
from newagent.schedule.model import ScheduleState
from newagent.tools.base import ToolContext, ToolResult
from newagent.tools.call import run_tool
from newagent.tools.registry import load_catalogue
from tests.schedule.base.small_states import course, item, state_of, task_class


def week() -> ScheduleState:
    return state_of(
        [course(1, (1, 1, 2)), item(2, 10, 1, (1, 3)), item(3, 20, 1, (2, 3))],
        [task_class(10, end_date="2026-03-08"), task_class(20)],
        protections=[{"kind": "weekday", "value": 5}],
    )


async def run(name: str, state: ScheduleState, **arguments: Any) -> ToolResult:
    tool = load_catalogue().get(name)
    assert tool is not None
    assert (tool.pack, tool.risk, tool.write) == ("preference", "B", True)
    return await run_tool(tool, arguments, ToolContext(state))


async def test_days_are_appended_and_the_classes_end_later() -> None:
    result = await run("extend_window", week(), task_class_ids=[10, 20, 10], days=3)
    assert result.ok
    after = result.schedule
    assert after is not None
    assert [(day.day, day.date.isoformat(), day.week, day.assumed) for day in after.window.days[6:]] == [
        (7, "2026-03-08", 1, False),
        (8, "2026-03-09", 2, True),
        (9, "2026-03-10", 2, True),
        (10, "2026-03-11", 2, True),
    ]
    assert after.class_by_id[10].end_date == after.window.days[-1].date
    assert after.class_by_id[20].end_date is None
    assert ScheduleState.load(after.dump()) == after
    assert [change["text"] for change in changes_of(week(), result, "zh")] == [
        "可排的天数：7 → 10",
        "截止日期（class 10）：2026-03-08 → 2026-03-11",
    ]
    assert changes_of(week(), result, "en")[0]["text"].startswith("days to plan in")


async def test_a_protection_comes_and_goes() -> None:
    result = await run("protect", week(), kind="day", value=1)
    assert result.ok
    assert result.schedule is not None
    assert [(one.kind, one.value) for one in result.schedule.protections] == [("weekday", 5), ("day", 1)]
    assert "2026-03-02" in result.text
    assert [change["text"] for change in changes_of(week(), result, "zh")] == [
        "不许改动的内容：周五 → 周五、2026-03-02"
    ]
    again = await run("unprotect", result.schedule, kind="weekday", value=5)
    assert again.schedule is not None
    assert [(one.kind, one.value) for one in again.schedule.protections] == [("day", 1)]


@pytest.mark.parametrize(
    ("kind", "value", "word"), [("task", 2, "item 2"), ("class", 20, "class 20"), ("weekday", 3, "周三")]
)
async def test_what_is_protected_is_named(kind: str, value: int, word: str) -> None:
    result = await run("protect", week(), kind=kind, value=value)
    assert word in result.text
    assert word in changes_of(week(), result, "zh")[0]["text"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("extend_window", {"task_class_ids": [99], "days": 3}),
        ("extend_window", {"task_class_ids": [], "days": 3}),
        ("extend_window", {"task_class_ids": [10], "days": 0}),
        ("extend_window", {"task_class_ids": [10], "days": 999}),
        ("protect", {"kind": "task", "value": 99}),
        ("protect", {"kind": "class", "value": 2}),
        ("protect", {"kind": "day", "value": 8}),
        ("protect", {"kind": "weekday", "value": 8}),
        ("protect", {"kind": "moon", "value": 1}),
        ("protect", {"kind": "weekday", "value": 5}),
        ("unprotect", {"kind": "weekday", "value": 4}),
        ("unprotect", {"kind": "task", "value": 99}),
    ],
)
async def test_what_makes_no_sense_is_refused(name: str, arguments: dict[str, Any]) -> None:
    result = await run(name, week(), **arguments)
    assert (result.ok, result.code) == (False, "invalid_args")
    assert result.schedule is None
