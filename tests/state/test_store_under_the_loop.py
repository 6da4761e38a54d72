"""The loop on real files: an approval acts once whoever asks, a restart goes on, the preview is applied once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from newagent.errors import RefusedError
from newagent.loop.agent import Agent, Turn
from newagent.state.documents import Resume
from newagent.state.sql.store import SqlStore
from newagent.state.store import Session
from tests.loop.bed import CONVERSATION, USER, FakeRuntime, FunctionMind, Recorder, Script, call, done, plan, reply
from tests.state.replaying import replay_all
from tests.state.term_bed import NOW, TERM, task_class


@pytest.fixture(autouse=True)
async def replayed(url: str) -> AsyncIterator[None]:
    """What a test has made the loop write is made again from the journal, on the database it was written in."""
    yield
    store = await SqlStore.open(url)
    assert await replay_all(store) > 2
    await store.close()


def agent_on(store: SqlStore, script: Script) -> Agent:
    runtime = FakeRuntime()
    runtime.time = NOW
    return Agent(store, FunctionMind(list(script)), Recorder(), runtime)


async def waiting(store: SqlStore, *then: Any) -> tuple[Agent, Session]:
    """A run whose one write waits for the user."""
    await store.import_courses(USER, TERM)
    class_id = await store.put_task_class(USER, task_class())
    await store.create_conversation(USER, CONVERSATION, NOW)
    script = [plan("排概率论"), call("rough_build", task_class_ids=[class_id]), *then]
    agent = agent_on(store, script)
    session = await agent.drive(await agent.begin(USER, CONVERSATION, Turn("帮我排一下")))
    assert session.state.interaction is not None
    assert session.state.interaction.tool == "rough_build"
    assert await store.load(USER, CONVERSATION) == session
    return agent, session


def approval(session: Session) -> Resume:
    assert session.state.interaction is not None
    return Resume(interaction_id=session.state.interaction.interaction_id, action="approve")


async def test_approvals_that_arrive_together_act_once(url: str, store: SqlStore) -> None:
    first, session = await waiting(store)
    other_store = await SqlStore.open(url)
    second = agent_on(other_store, [])
    resume = approval(session)
    answered = await asyncio.gather(*(one.answer(USER, CONVERSATION, resume) for one in (first, second) * 3))
    assert sorted(one.repeated for one in answered) == [False, True, True, True, True, True]
    assert all(one.result == answered[0].result for one in answered)
    after = await store.load(USER, CONVERSATION)
    assert (after.version, after.schedule_version) == (session.version + 1, session.schedule_version + 1)
    assert after.schedule is not None
    assert after.schedule.pending == ()
    assert await store.verify_journal(USER, CONVERSATION) == after.version
    events = await other_store.events(USER, CONVERSATION)
    assert [event.seq for event in events] == list(range(1, after.last_seq + 1))
    assert [event.kind for event in events].count("confirm_result") == 1
    await other_store.close()


async def test_a_restart_goes_on_where_the_run_waited(url: str, store: SqlStore) -> None:
    _, session = await waiting(store)
    await store.close()
    again = await SqlStore.open(url)
    agent = agent_on(again, [done(), reply("排好了")])
    answered = await agent.answer(USER, CONVERSATION, approval(session))
    ended = await agent.drive(answered.session)
    assert ended.state.outcome is not None
    assert ended.state.outcome.kind == "completed"
    assert await again.load(USER, CONVERSATION) == ended
    assert await again.verify_journal(USER, CONVERSATION) == ended.version
    await again.close()


async def test_the_preview_is_applied_once(store: SqlStore) -> None:
    agent, session = await waiting(store, done(), reply("排好了"))
    await agent.drive((await agent.answer(USER, CONVERSATION, approval(session))).session)
    applied, result = await agent.apply(USER, CONVERSATION)
    assert result.data["applied"] == 3
    assert applied.schedule is not None
    assert {item.status for item in applied.schedule.items} == {"existing"}
    with pytest.raises(RefusedError) as caught:
        await agent.apply(USER, CONVERSATION)
    assert caught.value.code == "no_preview"
    assert len((await store.read_timetable(USER)).study) == 3


async def test_a_preview_that_the_timetable_has_overtaken(store: SqlStore) -> None:
    agent, session = await waiting(store, done(), reply("排好了"))
    ended = await agent.drive((await agent.answer(USER, CONVERSATION, approval(session))).session)
    (one,) = await store.task_classes(USER)
    await store.delete_task_class(USER, one.task_class.id)
    with pytest.raises(RefusedError) as caught:
        await agent.apply(USER, CONVERSATION)
    assert caught.value.code == "timetable_conflict"
    assert {conflict["code"] for conflict in caught.value.data["conflicts"]} == {"unknown_task"}
    assert len(caught.value.data["conflicts"]) == 3
    assert await store.load(USER, CONVERSATION) == ended
