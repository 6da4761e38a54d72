"""What a run is about: the classes that a message names, on a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from newagent.calendars.sample import sample_term
from newagent.errors import NotFoundError
from newagent.loop.agent import Agent, Turn
from newagent.state.sql.store import SqlStore
from newagent.state.store import Session
from tests.loop.bed import CONVERSATION, USER, FakeRuntime, FunctionMind, Recorder, call, done, plan, reply


@dataclass
class Scoped:
    """An agent on a stored term with two task classes."""

    store: SqlStore
    agent: Agent
    mind: FunctionMind
    first: int
    second: int

    async def say(self, text: str, *class_ids: int) -> Session:
        turn = Turn(text, class_ids, always_execute=True)
        return await self.agent.drive(await self.agent.begin(USER, CONVERSATION, turn))

    async def placed_first(self) -> Session:
        """The first class is placed in the preview."""
        build = call("rough_build", task_class_ids=[self.first])
        self.mind.script[:] = [
            plan("排", "看", covers=({"tool": "rough_build", "task_class_ids": [self.first]},)),
            build,
        ]
        self.mind.script += [done(), reply("完")]
        return await self.say("排第一类", self.first)


@pytest.fixture
async def scoped(tmp_path: Path) -> AsyncIterator[Scoped]:
    store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'scope.db'}")
    semester, _, classes = sample_term()
    await store.put_semester(USER, semester)
    first, second = [await store.put_task_class(USER, one) for one in classes[:2]]
    runtime, mind = FakeRuntime(), FunctionMind([])
    runtime.time = runtime.time.replace(year=2026, month=9, day=7)
    await store.create_conversation(USER, CONVERSATION, runtime.time)
    yield Scoped(store, Agent(store, mind, Recorder(), runtime), mind, first, second)
    await store.close()


def suggested(session: Session) -> set[int | None]:
    assert session.schedule is not None
    return {task.task_class_id for task in session.schedule.items if task.status == "suggested"}


async def test_talking_of_another_class_keeps_what_was_placed(scoped: Scoped) -> None:
    before = await scoped.placed_first()
    assert suggested(before) == {scoped.first}
    scoped.mind.script[:] = [reply("好")]
    session = await scoped.say("现在说第二类", scoped.second)
    assert suggested(session) == {scoped.first}
    assert session.schedule is not None
    assert set(session.schedule.class_by_id) == {scoped.first, scoped.second}
    assert session.state.task_class_ids == (scoped.second,)
    scoped.mind.script[:] = [reply("好")]
    assert (await scoped.say("接着说")).state.task_class_ids == (scoped.second,)


async def test_an_unknown_class_is_refused_and_nothing_is_stored(scoped: Scoped) -> None:
    before = await scoped.placed_first()
    for unknown in (999, 10**30, -1):
        with pytest.raises(NotFoundError) as refused:
            await scoped.say("排", scoped.first, unknown)
        assert refused.value.code == "unknown_task_class"
    assert await scoped.store.load(USER, CONVERSATION) == before


async def test_a_class_that_was_deleted_since_leaves_the_scope(scoped: Scoped) -> None:
    await scoped.placed_first()
    await scoped.store.delete_task_class(USER, scoped.first)
    scoped.mind.script[:] = [reply("好")]
    session = await scoped.say("还有什么")
    assert session.state.task_class_ids == ()
    assert session.schedule is not None
    assert set(session.schedule.class_by_id) == {scoped.second}


async def test_without_any_class_the_agent_can_still_talk(scoped: Scoped) -> None:
    for one in (scoped.first, scoped.second):
        await scoped.store.delete_task_class(USER, one)
    scoped.mind.script[:] = [reply("请先建立任务类")]
    session = await scoped.say("排")
    assert session.schedule is None
    assert session.messages[-1].text == "请先建立任务类"
