"""Clients that are careless, hostile, or gone; and runs that another process left."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.requests import ClientDisconnect

from newagent.errors import StoreError
from newagent.llm.mind import Delta, Prompt, Thought
from newagent.loop.agent import Turn
from newagent.server import body as request_body
from newagent.server import following
from newagent.server.app import make_app
from newagent.server.runs import Runs
from newagent.state.store import Session
from newagent.stream import bus
from tests.loop.bed import call, done, plan, reply
from tests.server.test_service import (
    API,
    PREFER,
    Desk,
    Stream,
    desk,  # noqa: F401
    until,
)

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "content",
    [
        rb'{"message": "\ud800"}',
        b'{"message": "' + b"[" * 200_000 + b'"}',
        b'{"message": "x", "extra": ' + b'{"resume":' * 100_000,
        b'{"message": "x", "extra": {"task_class_ids": [1e999]}}',
        b'{"message": "x", "extra": {"task_class_ids": ["' + b"9" * 5000 + b'"]}}',
        b'{"message": "x", "extra": {"task_class_ids": ' + b"9" * 5000 + b"}}",
        b'{"message": NaN}',
        b'{"message": "x", "conversation_id": "' + b"c" * 65 + b'"}',
    ],
    ids=range(8),
)
async def test_odd_bodies_are_told(desk: Desk, content: bytes) -> None:  # noqa: F811
    answer = await desk.http.post(f"{API}/chat", content=content, headers=JSON)
    assert answer.status_code == 400, answer.text
    assert answer.json()["data"]["error_code"] == "invalid_body"
    assert (await desk.http.get(f"{API}/conversations")).json()["data"] == []


@pytest.mark.parametrize("message", ["", " \n ", "\u3000\t"])
async def test_an_empty_message_is_told(desk: Desk, message: str) -> None:  # noqa: F811
    refused = await desk.chat(400, message=message)
    assert refused.answer.json()["data"]["error_code"] == "empty_message"


@pytest.mark.parametrize("ids", [[999], [10**30], [-1], [0]])
async def test_an_unknown_class_is_told_before_the_stream(desk: Desk, ids: list[int]) -> None:  # noqa: F811
    refused = await desk.chat(404, message="排", extra={"task_class_ids": ids})
    assert refused.answer.json()["data"]["error_code"] == "unknown_task_class"


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "²", "9" * 19, "9" * 5000, " "])
async def test_a_seq_that_is_none_is_told(desk: Desk, after: str) -> None:  # noqa: F811
    desk.mind.script = [reply("在")]
    stream = await desk.chat(message="在吗")
    params = {"conversation_id": stream.conversation, "after_seq": after}
    answer = await desk.http.get(f"{API}/events", params=params)
    assert answer.status_code == 400
    assert answer.json()["data"]["error_code"] == "invalid_parameter"


@pytest.mark.parametrize("odd", ["nobody", "\x00", "c" * 5000, "%ed%a0%80", "' OR 1=1 --", "你"])
async def test_odd_ids_are_not_found(desk: Desk, odd: str) -> None:  # noqa: F811
    params = {"conversation_id": odd}
    for path in ("events", "conversation-timeline"):
        assert (await desk.http.get(f"{API}/{path}", params=params)).status_code == 404
    resume = {"interaction_id": odd, "action": "approve"}
    refused = await desk.http.post(
        f"{API}/chat", json={"conversation_id": odd[:64], "message": "", "extra": {"resume": resume}}
    )
    assert refused.json()["data"]["error_code"] == "interaction_not_found"
    assert refused.status_code == 404


async def test_odd_edits_leave_the_card_open(desk: Desk) -> None:  # noqa: F811
    desk.mind.script = [plan("设偏好", packs=("preference",)), PREFER]
    asked = await desk.chat(message="晚上轻松点")
    deep: dict[str, Any] = {}
    for _ in range(60):
        deep = {"a": deep}
    for arguments in (deep, {"load": 10**300}, {"load": "x" * 100_000}, {"unknown": 1}, {}):
        refused = await desk.resume(asked, "edit", 422, arguments=arguments)
        assert refused.answer.json()["data"]["error_code"] == "invalid_args"
    await desk.resume(asked, "reject", 400, message="x" * 8001)
    assert (await desk.attach(asked.conversation, 0)).card["interaction_id"] == asked.card["interaction_id"]


async def test_two_answers_at_once_give_two_whole_streams_and_one_effect(desk: Desk) -> None:  # noqa: F811
    desk.mind.script = [plan("设偏好", packs=("preference",)), PREFER, done(), reply("好了")]
    asked = await desk.chat(message="晚上轻松点")
    first, second = await asyncio.gather(desk.resume(asked, "approve"), desk.resume(asked, "approve"))
    assert first.durable == second.durable
    assert [kind for _, kind in first.durable].count("schedule_updated") == 1


async def test_a_message_after_a_cancel_need_not_wait_for_the_cancelled_thought(desk: Desk) -> None:  # noqa: F811
    desk.mind.gate.clear()
    first = asyncio.create_task(desk.chat(message="一"))
    await until(lambda: desk.backend.runs._tasks)
    conversation = next(iter(desk.backend.runs._tasks))
    await desk.http.post(f"{API}/cancel", json={"conversation_id": conversation})
    assert (await first).durable[-1][1] == "finish"
    waiting = asyncio.create_task(desk.chat(conversation_id=conversation, message="二"))
    await until(lambda: desk.backend.runs._tasks)
    desk.mind.script = [reply("说二")]
    desk.mind.gate.set()
    second = await waiting
    assert second.text == "说二"
    assert second.durable[-1][1] == "finish"


async def left_behind(desk: Desk) -> Session:  # noqa: F811
    """A run that a process took and then died with."""
    agent = desk.backend.agent
    return await agent.begin("local", None, Turn("看看"))


async def test_attaching_waits_for_the_lease_of_a_dead_process_and_then_goes_on(
    desk: Desk,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "HEARTBEAT", 0.01)
    session = await left_behind(desk)
    desk.mind.script = [reply("看到了")]
    attached = asyncio.create_task(desk.attach(session.state.conversation_id, 0))
    await asyncio.sleep(0.05)
    assert not attached.done()
    assert desk.mind.prompts == []
    desk.backend.agent.runtime.time += dt.timedelta(minutes=2)  # type: ignore[attr-defined]
    stream = await attached
    assert stream.durable[-1][1] == "finish"
    assert stream.text == "看到了"
    assert len(desk.mind.prompts) == 1


async def test_two_readers_of_a_dead_run_start_it_once(desk: Desk) -> None:  # noqa: F811
    session = await left_behind(desk)
    desk.backend.agent.runtime.time += dt.timedelta(minutes=2)  # type: ignore[attr-defined]
    desk.mind.script = [reply("看到了"), reply("又看到了")]
    conversation = session.state.conversation_id
    streams = await asyncio.gather(*(desk.attach(conversation, 0) for _ in range(3)))
    assert {tuple(stream.durable) for stream in streams} == {tuple(streams[0].durable)}
    assert len(desk.mind.prompts) == 1
    journal = await desk.backend.store.journal("local", conversation)
    assert len(journal) == session.version + 2


async def test_a_run_that_is_closed_is_handed_back_and_goes_on_at_once(desk: Desk) -> None:  # noqa: F811
    desk.mind.gate.clear()
    first = asyncio.create_task(desk.chat(message="看看"))
    await until(lambda: desk.backend.runs._tasks)
    conversation = next(iter(desk.backend.runs._tasks))
    await desk.backend.runs.close()
    assert not (await desk.backend.store.load("local", conversation)).lease_until
    assert "service_stopping" in (await first).answer.text
    assert "service_stopping" in (await desk.attach(conversation, 0)).answer.text
    desk.backend.runs = Runs(desk.backend.agent, desk.backend.bus)  # the service starts again
    desk.mind.gate.set()
    desk.mind.script = [reply("看到了")]
    stream = await desk.attach(conversation, 0)
    assert stream.text == "看到了"
    assert stream.durable[-1][1] == "finish"
    assert await desk.backend.store.verify_journal("local", conversation)


async def test_a_store_that_fails_in_a_run_is_told_in_the_stream(
    desk: Desk,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def failing(session: Session) -> Session:
        raise StoreError("database_busy", "the database is in use")

    monkeypatch.setattr(desk.backend.agent, "drive", failing)
    stream = await desk.http.post(f"{API}/chat", json={"message": "在吗"})
    assert '"code":"database_busy"' in stream.text
    assert stream.text.endswith("data: [DONE]\n\n")

    async def broken(session: Session) -> Session:
        raise RuntimeError("boom")

    monkeypatch.setattr(desk.backend.agent, "drive", broken)
    stream = await desk.http.post(f"{API}/chat", json={"message": "在吗"})
    assert '"code":"internal_error"' in stream.text


async def test_deleting_a_conversation_ends_its_stream(desk: Desk) -> None:  # noqa: F811
    desk.mind.gate.clear()
    first = asyncio.create_task(desk.chat(message="看看"))
    await until(lambda: desk.backend.runs._tasks)
    conversation = next(iter(desk.backend.runs._tasks))
    assert (await desk.http.delete(f"{API}/conversations/{conversation}")).status_code == 200
    desk.mind.script = [reply("看到了")]
    desk.mind.gate.set()
    assert "conversation_not_found" in (await first).answer.text


async def test_a_slow_reader_is_dropped_and_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(bus, "BEHIND", 3)
    desk.mind.script = [reply("在")]
    think = desk.mind.think

    async def wordy(prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        for _ in range(20):
            yield Delta("text", "字")
        async for piece in think(prompt):
            yield piece

    desk.mind.think = wordy  # type: ignore[method-assign]
    answer = await desk.http.post(f"{API}/chat", json={"message": "在吗"})
    assert "reader_too_slow" in answer.text
    attached = await desk.attach(answer.headers["x-conversation-id"], 0)
    assert attached.durable[-1][1] == "finish"


async def test_a_fault_of_ours_has_the_envelope_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    async def broken(user_id: str) -> list[object]:
        raise ZeroDivisionError(user_id)

    monkeypatch.setattr(desk.backend.store, "list_conversations", broken)
    transport = httpx.ASGITransport(make_app(desk.backend), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        answer = await http.get(f"{API}/conversations")
    assert answer.status_code == 500
    assert answer.json()["data"]["error_code"] == "internal_error"


async def test_a_client_that_leaves_in_its_own_body(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    async def leaving(self: object) -> AsyncIterator[bytes]:
        yield b"{"
        raise ClientDisconnect

    monkeypatch.setattr(request_body.Request, "stream", leaving)
    answer = await desk.http.post(f"{API}/chat", json={"message": "在吗"})
    assert answer.json()["data"]["error_code"] == "invalid_body"


async def test_a_run_that_waits_is_not_driven_by_a_reader(desk: Desk) -> None:  # noqa: F811
    desk.mind.script = [plan("看", "再看"), call("get_overview")]
    asked = await desk.chat(message="看看")
    again = await desk.attach(asked.conversation, 0)
    assert again.durable == asked.durable
    assert len(desk.mind.script) == 1
    assert isinstance(again, Stream)
