"""The catalogue: declared once, found by itself, checked, limited in time, and never raising."""

from __future__ import annotations

import asyncio
import string
import time
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newagent.errors import RefusedError
from newagent.state.documents import AgentState
from newagent.texts import catalogue as texts
from newagent.tools.base import Arguments, Tool, ToolContext, ToolResult
from newagent.tools.call import check_arguments, run_tool
from newagent.tools.registry import Catalogue, load_catalogue, tool
from newagent.tools.visibility import OPTIMISING, visible
from tests.loop.bed import week_state

ALL = load_catalogue()


class Echo(Arguments):
    """One word."""

    word: str = "x"


def declared(handler: Any, **fields: Any) -> Tool:
    return Tool("echo", "test", "core", "says it again", Echo, handler, needs="nothing", **fields)


def test_every_tool_is_whole() -> None:
    assert len(ALL.by_name) >= 20
    for one in ALL:
        jsonschema.Draft202012Validator.check_schema(one.schema)
        assert one.description
        assert one.schema["additionalProperties"] is False
        assert one.risk in "ABCD"
        assert one.write or one.risk == "A"


def test_the_domains_and_packs_are_those_of_the_tools() -> None:
    assert ALL.domains["schedule"][0] == "core"
    assert {"mutation", "analyze", "detail_read", "preference"} <= set(ALL.domains["schedule"])


def test_two_tools_of_one_name_are_refused() -> None:
    one = declared(lambda context, arguments: None)
    with pytest.raises(ValueError, match="two tools"):
        Catalogue([one, one])


def test_a_tool_without_a_description_is_refused() -> None:
    with pytest.raises(TypeError, match="no description"):

        @tool("test", "core", Echo)
        def mute(context: ToolContext, echo: Echo) -> ToolResult:
            return ToolResult(True, "ok", "")


async def test_a_slow_tool_times_out() -> None:
    async def slow(context: ToolContext, echo: Echo) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    result = await run_tool(declared(slow, timeout=0.02), {}, ToolContext(None))
    assert result.code == "tool_timeout"


async def test_a_slow_function_times_out_too() -> None:
    def slow(context: ToolContext, echo: Echo) -> ToolResult:
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            pass
        return ToolResult(True, "ok", "late")

    assert (await run_tool(declared(slow, timeout=0.02), {}, ToolContext(None))).code == "tool_timeout"


async def test_our_errors_keep_their_code() -> None:
    def refuses(context: ToolContext, echo: Echo) -> ToolResult:
        raise RefusedError("no_room", "there is no room", left=0)

    result = await run_tool(declared(refuses), {}, ToolContext(None))
    assert (result.code, result.data) == ("no_room", {"left": 0})


async def test_cancellation_is_not_swallowed() -> None:
    async def forever(context: ToolContext, echo: Echo) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    running = asyncio.create_task(run_tool(declared(forever), {}, ToolContext(None)))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_long_text_is_cut() -> None:
    result = await run_tool(declared(lambda c, a: ToolResult(True, "ok", "长" * 9000)), {}, ToolContext(None))
    assert len(result.text) == 6000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = sorted({name for one in ALL for name in one.schema.get("properties", {})})


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(sorted(ALL.by_name)), arguments=st.dictionaries(st.sampled_from(NAMES), JSON, max_size=4))
def test_no_arguments_make_a_tool_raise_or_change_what_it_was_given(name: str, arguments: dict[str, Any]) -> None:
    state = week_state(2)
    before = state.dump()
    agent = AgentState(conversation_id="c", user_id="u")
    for context in (ToolContext(state), ToolContext(state, agent), ToolContext(None)):
        result = asyncio.run(run_tool(ALL.by_name[name], arguments, context))
        assert isinstance(result, ToolResult)
        assert result.ok == (result.code == "ok")
    assert state.dump() == before


def test_faults_name_their_paths() -> None:
    result = check_arguments(ALL.by_name["batch_move"], {"moves": [{"task_id": 1, "day": 1}, {"day": "x"}]})
    assert isinstance(result, ToolResult)
    assert {fault["path"] for fault in result.data["faults"]} >= {"$.moves[0]", "$.moves[1]", "$.moves[1].day"}


def agent_state(**fields: Any) -> AgentState:
    return AgentState(conversation_id="c", user_id="u", **fields)


def names(state: AgentState) -> set[str]:
    return {one.name for one, _ in visible(ALL, state)}


def test_only_the_context_tools_are_visible_at_first() -> None:
    assert names(agent_state(phase="planning")) == {"context_tools_add", "context_tools_remove"}


def test_planning_shows_no_write() -> None:
    active = {domain: tuple(pack for pack in packs if pack != "core") for domain, packs in ALL.domains.items()}
    shown = names(agent_state(phase="planning", active=active))
    assert shown
    assert not any(ALL.by_name[name].write for name in shown)


def test_optimising_narrows_to_the_few() -> None:
    shown = names(agent_state(phase="executing", optimizing=True, active={"schedule": ("mutation", "analyze")}))
    assert shown <= OPTIMISING
    assert {"analyze_health", "move", "swap", "batch_move"} <= shown


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"domain": "moon"}, "invalid_domain"),
        ({"domain": "schedule", "packs": ["moon"]}, "invalid_pack"),
        ({"domain": "schedule", "packs": ["core"]}, "fixed_pack_forbidden"),
        ({"domain": "schedule", "mode": "guess"}, "invalid_mode"),
        ({"domain": "schedule"}, "ok"),
        ({"domain": "schedule", "packs": []}, "ok"),
    ],
)
async def test_adding_context(arguments: dict[str, Any], code: str) -> None:
    context = ToolContext(None, agent_state())
    result = await run_tool(ALL.by_name["context_tools_add"], arguments, context)
    assert result.code == code


async def test_merging_and_removing_context() -> None:
    add, remove = ALL.by_name["context_tools_add"], ALL.by_name["context_tools_remove"]
    state: AgentState | None = agent_state()

    async def step(one: Tool, **arguments: Any) -> dict[str, Any]:
        nonlocal state
        result = await run_tool(one, arguments, ToolContext(None, state))
        state = result.state or state
        return result.data.get("active", {"code": result.code})

    assert await step(add, domain="schedule") == {"schedule": ["mutation", "analyze"]}
    assert await step(add, domain="schedule", packs=["detail_read"], mode="merge") == {
        "schedule": ["mutation", "analyze", "detail_read"]
    }
    assert await step(remove, domain="schedule", packs=["mutation"]) == {"schedule": ["analyze", "detail_read"]}
    assert await step(remove, domain="schedule", packs=["core"]) == {"code": "fixed_pack_forbidden"}
    assert await step(remove) == {"code": "invalid_domain"}
    assert await step(add, domain="schedule", packs=["preference"]) == {"schedule": ["preference"]}
    assert await step(remove, domain="schedule") == {}
    assert await step(remove, all=True) == {}


def test_both_languages_have_every_text() -> None:
    assert texts("zh").keys() == texts("en").keys()
    for key, text in texts("zh").items():
        assert fields(text) == fields(texts("en")[key]), key


def fields(text: str) -> set[str]:
    """The names that a text is filled with; doubled braces are braces."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
