"""Leases: held for longer without a round, and found by a sweeper once they have ended."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from newagent.errors import StaleHeadError
from newagent.state.documents import PendingInteraction
from newagent.state.sql.store import SqlStore
from tests.state.term_bed import NOW, USER, ready, save, turn

MINUTE = dt.timedelta(minutes=1)


async def test_a_lease_is_held_for_longer_without_a_round(store: SqlStore) -> None:
    session, _ = await ready(store)
    await store.extend_lease(session, NOW + 5 * MINUTE)
    loaded = await store.load(USER, "c1")
    assert loaded == replace(session, lease_until=NOW + 5 * MINUTE)
    assert await store.verify_journal(USER, "c1") == session.version
    after = (await save(store, session, turn(session.state))).session
    assert (await store.load(USER, "c1")).lease_until == after.lease_until == NOW + MINUTE


async def test_only_the_owner_of_a_run_holds_its_lease(store: SqlStore) -> None:
    session, _ = await ready(store)
    taken = (await save(store, session, turn(session.state), fenced=False, take_lease=True)).session
    idle = await store.create_conversation(USER, "c2", NOW)
    foreign = replace(taken, state=taken.state.model_copy(update={"user_id": "other"}))
    for nobody in (session, idle, foreign):
        with pytest.raises(StaleHeadError):
            await store.extend_lease(nobody, NOW + 5 * MINUTE)
    assert await store.load(USER, "c1") == taken


async def test_what_is_due(store: SqlStore) -> None:
    """Runs whose lease has ended, runs that were handed back, cards that have ended; nothing that rests."""
    await ready(store, "c1", "a")
    waiting, _ = await ready(store, "c2", "b")
    handed_back, _ = await ready(store, "c3", "c")
    ended, _ = await ready(store, "c4", "d")
    card = PendingInteraction(
        interaction_id="ask_1", kind="question", title="?", opened_at=NOW, expires_at=NOW + 3 * MINUTE
    )
    asked = waiting.state.model_copy(update={"phase": "waiting", "interaction": card})
    await save(store, waiting, replace(turn(asked), lease_until=None))
    await save(store, handed_back, replace(turn(handed_back.state), lease_until=None))
    rests = replace(turn(ended.state), lease_until=None, state=ended.state.model_copy(update={"phase": "idle"}))
    await save(store, ended, rests)
    assert await store.due(NOW - MINUTE) == []
    assert await store.due(NOW) == [("c", "c3")]
    assert await store.due(NOW + MINUTE) == [("c", "c3"), ("a", "c1")]
    assert await store.due(NOW + 3 * MINUTE) == [("c", "c3"), ("a", "c1"), ("b", "c2")]
    assert await store.due(NOW + 3 * MINUTE, limit=1) == [("c", "c3")]
