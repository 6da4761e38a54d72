"""The compound edits as tools: filters, refusals, and when exchanging is offered at all."""

from __future__ import annotations

from typing import Any

from newagent.schedule.model import ScheduleState
from newagent.state.documents import AgentState
from newagent.tools.base import ToolContext, ToolResult
from newagent.tools.call import run_tool
from newagent.tools.registry import load_catalogue
from newagent.tools.visibility import visible
from tests.schedule.base.small_states import item, state_of, task_class


def crowded() -> ScheduleState:
    tasks = [item(k + 1, 10 + 10 * (k % 2), k + 1, (1, 2 * k + 1)) for k in range(6)]
    return state_of([*tasks, item(9, 10, 9)], [task_class(10), task_class(20)])


async def run(name: str, state: ScheduleState, **arguments: Any) -> ToolResult:
    tool = load_catalogue().get(name)
    assert tool is not None
    assert tool.write
    return await run_tool(tool, arguments, ToolContext(state))


async def test_spreading_over_the_days_that_the_filters_leave() -> None:
    result = await run("spread_even", crowded(), task_ids=[1, 2, 3, 4, 5, 6], day_of_week=[1, 2, 3], before_section=9)
    assert result.ok
    assert result.schedule is not None
    slots = [task.slots[0] for task in result.schedule.items if task.slots]
    assert sorted(slot.day for slot in slots) == [1, 1, 2, 2, 3, 3]
    assert all(slot.end < 9 for slot in slots)
    assert {change.task_id for change in result.changes} <= {1, 2, 3, 4, 5, 6}
    assert result.data["judge"]["after"]["cost"] < result.data["judge"]["before"]["cost"]
    assert "评分" in result.text


async def test_exchanging_places() -> None:
    result = await run("min_context_switch", crowded(), task_ids=[1, 2, 3, 4, 5, 6])
    assert result.ok
    assert result.schedule is not None
    once_more = await run("min_context_switch", result.schedule, task_ids=[1, 2, 3, 4, 5, 6])
    assert (once_more.code, once_more.data, once_more.schedule) == ("ok", {"changed": 0}, None)


async def test_refusals() -> None:
    nothing = state_of([item(1, 10, 1)], [task_class(10)])
    for name in ("spread_even", "min_context_switch"):
        assert (await run(name, nothing, task_ids=[1])).code == "no_preview"
        assert (await run(name, crowded(), task_ids=[9])).code == "wrong_status"
        assert (await run(name, crowded(), task_ids=[])).code == "invalid_args"
        assert (await run(name, crowded(), task_ids=[77])).code == "unknown_task"
    full = await run("spread_even", crowded(), task_ids=[1, 2, 3, 4, 5, 6], day=2, before_section=5)
    assert (full.code, full.data["task_ids"], full.schedule) == ("infeasible", [1, 2, 3, 4, 5, 6], None)


def test_exchanging_is_offered_only_where_the_order_may_change() -> None:
    state = AgentState(conversation_id="c", user_id="u", phase="executing", active={"schedule": ("compound",)})
    names = {tool.name for tool, _ in visible(load_catalogue(), state)}
    assert "spread_even" in names
    assert "min_context_switch" not in names
    allowed = state.model_copy(update={"order_may_change": True})
    assert "min_context_switch" in {tool.name for tool, _ in visible(load_catalogue(), allowed)}
