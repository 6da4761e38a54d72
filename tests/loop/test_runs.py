"""Runs from outside: cancel, apply, expiry and races of messages, a model that fails, budgets of time and tokens."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from newagent.errors import ModelError, RefusedError, StaleHeadError
from newagent.llm.mind import Delta, Prompt, Thought, Usage
from newagent.loop.agent import RETRIES, Agent, Turn
from newagent.schedule import edits
from newagent.schedule.edits import Edited
from newagent.state.store import Round, Session
from newagent.stream.events import Ephemeral
from tests.loop.bed import CONVERSATION, USER, Bed, call, done, make_bed, plan, reply

PLACE = call("place", task_id=2, day=2, start=1)


async def placed_bed() -> tuple[Bed, Session]:
    """A bench after a run that placed item 2."""
    bed = await make_bed([plan("放"), PLACE, done(), reply("完")])
    return bed, await bed.say("放", always_execute=True)


async def test_cancel_closes_an_open_card() -> None:
    bed = await make_bed([plan("放"), PLACE])
    await bed.say("放")
    session = await bed.agent.cancel(USER, CONVERSATION)
    assert session.state.outcome is not None
    assert session.state.outcome.kind == "cancelled"
    assert session.state.interaction is None


async def test_cancel_ends_a_working_run_and_keeps_what_was_committed() -> None:
    bed = await make_bed([plan("放"), PLACE, call("place", task_id=5, day=3, start=1)])
    started = await bed.agent.begin(USER, CONVERSATION, Turn("放", always_execute=True))
    session = started
    for _ in range(2):
        session = await bed.agent._round(session)
    cancelled = await bed.agent.cancel(USER, CONVERSATION)
    assert cancelled.state.phase == "idle"
    after = await bed.agent.drive(session)
    assert after.state.outcome is not None
    assert after.state.outcome.kind == "cancelled"
    assert after.schedule is not None
    assert after.schedule.by_id[2].slot is not None
    assert after.schedule.by_id[5].slot is None
    assert bed.kinds().count("finish") == 1


async def test_cancel_without_a_run_changes_nothing() -> None:
    bed, session = await placed_bed()
    assert (await bed.agent.cancel(USER, CONVERSATION)).version == session.version


async def test_apply_writes_once_and_then_has_nothing_to_write() -> None:
    bed, _ = await placed_bed()
    session, result = await bed.agent.apply(USER, CONVERSATION)
    assert result.data["applied"] == 1
    assert session.schedule is not None
    assert session.schedule.by_id[2].status == "existing"
    assert session.state.undo == ()
    with pytest.raises(RefusedError) as refused:
        await bed.agent.apply(USER, CONVERSATION, (10,))
    assert refused.value.code == "no_preview"
    assert bed.store.timetable.applied == [(202, 2, 1)]


async def test_apply_of_a_taken_place_is_refused_whole() -> None:
    bed, session = await placed_bed()
    bed.store.timetable.applied.append((202, 9, 9))
    with pytest.raises(RefusedError) as refused:
        await bed.agent.apply(USER, CONVERSATION)
    assert refused.value.code == "timetable_conflict"
    assert (await bed.session()).version == session.version


async def test_apply_and_message_wait_while_a_run_works() -> None:
    bed = await make_bed([plan("放")])
    await bed.agent.begin(USER, CONVERSATION, Turn("放"))
    for attempt in (bed.agent.apply(USER, CONVERSATION), bed.agent.begin(USER, CONVERSATION, Turn("还有"))):
        with pytest.raises(RefusedError) as refused:
            await attempt
        assert refused.value.code == "run_in_progress"


async def test_a_head_that_never_stands_still_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    bed, _ = await placed_bed()
    tries = 0

    @asynccontextmanager
    async def moving(*args: object, **options: object) -> AsyncIterator[None]:
        nonlocal tries
        tries += 1
        raise StaleHeadError("stale_head", "the head moved")
        yield

    monkeypatch.setattr(bed.store, "round", moving)
    for attempt in (bed.agent.apply(USER, CONVERSATION), bed.agent.begin(USER, CONVERSATION, Turn("好"))):
        with pytest.raises(RefusedError) as refused:
            await attempt
        assert refused.value.code == "run_in_progress"
    assert tries == 2 * RETRIES


async def test_two_messages_at_once_start_one_run() -> None:
    bed = await make_bed([reply("在"), reply("在")])
    outcomes = await asyncio.gather(
        *(bed.agent.begin(USER, CONVERSATION, Turn(text)) for text in ("一", "二")), return_exceptions=True
    )
    assert sum(isinstance(one, Session) for one in outcomes) == 1
    assert [one.code for one in outcomes if isinstance(one, RefusedError)] == ["run_in_progress"]


async def test_a_message_without_a_conversation_starts_one() -> None:
    bed = await make_bed([reply("你好")])
    session = await bed.say("你好", None)
    assert session.state.conversation_id != CONVERSATION
    assert session.title


class BrokenMind:
    """A model whose endpoint fails, or that ends without an answer."""

    name = "broken"
    is_rule_model = False

    def __init__(self, error: ModelError | None) -> None:
        self.error = error

    async def think(self, prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        yield Delta("text", "我想")
        yield Delta("restart")
        if self.error:
            raise self.error


@pytest.mark.parametrize("error", [None, ModelError("model_timeout", "no token for 120 s")])
async def test_a_model_that_fails_ends_the_run_with_a_clear_word(error: ModelError | None) -> None:
    bed = await make_bed([])
    agent = Agent(bed.store, BrokenMind(error), bed.seen, bed.runtime)
    session = await agent.drive(await agent.begin(USER, CONVERSATION, Turn("放")))
    outcome = session.state.outcome
    assert outcome is not None
    assert (outcome.kind, outcome.code) == ("aborted", error.code if error else "model_unavailable")
    assert outcome.code in outcome.user_message
    voids = [e for e in bed.seen.events if isinstance(e, Ephemeral) and e.payload.get("display_mode") == "replace"]
    assert [event.text for event in voids] == ["", ""]


async def test_time_and_tokens_are_limited() -> None:
    bed = await make_bed([plan("看"), call("get_overview")], run_seconds=60)
    session = await bed.agent.begin(USER, CONVERSATION, Turn("看"))
    think = bed.mind.think

    async def slow(prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        bed.runtime.time += dt.timedelta(seconds=40)
        async for piece in think(prompt):
            yield piece

    bed.mind.think = slow  # type: ignore[method-assign]
    session = await bed.agent.drive(session)
    assert session.state.outcome is not None
    assert (session.state.outcome.kind, session.state.outcome.code) == ("exhausted", "time_exhausted")

    bed = await make_bed([plan("看")], run_tokens=100)
    think = bed.mind.think

    async def wordy(prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        async for piece in think(prompt):
            yield Thought(piece.result, usage=Usage(90, 10)) if isinstance(piece, Thought) else piece

    bed.mind.think = wordy  # type: ignore[method-assign]
    session = await bed.say("看")
    assert session.state.outcome is not None
    assert session.state.outcome.code == "tokens_exhausted"


async def test_a_decision_meets_the_schedule_that_the_user_changed_meanwhile() -> None:
    bed = await make_bed([plan("放"), PLACE, call("get_overview"), done(), reply("完")])
    session = await bed.agent._round(await bed.agent.begin(USER, CONVERSATION, Turn("放", always_execute=True)))
    think = bed.mind.think
    first = True

    async def interrupted(prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        nonlocal first
        async for piece in think(prompt):
            if first and isinstance(piece, Thought):
                first = False
                head = await bed.session()
                assert head.schedule is not None
                edited = edits.place(head.schedule, 5, 2, 1, "user")
                assert isinstance(edited, Edited)
                async with bed.store.round(head, bed.runtime.now(), fenced=False) as transaction:
                    await transaction.save(Round("user", head.state, schedule=edited.state))
            yield piece

    bed.mind.think = interrupted  # type: ignore[method-assign]
    session = await bed.agent.drive(session)
    assert ("place", "conflict") in bed.results(session)
    assert session.schedule is not None
    assert session.schedule.by_id[5].slot is not None
    assert session.schedule.by_id[2].slot is None
    assert bed.mind.script == []


async def test_undo_takes_back_the_last_writes_and_no_more() -> None:
    other = call("place", task_id=5, day=3, start=1)
    undo = [call("undo_last", steps=3), call("undo_last", steps=2), call("get_overview")]
    bed = await make_bed([plan("放"), PLACE, other, *undo, done(), reply("完")])
    session = await bed.say("放", always_execute=True)
    assert [code for tool, code in bed.results(session) if tool == "undo_last"] == ["no_preview", "ok"]
    assert session.schedule is not None
    assert not any(task.slot for task in session.schedule.items)
    assert session.state.undo == ()
