"""Rounds: whole or not at all, one winner a version, and the same after a restart."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event, insert, text

from newagent.errors import InputError, NotFoundError, RefusedError, StaleHeadError, StoreError
from newagent.state.documents import Message, Outcome, PendingInteraction
from newagent.state.sql.store import SqlStore
from newagent.state.sql.tables import interactions, journal, messages, metadata, schedule_versions, timeline
from newagent.state.store import Round, Session
from newagent.stream.events import NewEvent
from tests.state.term_bed import NOW, USER, putting, ready, save, task_class, turn


def card() -> PendingInteraction:
    return PendingInteraction(
        interaction_id="ask_1",
        kind="write",
        title="移动",
        risk="A",
        changes=({"task_id": 1, "before": None, "after": {"day": 1, "start": 1, "end": 2}},),
        opened_at=NOW,
        expires_at=NOW + dt.timedelta(days=1),
    )


async def counts(store: SqlStore) -> dict[str, int]:
    async with store._database.read() as connection:
        return {
            name: (await connection.execute(text(f"SELECT count(*) FROM {name}"))).scalar_one()
            for name in metadata.tables
        }


async def test_an_empty_conversation(store: SqlStore) -> None:
    made = await store.create_conversation(USER, "c1", NOW)
    assert await store.load(USER, "c1") == made
    assert (made.version, made.token, made.last_seq, made.schedule, made.messages) == (0, 0, 0, None, ())
    assert await store.verify_journal(USER, "c1") == 0
    assert await store.events(USER, "c1") == []


async def test_everything_of_a_round_comes_back(url: str, store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    outcome = Outcome(kind="completed", stage="delivering", code="done", user_message="好了")
    state = session.state.model_copy(update={"interaction": card(), "outcome": outcome, "phase": "waiting"})
    written = Round(
        kind="model",
        state=state,
        messages=(
            Message(role="assistant", text="我先看看"),
            Message(role="call", call_id="call_1", tool="get_overview", arguments={"a": [1, 2.5, None, "字"]}),
            Message(
                role="result", call_id="call_1", tool="get_overview", text="…", ok=False, code="x", state_version=1
            ),
        ),
        schedule=putting(session.schedule, (0, 2, 7), (1, 3, 1)),
        events=(NewEvent("assistant_text", "我先看看"), NewEvent("tool_result", payload={"tool": {"name": "x"}})),
        journal={"raw": "{}", "usage": {"in": 3}},
        lease_until=NOW + dt.timedelta(seconds=60, microseconds=5),
    )
    stored = await save(store, session, written)
    assert (stored.session.version, stored.session.schedule_version, stored.session.last_seq) == (2, 2, 4)
    assert [one.seq for one in stored.events] == [3, 4]
    assert stored.session.messages == (*session.messages, *written.messages)
    assert stored.session.title == "帮我安排"
    again = await SqlStore.open(url)
    loaded = await again.load(USER, "c1")
    assert loaded == stored.session
    assert loaded.schedule == written.schedule
    assert await again.events(USER, "c1", 2) == list(stored.events)
    assert [one.seq for one in await again.events(USER, "c1")] == [1, 2, 3, 4]
    assert await again.events(USER, "c1", 2**70) == []
    assert await again.schedule_at(USER, "c1", 1) == session.schedule
    assert await again.schedule_at(USER, "c1", 2) == written.schedule
    assert [entry.body for entry in await again.journal(USER, "c1")][1] == written.journal
    assert await again.verify_journal(USER, "c1") == 2
    await again.close()


async def test_a_round_without_a_schedule_adds_no_version(store: SqlStore) -> None:
    session, _ = await ready(store)
    stored = await save(store, session, Round(kind="model", state=session.state))
    assert stored.session.schedule is session.schedule
    assert stored.session.schedule_version == 1
    assert stored.session.lease_until is None
    assert (await counts(store))["schedule_versions"] == 1
    assert await store.load(USER, "c1") == stored.session


async def test_text_that_no_database_stores_is_kept_readable(store: SqlStore) -> None:
    session = await store.create_conversation(USER, "c1", NOW)
    broken = "a\ud800b"
    written = Round(
        kind="turn",
        state=session.state,
        messages=(Message.model_construct(role="user", text=broken, call_id=None),),
        events=(NewEvent("user_text", broken, {"value": float("nan"), "list": [float("inf"), 1]}),),
        journal={"turn": broken, 7: "number", 10: {"x": (float("nan"),)}},
        title=broken,
    )
    await save(store, session, written)
    (kept,) = await store.events(USER, "c1")
    assert kept.content == "a\ufffdb"
    assert kept.payload == {"value": None, "list": [None, 1]}
    assert (await store.list_conversations(USER))[0].title == "a\ufffdb"
    assert (await store.journal(USER, "c1"))[0].body == {"turn": broken, "7": "number", "10": {"x": [None]}}
    assert await store.verify_journal(USER, "c1") == 1
    with pytest.raises(NotFoundError):
        await store.load(USER, broken)


async def test_a_round_that_is_left_without_save_writes_nothing(store: SqlStore) -> None:
    session, _ = await ready(store)
    before = await counts(store)
    async with store.round(session, NOW, fenced=True) as transaction:
        await transaction.timetable.load_state(None, NOW)
    assert await counts(store) == before
    assert await store.load(USER, "c1") == session


async def test_an_error_after_save_takes_everything_back(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    preview = putting(session.schedule, (0, 2, 7))
    before = await counts(store)

    async def attempt() -> None:
        async with store.round(session, NOW, fenced=True) as transaction:
            await transaction.timetable.apply(preview, None)
            await transaction.save(turn(session.state, preview))
            raise RefusedError("no", "changed my mind")

    with pytest.raises(RefusedError):
        await attempt()
    assert await counts(store) == before
    assert await store.load(USER, "c1") == session


async def test_a_round_is_saved_once(store: SqlStore) -> None:
    session, _ = await ready(store)

    async def attempt() -> None:
        async with store.round(session, NOW, fenced=True) as transaction:
            await transaction.save(turn(session.state))
            await transaction.save(turn(session.state))

    with pytest.raises(AssertionError):
        await attempt()
    assert await store.load(USER, "c1") == session


async def test_of_many_rounds_on_one_version_one_wins(store: SqlStore) -> None:
    session, _ = await ready(store)
    tries = [save(store, session, turn(session.state, text=f"{n}"), fenced=False) for n in range(8)]
    results = await asyncio.gather(*tries, return_exceptions=True)
    losers = [result for result in results if isinstance(result, StaleHeadError)]
    assert len(losers) == 7
    assert {loser.code for loser in losers} == {"stale_head"}
    loaded = await store.load(USER, "c1")
    assert (loaded.version, len(loaded.messages), loaded.last_seq) == (2, 2, 4)
    assert await store.verify_journal(USER, "c1") == 2


async def test_two_stores_on_one_file_have_one_winner(url: str, store: SqlStore) -> None:
    session, _ = await ready(store)
    other = await SqlStore.open(url)
    tries = [save(one, session, turn(session.state), fenced=False) for one in (store, other, store, other)]
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(result, StaleHeadError) for result in results) == 3
    await other.close()


async def test_a_new_owner_ends_the_right_of_the_old_one(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.token == 1
    taken = (await save(store, session, turn(session.state), fenced=False, take_lease=True)).session
    assert taken.token == 2
    with pytest.raises(StaleHeadError):
        await save(store, session, turn(session.state))
    old = replace(taken, token=session.token)
    with pytest.raises(StaleHeadError, match="another owner"):
        await save(store, old, turn(session.state))
    unfenced = (await save(store, old, turn(session.state), fenced=False)).session
    assert unfenced.token == 2


async def test_a_head_that_moves_under_an_open_round_is_not_written(store: SqlStore) -> None:
    """The version stands in the update itself, so that not even a broken lock lets two rounds pass."""
    session, _ = await ready(store)

    async def attempt() -> None:
        async with store.round(session, NOW, fenced=True) as transaction:
            await transaction._connection.execute(text("UPDATE conversations SET version = 7"))
            await transaction.save(turn(session.state))

    with pytest.raises(StaleHeadError, match="moved"):
        await attempt()
    assert await store.load(USER, "c1") == session


async def test_an_interaction_is_consumed_once_whatever_the_code_does(store: SqlStore) -> None:
    session, _ = await ready(store)
    record = {"interaction_id": "ask_1", "answer": {"action": "approve"}, "result": {"ok": True}}
    answered = Round(kind="resume", state=session.state, consumed=record)
    after = (await save(store, session, answered)).session
    assert await store.consumed(USER, "c1", "ask_1") == record
    assert await store.consumed(USER, "c1", "ask_2") is None
    with pytest.raises(StaleHeadError) as caught:
        await save(store, after, replace(answered, messages=(Message(role="user", text="again"),)))
    assert caught.value.code == "interaction_consumed"
    assert await store.load(USER, "c1") == after


@pytest.mark.parametrize("table", [messages, schedule_versions, timeline, journal, interactions], ids=str)
async def test_append_only_rows_cannot_be_added_twice(store: SqlStore, table: Any) -> None:
    session, _ = await ready(store)
    record = {"interaction_id": "ask_1", "answer": {}, "result": {}}
    await save(store, session, replace(turn(session.state), consumed=record))

    async def attempt() -> None:
        async with store._database.write() as connection:
            rows = [row._asdict() for row in await connection.execute(table.select())]
            await connection.execute(insert(table), rows[-1])

    with pytest.raises(StoreError) as caught:
        await attempt()
    assert caught.value.code == "database_conflict"


async def test_a_lost_acknowledgement_is_settled_by_the_journal(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = await ready(store)
    real = store._database.write

    @asynccontextmanager
    async def deaf(*, keep: bool = True) -> AsyncIterator[Any]:
        async with real(keep=keep) as connection:
            yield connection
        if keep:
            raise StoreError("database_failed", "the connection was lost")

    monkeypatch.setattr(store._database, "write", deaf)
    stored = await save(store, session, turn(session.state))
    monkeypatch.undo()
    assert await store.load(USER, "c1") == stored.session


@pytest.mark.parametrize("down", [False, True])
async def test_a_commit_that_failed_is_an_error(store: SqlStore, monkeypatch: pytest.MonkeyPatch, down: bool) -> None:
    session, _ = await ready(store)
    monkeypatch.setattr("newagent.state.sql.store.COMMIT_DELAYS", (0.0, 0.0))
    real = store._database.write

    @asynccontextmanager
    async def failing(*, keep: bool = True) -> AsyncIterator[Any]:
        if down and not keep:
            raise StoreError("database_failed", "still lost")
        async with real(keep=False) as connection:
            yield connection
        if keep:
            raise StoreError("database_failed", "the connection was lost")

    monkeypatch.setattr(store._database, "write", failing)
    with pytest.raises(StoreError, match="connection was lost"):
        await save(store, session, turn(session.state))
    monkeypatch.undo()
    assert await store.load(USER, "c1") == session


async def test_the_database_fails_inside_a_round(store: SqlStore) -> None:
    session, _ = await ready(store)
    with pytest.raises(StoreError) as caught:
        async with store.round(session, NOW, fenced=True) as transaction:
            await transaction._connection.execute(text("SELECT nonsense"))
    assert caught.value.code == "database_failed"
    assert await store.load(USER, "c1") == session


async def struck_at(store: SqlStore, number: int, how: str, work: Coroutine[Any, Any, None]) -> BaseException | None:
    """What becomes of some work that fails, or is cancelled, at one of its statements."""
    engine, steps = store._database._engine.sync_engine, iter(range(1, 100))
    task = asyncio.create_task(work)

    def step(*_: Any) -> None:
        if next(steps) == number:
            if how == "fail":
                raise RefusedError("struck", "by lightning")
            task.cancel()

    event.listen(engine, "before_cursor_execute", step)
    (result,) = await asyncio.gather(task, return_exceptions=True)
    event.remove(engine, "before_cursor_execute", step)
    return result


@pytest.mark.parametrize("how", ["fail", "cancel"])
async def test_a_round_that_ends_at_any_statement_leaves_all_or_nothing(store: SqlStore, how: str) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    preview = putting(session.schedule, (0, 2, 7))

    async def whole_round() -> None:
        async with store.round(session, NOW, fenced=True) as transaction:
            await transaction.timetable.apply(preview, None)
            await transaction.save(turn(session.state, preview))

    held: list[BaseException] = []  # with their frames, which hold what they worked on
    while result := await struck_at(store, len(held) + 1, how, whole_round()):
        assert isinstance(result, RefusedError | asyncio.CancelledError)
        held.append(result)
        assert await store.load(USER, "c1") == session
        assert (await store.read_timetable(USER)).study == ()
    assert len(held) > 10
    assert (await store.load(USER, "c1")).version == 2
    assert len((await store.read_timetable(USER)).study) == 1
    assert await store.verify_journal(USER, "c1") == 2


async def test_a_task_that_is_cancelled_twice_still_gives_its_connection_back(store: SqlStore) -> None:
    session, _ = await ready(store)
    task = asyncio.create_task(save(store, session, turn(session.state)))
    engine = store._database._engine.sync_engine

    def again(*_: Any) -> None:
        task.cancel()
        asyncio.get_running_loop().call_soon(task.cancel)

    event.listen(engine, "before_cursor_execute", again)
    (result,) = await asyncio.gather(task, return_exceptions=True)
    event.remove(engine, "before_cursor_execute", again)
    assert isinstance(result, asyncio.CancelledError)
    assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    assert (await save(store, session, turn(session.state))).session.version == 2


async def work_of_a_round(store: SqlStore, session: Session) -> tuple[Session, int, int]:
    """The session after one more round, its statements, and the bytes of their parameters."""
    seen: list[int] = []

    def note(_connection: Any, _cursor: Any, _statement: str, parameters: Any, *_: Any) -> None:
        seen.append(len(repr(parameters)))

    engine = store._database._engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    stored = await save(store, session, replace(turn(session.state, text="x" * 50), title=None))
    event.remove(engine, "before_cursor_execute", note)
    return stored.session, len(seen), sum(seen)


async def test_a_round_writes_the_same_however_long_the_conversation_is(store: SqlStore) -> None:
    session, _ = await ready(store)
    session, statements, size = await work_of_a_round(store, session)
    for _ in range(60):
        session = (await save(store, session, turn(session.state))).session
    session, statements_late, size_late = await work_of_a_round(store, session)
    assert statements_late == statements
    assert size_late <= size + 40  # the counters have a digit more
    assert len(session.messages) == 63


async def test_a_round_commits_once(store: SqlStore) -> None:
    session, _ = await ready(store)
    commits: list[object] = []
    event.listen(store._database._engine.sync_engine, "commit", commits.append)
    assert session.schedule is not None
    await save(store, session, turn(session.state, putting(session.schedule, (0, 2, 7))))
    assert len(commits) == 1


# Lists, titles, owners


async def test_conversations_are_listed_latest_first(store: SqlStore) -> None:
    first = await store.create_conversation(USER, "c1", NOW)
    await store.create_conversation(USER, "c2", NOW + dt.timedelta(minutes=1))
    await store.create_conversation("other", "c3", NOW)
    assert [row.conversation_id for row in await store.list_conversations(USER)] == ["c2", "c1"]
    later = NOW + dt.timedelta(minutes=2)
    async with store.round(first, later, fenced=False) as transaction:
        await transaction.save(turn(first.state))
    rows = await store.list_conversations(USER)
    assert rows[0].as_json() == {
        "conversation_id": "c1",
        "title": "帮我安排",
        "phase": "planning",
        "version": 1,
        "created_at": "2026-03-02T01:00:00+00:00",
        "updated_at": "2026-03-02T01:02:00+00:00",
    }


async def test_rename(store: SqlStore) -> None:
    session = await store.create_conversation(USER, "c1", NOW)
    await store.rename(USER, "c1", "  概率论 \n 复习 ")
    assert (await store.load(USER, "c1")).title == "概率论 复习"
    stored = await save(store, session, turn(session.state))
    assert stored.session.title == "概率论 复习", "a title that the user gave meanwhile stays"
    for title in ("", "  ", "x" * 201):
        with pytest.raises(InputError, match="title"):
            await store.rename(USER, "c1", title)


async def test_delete_takes_everything_of_the_conversation(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    preview = putting(session.schedule, (0, 2, 7))
    record = {"interaction_id": "ask_1", "answer": {}, "result": {}}
    async with store.round(session, NOW, fenced=True) as transaction:
        await transaction.timetable.apply(preview, None)
        await transaction.save(replace(turn(session.state, preview), consumed=record))
    await ready(store, "c2", "other")
    await store.delete(USER, "c1")
    left = await counts(store)
    assert {name: left[name] for name in ("conversations", "messages", "journal", "interactions")} == {
        "conversations": 1,
        "messages": 1,
        "journal": 1,
        "interactions": 0,
    }
    assert (left["timeline"], left["schedule_versions"], left["item_slots"]) == (2, 1, 2)
    with pytest.raises(NotFoundError):
        await save(store, session, turn(session.state))
    with pytest.raises(NotFoundError):
        await store.delete(USER, "c1")


async def test_another_users_conversation_does_not_exist(store: SqlStore) -> None:
    session, _ = await ready(store)
    calls = [
        store.load("other", "c1"),
        store.events("other", "c1"),
        store.schedule_at("other", "c1", 1),
        store.consumed("other", "c1", "ask_1"),
        store.journal("other", "c1"),
        store.verify_journal("other", "c1"),
        store.rename("other", "c1", "mine"),
        store.delete("other", "c1"),
        store.load(USER, "c9"),
        save(store, replace(session, state=session.state.model_copy(update={"user_id": "other"})), turn(session.state)),
    ]
    for call in calls:
        with pytest.raises(NotFoundError) as caught:
            await call
        assert caught.value.code == "conversation_not_found"
    assert await store.load(USER, "c1") == session
    assert await store.list_conversations("other") == []


async def test_a_schedule_version_that_is_not_there(store: SqlStore) -> None:
    await ready(store)
    for version in (0, 2, 2**70):
        with pytest.raises(NotFoundError) as caught:
            await store.schedule_at(USER, "c1", version)
        assert caught.value.code == "version_not_found"


async def test_ids_that_cannot_be_stored(store: SqlStore) -> None:
    await store.create_conversation(USER, "c1", NOW)
    with pytest.raises(RefusedError) as refused:
        await store.create_conversation("other", "c1", NOW)
    assert refused.value.code == "conversation_exists"
    for user, conversation, code in (
        ("", "c2", "invalid_user_id"),
        ("u" * 129, "c2", "invalid_user_id"),
        (USER, "", "invalid_conversation_id"),
        (USER, "c" * 65, "invalid_conversation_id"),
    ):
        with pytest.raises(InputError) as caught:
            await store.create_conversation(user, conversation, NOW)
        assert caught.value.code == code
    with pytest.raises(InputError):
        await store.put_task_class("u" * 129, task_class())
