"""Explicit ways to close an optimisation, standing permissions with their source, and undo on every executed write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from newagent.llm.decision import Decision
from newagent.llm.mind import Prompt
from newagent.schedule.model import ScheduleState
from newagent.state.documents import Grants
from newagent.stream.events import Event
from tests.loop.bed import CONVERSATION, USER, Bed, ask, call, done, make_bed, plan, reply, week_state


def crowded() -> ScheduleState:
    """Two classes that may stand on one day only, which has no room for both."""
    document = week_state(items=5).dump()
    for one in document["task_classes"]:
        one.update(start_date="2026-03-04", end_date="2026-03-04")
    return ScheduleState.load(document)


def option(code: str) -> Any:
    """Asks with the judge's ways out, as the facts of the prompt give them."""

    def asks(prompt: Prompt) -> Decision:
        facts = json.loads(prompt.brief.split("FACTS ", 1)[1])
        options = facts["judgement"]["options"]
        assert code in [one["code"] for one in options]
        return ask("放不下，怎么办？", *(one["summary"] for one in options))

    return asks


@pytest.mark.parametrize("by_code", [False, True])
async def test_accepting_the_risk_closes_as_such(by_code: bool) -> None:
    bed = await make_bed(
        [plan("排", mode="first_full"), call("analyze_health"), option("accept_risk_and_close"), reply("先这样")],
        facts=crowded(),
    )
    session = await bed.say("全部排上")
    card = session.state.interaction
    assert card is not None
    chosen = "accept_risk_and_close" if by_code else card.options[-1]
    ended = await bed.answer("reply", message=chosen)
    outcome = ended.state.outcome
    assert outcome is not None
    assert (outcome.kind, outcome.code, outcome.internal_reason) == ("incomplete", "risk_accepted", "risk_accepted")
    assert "按你的选择" in ended.messages[-1].text
    assert ended.schedule == session.schedule


async def test_another_way_out_does_not_close() -> None:
    bed = await make_bed(
        [plan("排", mode="first_full"), call("analyze_health"), option("ask_expand_window"), done(), reply("好")],
        facts=crowded(),
    )
    session = await bed.say("全部排上")
    card = session.state.interaction
    assert card is not None
    answered = await bed.answer("reply", message=card.options[0])
    assert ("done", "ok") in bed.results(answered)
    assert answered.state.outcome is not None
    assert answered.state.outcome.code != "risk_accepted"


async def test_the_words_alone_accept_nothing_where_everything_fits() -> None:
    bed = await make_bed([plan("排"), call("analyze_health"), ask("怎么办？"), done(), reply("好")])
    await bed.say("看看")
    ended = await bed.answer("reply", message="accept_risk_and_close")
    assert ended.state.outcome is not None
    assert ended.state.outcome.code != "risk_accepted"


async def told(bed: Bed) -> list[Event]:
    return [one for one in await bed.store.events(USER, CONVERSATION) if one.kind == "confirm_result"]


async def test_every_executed_preview_write_offers_the_version_before_it() -> None:
    bed = await make_bed(
        [
            plan("放"),
            call("place", task_id=2, day=2, start=3),
            call("move", task_id=2, day=3, start=3),
            done(),
            reply("好"),
        ]
    )
    await bed.say("放第一章", always_execute=True)
    events = await told(bed)
    assert [event.payload["source"] for event in events] == ["standing", "standing"]
    assert [event.payload["undo"] for event in events] == [1, 2]
    for event in reversed(events):
        before = bed.store.schedules[CONVERSATION, event.payload["undo"]]
        assert (await bed.agent.undo(USER, CONVERSATION, event.payload["undo"])).schedule == before


async def test_what_was_applied_offers_no_undo() -> None:
    bed = await make_bed(
        [plan("放"), call("place", task_id=2, day=2, start=3), call("apply_preview"), done(), reply("好")]
    )
    await bed.say("放好并应用")
    await bed.answer("approve")
    await bed.answer("approve")
    events = await told(bed)
    assert [event.payload["tool"] for event in events] == ["place", "apply_preview"]
    assert ["undo" in event.payload for event in events] == [True, False]
    assert [event.payload["source"] for event in events] == ["user", "user"]


async def test_always_allow_is_for_this_tool_and_this_conversation() -> None:
    bed = await make_bed(
        [
            plan("放"),
            call("place", task_id=2, day=2, start=3),
            call("place", task_id=3, day=3, start=3),
            call("move", task_id=3, day=4, start=3),
        ]
    )
    await bed.say("放两章")
    waiting = await bed.answer("approve", always_allow=True)
    assert waiting.state.grants == Grants(tools=("place",))
    assert waiting.state.interaction is not None
    assert waiting.state.interaction.tool == "move"
    assert [(event.payload["tool"], event.payload["source"]) for event in await told(bed)] == [
        ("place", "user"),
        ("place", "standing"),
    ]
