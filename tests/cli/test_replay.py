"""`newagent replay`, `metrics` and `conversations --sweep` as their user calls them, on a conversation of the loop."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from newagent.cli.wiring import LOCAL_USER
from newagent.loop.agent import Agent, Turn
from newagent.runtime import ShiftedRuntime
from newagent.state.sql.store import SqlStore
from tests.loop.bed import FunctionMind, Recorder, call, done, plan, reply
from tests.state.term_bed import NOW, TERM, task_class, url_of

Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A data folder with a conversation `c1`: a plan whose one write waits since the round 3."""
    for name in list(os.environ):
        if name.startswith("NEWAGENT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NEWAGENT_DATA_DIR", str(tmp_path))
    asyncio.run(_waiting(tmp_path / "newagent.db"))
    return tmp_path


async def _waiting(path: Path) -> None:
    store = await SqlStore.open(url_of(path))
    await store.import_courses(LOCAL_USER, TERM)
    class_id = await store.put_task_class(LOCAL_USER, task_class())
    await store.create_conversation(LOCAL_USER, "c1", NOW)
    mind = FunctionMind([plan("排概率论"), call("rough_build", task_class_ids=[class_id]), done(), reply("好")])
    agent = Agent(store, mind, Recorder(), ShiftedRuntime(NOW))
    await agent.drive(await agent.begin(LOCAL_USER, "c1", Turn("帮我排一下")))
    await store.close()


def test_verify(run: Run, home: Path) -> None:
    assert run("replay", "c1", "--verify", "--json")[:2] == (
        0,
        {"ok": True, "conversation_id": "c1", "rounds": 3, "difference": None, "reworded": []},
    )
    code, shown, _ = run("replay", "c1", "--verify")
    assert (code, "every round is as it was recorded" in shown) == (0, True)


def test_one_byte_of_the_journal(run: Run, home: Path) -> None:
    with sqlite3.connect(home / "newagent.db") as database:
        database.execute("UPDATE journal SET body = replace(body, '概率论', '概率伦') WHERE version = 2")
    code, document, _ = run("replay", "c1", "--verify", "--json")
    assert (code, document["ok"], document["rounds"]) == (1, False, 1)
    difference = document["difference"]
    assert (difference["version"], difference["part"], difference["path"]) == (2, "journal", "$.hash")
    assert difference["recorded"] != difference["replayed"]
    code, shown, _ = run("replay", "c1", "--verify")
    assert (code, "round 2: journal $.hash" in shown) == (1, True)


@pytest.mark.parametrize("redact", [False, True])
def test_an_exported_file_verifies_by_itself(run: Run, home: Path, redact: bool) -> None:
    file = home / "story.json"
    extra = ("--redact",) if redact else ()
    code, document, _ = run("replay", "c1", "--export", str(file), *extra, "--json")
    assert (code, document) == (0, {"conversation_id": "c1", "rounds": 3, "exported": str(file)})
    assert ("帮我排一下" in file.read_text("utf-8")) is not redact
    (home / "newagent.db").unlink()
    code, document, _ = run("replay", str(file), "--verify", "--json")
    assert (code, document["ok"]) == (0, True)
    assert not (home / "newagent.db").exists()


def test_a_fork_with_another_answer(run: Run, home: Path) -> None:
    answer = '{"action": "approve"}'
    code, document, _ = run("replay", "c1", "--from", "3", "--answer", answer, "--json")
    assert code == 0
    forked = document["fork"]
    assert forked["conversation_id"] != "c1"
    listed = {row["conversation_id"]: row for row in run("conversations", "--json")[1]["conversations"]}
    assert listed["c1"]["phase"] == "waiting"
    assert listed["c1"]["version"] == 3
    assert run("replay", forked["conversation_id"], "--verify", "--json")[1]["ok"]
    assert run("replay", "c1", "--from", "1", "--answer", answer, "--json")[1]["code"] == "interaction_not_found"


def test_a_fork_that_goes_on_with_the_model_of_the_settings(run: Run, home: Path) -> None:
    code, shown, _ = run("replay", "c1", "--from", "1", "--live")
    assert (code, "forked as conv_" in shown) == (0, True)
    code, document, _ = run("replay", "c1", "--from", "9", "--live", "--json")
    assert (code, document["code"]) == (1, "round_not_found")


def test_the_figures(run: Run, home: Path) -> None:
    code, document, _ = run("metrics", "--conversation", "c1", "--json")
    assert (code, document["runs"], document["closing_rate"]) == (0, 0, None)
    code, shown, _ = run("metrics")
    assert (code, "swing-backs      0" in shown) == (0, True)
    assert run("metrics", "--conversation", "nobody", "--json")[1]["code"] == "conversation_not_found"


def test_a_sweep_lets_a_card_expire(run: Run, home: Path) -> None:
    rows = run("conversations", "--sweep", "--json")[1]["conversations"]
    # The real clock is far past the day that the card was given.
    assert dt.datetime.now(dt.UTC) > NOW + dt.timedelta(days=1)
    assert [(row["conversation_id"], row["phase"]) for row in rows] == [("c1", "idle")]
    assert run("replay", "c1", "--verify", "--json")[1]["ok"]


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (("replay", "c1"), 2, "usage"),
        (("replay", "c1", "--from", "2"), 2, "usage"),
        (("replay", "c1", "--live"), 2, "usage"),
        (("replay", "c1", "--redact", "--verify"), 2, "usage"),
        (("replay", "c1", "--from", "3", "--answer", "yes"), 2, "usage"),
        (("replay", "c1", "--from", "3", "--answer", "[]"), 2, "usage"),
        (("replay", "c1", "--from", "3", "--answer", '{"action": "sing"}'), 2, "usage"),
        (("replay", "nobody", "--verify"), 1, "conversation_not_found"),
        (("replay", "none.json", "--verify"), 2, "unreadable_file"),
        (("replay", "c1", "--export", "/nowhere/x.json"), 1, "unwritable_file"),
        (("conversations", "--sweep", "--delete", "c1"), 2, "usage"),
    ],
    ids=str,
)
def test_wrong_calls_are_one_clear_line(run: Run, home: Path, arguments: tuple[str, ...], code: int, name: str) -> None:
    ended, document, _ = run(*arguments, "--json")
    assert (ended, document["code"]) == (code, name)


def test_a_file_that_is_no_recording(run: Run, home: Path) -> None:
    file = home / "x.json"
    for content, name in (("{", "invalid_json"), (json.dumps({"a": 1}), "invalid_recording")):
        file.write_text(content)
        assert run("replay", str(file), "--verify", "--json")[:2][1]["code"] == name
