"""Leases: held while the model thinks, lost to whoever comes when they end, runs that are left looked after."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from newagent.errors import StaleHeadError, StoreError
from newagent.llm.mind import Delta, Prompt, Thought
from newagent.loop.agent import Turn
from newagent.loop.draft import ACTIVE_PHASES
from newagent.loop.sweeper import sweep, sweep_forever
from newagent.state.store import Session
from tests.loop.bed import CONVERSATION, USER, Bed, ask, call, make_bed, plan, reply

MINUTE = dt.timedelta(minutes=1)


class SlowMind:
    """A mind that thinks until it is let go."""

    name = "slow"
    is_rule_model = False

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.ended = False

    async def think(self, prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.ended = True
            raise
        yield Thought(reply("好"), text="好")


async def slow_bed() -> tuple[Bed, SlowMind, Session]:
    bed = await make_bed([])
    mind = SlowMind()
    bed.agent.mind = mind
    bed.agent.beat_seconds = 0.0
    return bed, mind, await bed.agent.begin(USER, CONVERSATION, Turn("看看"))


async def test_the_lease_is_held_while_the_model_thinks_without_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    bed, mind, session = await slow_bed()
    extend, beats = bed.store.extend_lease, 0

    async def beat(held: Session, until: dt.datetime) -> None:
        nonlocal beats
        beats += 1
        bed.runtime.time += MINUTE
        if beats == 2:
            raise StoreError("database_failed", "away")
        await extend(held, bed.runtime.now() + MINUTE)
        if beats == 5:
            mind.go.set()

    monkeypatch.setattr(bed.store, "extend_lease", beat)
    ended = await bed.agent.drive(session)
    assert ended.state.outcome is not None
    assert ended.state.outcome.kind == "completed"
    assert ended.version == session.version + 1
    assert beats >= 5


async def test_a_cancel_ends_the_thought(monkeypatch: pytest.MonkeyPatch) -> None:
    bed, mind, session = await slow_bed()
    extend = bed.store.extend_lease

    async def beat(held: Session, until: dt.datetime) -> None:
        await bed.agent.cancel(USER, CONVERSATION)
        await extend(held, until)

    monkeypatch.setattr(bed.store, "extend_lease", beat)
    ended = await bed.agent.drive(session)
    assert mind.ended
    assert ended.state.outcome is not None
    assert ended.state.outcome.kind == "cancelled"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_run_that_was_left_is_taken_over_and_a_card_past_its_time_expires() -> None:
    bed = await make_bed([])
    left = await bed.agent.begin(USER, CONVERSATION, Turn("看看"))
    await bed.store.create_conversation(USER, "c2", bed.runtime.now())
    bed.mind.script.append(ask("哪一科？"))
    waiting = await bed.say("排课", "c2")
    assert waiting.state.phase == "waiting"
    assert await sweep(bed.agent) == await sweep(bed.agent, limit=1)
    bed.runtime.time += MINUTE
    swept = await sweep(bed.agent)
    assert [session.token for session in swept.taken] == [left.token + 1]
    assert swept.ended == 0
    bed.runtime.time += dt.timedelta(days=2)
    swept = await sweep(bed.agent)
    assert (len(swept.taken), swept.ended) == (1, 1)
    expired = await bed.store.load(USER, "c2")
    assert expired.state.outcome is not None
    assert expired.state.outcome.code == "interaction_expired"
    bed.mind.script.append(reply("好"))
    assert (await bed.agent.drive(swept.taken[0])).state.phase == "idle"


async def test_a_run_that_every_owner_leaves_is_ended() -> None:
    bed = await make_bed([], max_takeovers=2)
    await bed.agent.begin(USER, CONVERSATION, Turn("看看"))
    for _ in range(2):
        bed.runtime.time += MINUTE
        assert len((await sweep(bed.agent)).taken) == 1
    bed.runtime.time += MINUTE
    assert (await sweep(bed.agent)).ended == 1
    session = await bed.session()
    assert session.state.outcome is not None
    assert (session.state.outcome.kind, session.state.outcome.code) == ("aborted", "abandoned")


async def test_a_round_of_the_model_clears_the_count_of_owners() -> None:
    bed = await make_bed([plan("看"), call("get_overview"), reply("好"), reply("好")])
    await bed.agent.begin(USER, CONVERSATION, Turn("看看"))
    bed.runtime.time += MINUTE
    (taken,) = (await sweep(bed.agent)).taken
    assert taken.state.counters.takeovers == 1
    assert (await bed.agent._round(taken)).state.counters.takeovers == 0


async def test_another_sweeper_that_was_first_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    bed = await make_bed([])
    await bed.agent.begin(USER, CONVERSATION, Turn("看看"))
    bed.runtime.time += MINUTE
    faults: list[Any] = [StaleHeadError("stale_head", "first"), StoreError("database_failed", "away")]

    async def late(session: Session) -> Session:
        raise faults.pop(0)

    monkeypatch.setattr(bed.agent, "take_over", late)
    for _ in range(2):
        assert (await sweep(bed.agent)).taken == ()
    assert faults == []


async def test_nothing_is_due_of_a_run_that_is_owned() -> None:
    bed = await make_bed([])
    session = await bed.agent.begin(USER, CONVERSATION, Turn("看看"))
    assert await bed.agent.look_after(USER, CONVERSATION) is None
    bed.store.sessions[USER, CONVERSATION] = replace(session, lease_until=None)
    again = await bed.agent.look_after(USER, CONVERSATION)
    assert again is not None
    assert again.state.phase in ACTIVE_PHASES


async def test_the_sweeper_of_a_process_goes_on_when_the_store_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    bed = await make_bed([])
    await bed.agent.begin(USER, CONVERSATION, Turn("看看"))
    bed.runtime.time += MINUTE
    due, asked, started = bed.store.due, 0, asyncio.Event()

    async def away_at_first(now: dt.datetime, limit: int = 100) -> list[tuple[str, str]]:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise StoreError("database_failed", "away")
        return await due(now, limit)

    monkeypatch.setattr(bed.store, "due", away_at_first)
    sweeper = asyncio.create_task(sweep_forever(bed.agent, lambda _: started.set(), every=0.0))
    await asyncio.wait_for(started.wait(), 5)
    sweeper.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sweeper
