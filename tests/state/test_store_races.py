"""Processes that race for one interaction, and processes that are killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from newagent.errors import StaleHeadError
from newagent.state.sql.store import SqlStore
from newagent.state.store import Session
from tests.state.term_bed import NOW, USER, putting, ready, save, turn

RACER = Path(__file__).with_name("racer.py")
MATRIX = Path(__file__).with_name("kill_matrix.py")


def start(url: str, what: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(RACER), url, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def run(racers: list[subprocess.Popen[str]]) -> list[str]:
    """Lets all begin once all have read the same head; what each says."""
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    return [racer.communicate(timeout=60)[0].strip() for racer in racers]


def kill_everywhere(url: str) -> list[list[object]]:
    """What `kill_matrix.py` found after each child."""
    ran = subprocess.run([sys.executable, str(MATRIX), url], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    return [json.loads(line) for line in ran.stdout.splitlines()]


async def preview(store: SqlStore) -> Session:
    """A conversation with a preview of two items."""
    session, _ = await ready(store)
    assert session.schedule is not None
    placed = putting(session.schedule, (0, 2, 7), (1, 3, 1))
    return (await save(store, session, turn(session.state, placed))).session


async def applied(store: SqlStore) -> int:
    return len((await store.read_timetable(USER)).study)


async def test_two_processes_answer_one_interaction_with_one_effect(url: str, store: SqlStore) -> None:
    before = await preview(store)
    said = run([start(url, "answer"), start(url, "answer")])
    assert sorted(said) == ["stale_head", "won"]
    after = await store.load(USER, "c1")
    assert (after.version, after.token) == (before.version + 1, before.token + 1)
    assert len(after.messages) == len(before.messages) + 1
    assert await applied(store) == 2
    assert await store.verify_journal(USER, "c1") == after.version
    assert await store.consumed(USER, "c1", "ask_1") is not None


async def test_a_process_killed_inside_a_round_leaves_nothing(url: str, store: SqlStore) -> None:
    before = await preview(store)
    assert run([start(url, "die")]) == [""]
    assert await store.load(USER, "c1") == before
    assert await store.consumed(USER, "c1", "ask_1") is None
    assert await applied(store) == 0
    assert await store.verify_journal(USER, "c1") == before.version
    assert (await save(store, before, turn(before.state))).session.version == before.version + 1


async def test_a_process_killed_after_the_commit_leaves_everything(url: str, store: SqlStore) -> None:
    before = await preview(store)
    assert run([start(url, "commit")]) == [""]
    after = await store.load(USER, "c1")
    assert after.version == before.version + 1
    assert await applied(store) == 2
    with pytest.raises(StaleHeadError):
        await save(store, before, turn(before.state), fenced=False)
    assert await store.verify_journal(USER, "c1") == after.version
    assert (await store.journal(USER, "c1"))[-1].created_at == NOW


async def test_a_process_killed_at_any_statement_leaves_all_or_nothing(url: str, store: SqlStore) -> None:
    before = await preview(store)
    *killed, last = kill_everywhere(url)
    assert len(killed) >= 10
    assert killed == [[9, before.version, 0, False, before.version]] * len(killed)
    assert last == [0, before.version + 1, 2, True, before.version + 1]
