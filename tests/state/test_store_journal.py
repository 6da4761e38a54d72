"""The journal's chain, and the snapshots."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import mysql, sqlite

from newagent.errors import StoreError
from newagent.state import snapshots
from newagent.state.canonical import canonical, hash_of
from newagent.state.recording import rolling
from newagent.state.sql.columns import UtcDateTime
from newagent.state.sql.store import SqlStore
from tests.state.term_bed import NOW, USER, putting, ready, save, tamper, turn

GOLDEN = Path(__file__).with_name("golden")


async def three_rounds(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    session = (await save(store, session, turn(session.state, putting(session.schedule, (0, 2, 7))))).session
    await save(store, session, turn(session.state))


async def test_the_chain_holds(store: SqlStore) -> None:
    await three_rounds(store)
    assert await store.verify_journal(USER, "c1") == 3
    entries = await store.journal(USER, "c1")
    assert [entry.version for entry in entries] == [1, 2, 3]
    assert entries[0].previous_hash == ""
    assert [entry.previous_hash for entry in entries[1:]] == [entry.hash for entry in entries[:2]]
    assert len({entry.round_id for entry in entries}) == 3
    assert entries[1].schedule_hash == entries[2].schedule_hash != entries[0].schedule_hash


@pytest.mark.parametrize(
    ("statement", "version"),
    [
        ("UPDATE journal SET body = '{}' WHERE version = 2", 2),
        ("UPDATE journal SET kind = 'user' WHERE version = 1", 1),
        ("UPDATE journal SET state_hash = message_hash WHERE version = 3", 3),
        ("UPDATE journal SET created_at = '2026-03-02 01:00:01' WHERE version = 2", 2),
        ("UPDATE journal SET round_id = 'x' WHERE version = 3", 3),
        ("UPDATE journal SET hash = previous_hash WHERE version = 2", 2),
        ("DELETE FROM journal WHERE version = 1", 1),
        ("DELETE FROM journal WHERE version = 2", 2),
        ("DELETE FROM journal WHERE version = 3", 3),
        ("DELETE FROM journal", 1),
        ("UPDATE conversations SET journal_hash = ''", 4),
        ("UPDATE conversations SET agent_state = '{}'", 3),
        ('UPDATE messages SET document = \'{"role":"user","text":"no"}\' WHERE position = 1', 3),
        ("DELETE FROM messages WHERE position = 3", 3),
        ("UPDATE schedule_versions SET document = '{}' WHERE schedule_version = 2", 3),
        ("DELETE FROM schedule_versions", 3),
    ],
    ids=str,
)
async def test_tampering_shows(store: SqlStore, statement: str, version: int) -> None:
    await three_rounds(store)
    await tamper(store, statement)
    with pytest.raises(StoreError) as caught:
        await store.verify_journal(USER, "c1")
    assert (caught.value.code, caught.value.data["version"]) == ("journal_broken", version)


async def test_a_snapshot_of_a_newer_version_is_refused(store: SqlStore) -> None:
    await three_rounds(store)
    newer = "SET document = replace(document, '\"schema_version\":1', '\"schema_version\":2')"
    await tamper(store, f"UPDATE schedule_versions {newer} WHERE schedule_version = 2")
    with pytest.raises(StoreError) as caught:
        await store.load(USER, "c1")
    assert caught.value.code == "snapshot_too_new"
    assert (await store.schedule_at(USER, "c1", 1)).schema_version == 1


@pytest.mark.parametrize(
    "statement",
    [
        'UPDATE conversations SET agent_state = \'{"conversation_id":"c1"}\'',
        "UPDATE conversations SET agent_state = 'x'",
        'UPDATE messages SET document = \'{"role":"nobody"}\'',
        "UPDATE schedule_versions SET document = '{\"schema_version\":1}'",
    ],
    ids=str,
)
async def test_what_is_stored_and_cannot_be_read(store: SqlStore, statement: str) -> None:
    await three_rounds(store)
    await tamper(store, statement)
    with pytest.raises(StoreError) as caught:
        await store.load(USER, "c1")
    assert caught.value.code == "snapshot_unreadable"


def test_an_older_snapshot_is_brought_up_one_step_at_a_time() -> None:
    def rename(document: dict[str, Any]) -> dict[str, Any]:
        return {"fresh": document["old"]}

    def add(document: dict[str, Any]) -> dict[str, Any]:
        assert document["schema_version"] == 2
        return {**document, "more": []}

    steps = {1: rename, 2: add}
    assert snapshots.up_to_date({"old": 5}, 3, steps) == {"schema_version": 3, "fresh": 5, "more": []}
    assert snapshots.up_to_date({"schema_version": 3}, 3, steps) == {"schema_version": 3}
    with pytest.raises(StoreError) as caught:
        snapshots.up_to_date({"schema_version": 4}, 3, steps)
    assert caught.value.code == "snapshot_too_new"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("agent_state_*.json")), ids=lambda path: path.stem)
def test_golden_agent_states_are_read_for_ever(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    state = snapshots.read_agent(document)
    assert state.interaction is not None
    assert state.interaction.interaction_id == "int_1"
    if document["schema_version"] == snapshots.AGENT_SCHEMA_VERSION:
        assert within(document, snapshots.dump_agent(state))


def within(golden: Any, dumped: Any) -> bool:
    """Whether a dump holds all of a golden document; fields that were added since, with a default, may be more."""
    if isinstance(golden, dict) and isinstance(dumped, dict):
        return all(key in dumped and within(value, dumped[key]) for key, value in golden.items())
    return golden == dumped


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("schedule_*.json")), ids=lambda path: path.stem)
def test_golden_schedules_are_read_for_ever(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    state = snapshots.read_schedule(document)
    assert [(task.name, task.status) for task in state.tasks][-1] == ("第3章", "pending")
    if document["schema_version"] == snapshots.SCHEMA_VERSION:
        assert snapshots.dump_schedule(state) == document


def test_there_is_a_golden_snapshot_of_every_version() -> None:
    names = {path.name for path in GOLDEN.iterdir()}
    wanted = {f"agent_state_v{n}.json" for n in range(1, snapshots.AGENT_SCHEMA_VERSION + 1)}
    assert names == wanted | {f"schedule_v{n}.json" for n in range(1, snapshots.SCHEMA_VERSION + 1)}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=10,
)


@given(json_values)
def test_canonical_text_is_stable_and_storable(value: Any) -> None:
    text = canonical(value)
    text.encode()
    assert canonical(json.loads(text)) == text or any_number_key(value)


def any_number_key(value: Any) -> bool:
    """Keys that are numbers sort as numbers at first; what is stored is put into text before it is hashed."""
    if isinstance(value, dict):
        return any(isinstance(key, int) for key in value) or any(map(any_number_key, value.values()))
    return isinstance(value, list) and any(map(any_number_key, value))


def test_canonical_text() -> None:
    assert canonical({"b": [1, 2.5, None, True], "a": "字\n"}) == '{"a":"字\\n","b":[1,2.5,null,true]}'
    assert canonical([float("nan"), {"x": float("-inf")}]) == '[null,{"x":null}]'
    with pytest.raises(TypeError):
        canonical({"x": object()})


def test_hashes_know_where_a_text_ends() -> None:
    assert hash_of("ab", "c") != hash_of("a", "bc") != hash_of("abc")
    assert rolling(rolling("", ["a"]), ["b"]) == rolling("", ["a", "b"]) != rolling("", ["b", "a"])


def test_instants_are_stored_in_utc() -> None:
    column, dialect = UtcDateTime(), sqlite.dialect()
    local = dt.datetime(2026, 3, 2, 9, 0, tzinfo=dt.timezone(dt.timedelta(hours=8)))
    assert column.process_bind_param(local, dialect) == NOW.replace(tzinfo=None)
    assert column.process_result_value(NOW.replace(tzinfo=None), dialect) == NOW
    assert column.process_bind_param(None, dialect) is column.process_result_value(None, dialect) is None
    assert str(column.load_dialect_impl(mysql.dialect()).compile(dialect=mysql.dialect())) == "DATETIME(6)"
    with pytest.raises(ValueError, match="zone"):
        column.process_bind_param(local.replace(tzinfo=None), dialect)
