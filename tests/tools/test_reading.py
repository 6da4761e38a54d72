"""The reading tools: what they find, how they say it, and that days are always named whole."""

from __future__ import annotations

import re
from typing import Any

import pytest

from newagent.schedule import edits
from newagent.schedule.edits import Edited
from newagent.schedule.model import ScheduleState
from newagent.tools.base import TEXT_LIMIT, ToolContext, ToolResult
from newagent.tools.call import run_tool
from newagent.tools.registry import load_catalogue
from tests.loop.bed import week_state


async def run(name: str, state: ScheduleState | None = None, **arguments: Any) -> ToolResult:
    context = ToolContext(schedule=placed_state() if state is None else state)
    return await run_tool(load_catalogue().by_name[name], arguments, context)


def placed_state() -> ScheduleState:
    """Items 2 and 3 on day 2, item 5 on the Saturday."""
    state = week_state()
    for task_id, day, start in ((2, 2, 1), (3, 2, 5), (5, 6, 9)):
        outcome = edits.place(state, task_id, day, start)
        assert isinstance(outcome, Edited)
        state = outcome.state
    return state


def hosting_state() -> ScheduleState:
    state = week_state(filler=True)
    course = state.tasks[0].evolve(can_embed=True, locked=False)
    return state.evolve(tasks=(course, *state.tasks[1:]))


async def test_the_overview_counts_and_lists() -> None:
    result = await run("get_overview")
    assert result.ok
    assert result.data["pending"] == [4, 6, 7]
    assert result.data["days"][1] == {"day": 2, "course_sections": 0, "study_sections": 4}
    assert "D1 第1周 周一 2026-03-02 课 2 节，任务 0 节" in result.text
    assert "「概率论」3 项，未放 1" in result.text


async def test_the_overview_names_hosts() -> None:
    result = await run("get_overview", hosting_state())
    assert result.data["hosts"] == [1]
    assert "可嵌入的课" in result.text


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ({"status": "suggested"}, [2, 3, 5]),
        ({"status": "pending"}, [4, 6, 7]),
        ({"status": "existing"}, [1]),
        ({"category": "概率论"}, [2, 3, 4]),
        ({"category": "11"}, [5, 6, 7]),
        ({"category": "course"}, [1]),
        ({"category": "task", "day": 2}, [2, 3]),
        ({"day_of_week": [6]}, [5]),
        ({"day_scope": "weekend"}, [5]),
        ({"day_scope": "workday", "category": "task"}, [2, 3]),
        ({"week": [2]}, [1]),
        ({"day_from": 2, "day_to": 5}, [2, 3]),
        ({"after_section": 4, "category": "task"}, [3, 5]),
        ({"before_section": 5, "category": "task"}, [2]),
        ({"exclude_sections": [1], "category": "task"}, [3, 5]),
        ({"task_ids": [3, 6]}, [3, 6]),
        ({"category": "不存在"}, []),
    ],
)
async def test_tasks_are_found_by_what_is_known_of_them(arguments: dict[str, Any], ids: list[int]) -> None:
    result = await run("query_target_tasks", **arguments)
    assert result.data["task_ids"] == ids
    assert result.data["total"] == len(ids)


async def test_a_task_line_has_all_that_a_reader_needs() -> None:
    result = await run("query_target_tasks", task_ids=[2])
    assert "#2「概率论 第1章」[概率论] 序1 2节 已放 D2 第1周 周二 2026-03-03 第1-2节" in result.text
    result = await run("query_target_tasks", task_ids=[4])
    assert result.text.endswith("未放")


async def test_free_places_leave_out_what_is_taken() -> None:
    result = await run("query_available_slots", day=2, limit=200)
    starts = [slot["start"] for slot in result.data["slots"]]
    assert starts == [3, 7, 9, 11]
    assert "D2 第1周 周二 2026-03-03 第3-4节" in result.text


async def test_hosts_come_last_and_can_be_left_out() -> None:
    result = await run("query_available_slots", hosting_state(), day=1, limit=50)
    assert result.data["slots"][-1] == {"day": 1, "start": 1, "end": 2, "embed_host": 1}
    assert "可嵌入「高等数学」" in result.text
    result = await run("query_available_slots", hosting_state(), day=1, allow_embed=False)
    assert all(slot["embed_host"] is None for slot in result.data["slots"])


@pytest.mark.parametrize(("span", "first"), [(1, 3), (2, 3), (3, 5), (4, 5), (5, 3)])
async def test_a_span_stays_in_one_period_unless_it_is_longer_than_one(span: int, first: int) -> None:
    result = await run("query_available_slots", day=1, span=span)
    slots = result.data["slots"]
    assert slots[0]["start"] == first


async def test_places_for_a_task_are_legal_for_it() -> None:
    state = placed_state()
    result = await run("query_available_slots", state, for_task_id=4, limit=200)
    assert result.data["total"] > 0
    for slot in result.data["slots"]:
        assert isinstance(edits.place(state, 4, slot["day"], slot["start"]), Edited)
    last_before = max((2, 6), (2, 6))
    assert all((slot["day"], slot["start"]) > last_before for slot in result.data["slots"])


@pytest.mark.parametrize(("task_id", "code"), [(99, "unknown_task"), (1, "locked")])
async def test_places_for_what_cannot_be_placed_are_refused(task_id: int, code: str) -> None:
    assert (await run("query_available_slots", for_task_id=task_id)).code == code


async def test_a_day_is_told_section_by_section() -> None:
    result = await run("query_range", day=2)
    lines = result.text.split("\n")
    assert lines[0] == "D2 第1周 周二 2026-03-03"
    assert lines[1] == "第1-2节：#2「概率论 第1章」[概率论]"
    assert lines[2] == "第3-4节：空"
    part = await run("query_range", day=2, start=2, end=3)
    assert part.data["sections"] == {2: [2]}


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("query_range", {"day": 15}, "out_of_window"),
        ("query_range", {"day": 2, "start": 9, "end": 3}, "invalid_args"),
        ("query_range", {"day": 0}, "invalid_args"),
        ("get_day_summary", {"day": 15}, "out_of_window"),
        ("get_task_info", {"task_id": 99}, "unknown_task"),
        ("get_task_context", {"task_id": 99}, "unknown_task"),
        ("query_target_tasks", {"status": "lost"}, "invalid_args"),
        ("query_available_slots", {"span": 0}, "invalid_args"),
        ("get_overview", {"x": 1}, "invalid_args"),
    ],
)
async def test_what_is_not_there_is_refused(name: str, arguments: dict[str, Any], code: str) -> None:
    assert (await run(name, **arguments)).code == code


async def test_a_day_summary() -> None:
    result = await run("get_day_summary", day=2)
    assert result.data == {
        "day": 2,
        "course_sections": 0,
        "study_sections": 4,
        "free_sections": 8,
        "task_ids": [2, 3],
    }
    course = await run("get_day_summary", day=1)
    assert "「高等数学」[课程]" in course.text


async def test_task_info_does_not_show_stored_ids() -> None:
    result = await run("get_task_info", task_id=2)
    assert result.data["name"] == "概率论 第1章"
    assert "source_id" not in result.data


async def test_the_context_of_a_task_has_its_bounds_and_siblings() -> None:
    result = await run("get_task_context", task_id=3)
    assert result.data["siblings"] == [2, 3, 4]
    assert result.data["after"] == {"day": 2, "start": 1, "end": 2}
    assert result.data["before"] is None
    assert result.data["legal_places"] > 10
    course = await run("get_task_context", task_id=1)
    assert "固定" in course.text


async def test_listing_by_category_and_status() -> None:
    assert (await run("list_tasks", category="task")).data["total"] == 6
    assert (await run("list_tasks", category="概率论", status="pending")).data["task_ids"] == [4]


async def test_long_answers_are_cut_with_a_hint() -> None:
    result = await run("list_tasks", week_state(items=150))
    assert len(result.text) <= TEXT_LIMIT
    assert "未列出" in result.text
    assert result.data["total"] == 301


DAY = re.compile(r"D\d+ (?!第\d+周 周[一二三四五六日] \d{4}-\d\d-\d\d)")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_overview", {}),
        ("query_target_tasks", {}),
        ("query_available_slots", {}),
        ("query_range", {"day": 2}),
        ("get_day_summary", {"day": 2}),
        ("get_task_context", {"task_id": 3}),
        ("list_tasks", {}),
    ],
)
async def test_every_day_is_named_with_week_weekday_and_date(name: str, arguments: dict[str, Any]) -> None:
    assert not DAY.search((await run(name, **arguments)).text)


async def test_reading_tools_change_nothing() -> None:
    state = placed_state()
    for tool in load_catalogue():
        if not tool.write and tool.needs == "schedule":
            result = await run_tool(tool, {"day": 1, "task_id": 2}, ToolContext(schedule=state))
            assert result.schedule is None
            assert result.changes == ()
