"""The service over HTTP: streams, answers, attaching again, and what is refused; on a real SQLite file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from newagent.calendars.sample import sample_term
from newagent.llm.mind import Delta, Prompt, Thought
from newagent.loop.agent import Agent
from newagent.server import following
from newagent.server.app import make_app
from newagent.server.backend import Backend
from newagent.server.identity import LocalIdentity
from newagent.state.sql.store import SqlStore
from newagent.stream.bus import Bus
from tests.loop.bed import FakeRuntime, FunctionMind, ask, call, done, plan, reply

API = "/api/v1/agent"
PREFER = call("set_preferences", evening_heavy="avoid")


class GatedMind(FunctionMind):
    """A function as model that thinks only while its gate is open."""

    def __init__(self) -> None:
        super().__init__([])
        self.gate = asyncio.Event()
        self.gate.set()

    async def think(self, prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        await self.gate.wait()
        async for piece in super().think(prompt):
            yield piece


@dataclass
class Desk:
    """A client at the service, and what stands behind it."""

    http: httpx.AsyncClient
    backend: Backend
    mind: GatedMind

    async def chat(self, status: int = 200, **body: Any) -> Stream:
        answer = await self.http.post(f"{API}/chat", json=body)
        assert answer.status_code == status, answer.text
        return Stream(answer)

    async def resume(self, stream: Stream, action: str, status: int = 200, **fields: Any) -> Stream:
        resume = {"interaction_id": stream.card["interaction_id"], "action": action, **fields}
        return await self.chat(status, conversation_id=stream.conversation, extra={"resume": resume})

    async def attach(self, conversation: str, after: int) -> Stream:
        headers = {"last-event-id": str(after)}
        return Stream(await self.http.get(f"{API}/events", params={"conversation_id": conversation}, headers=headers))


class Stream:
    """The frames of a finished SSE answer."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self.conversation = answer.headers.get("x-conversation-id", "")
        self.frames: list[tuple[int | None, Any]] = []
        streamed = answer.headers["content-type"].startswith("text/event-stream")
        for block in answer.text.split("\n\n") if streamed else ():
            fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if fields.get("data", "[DONE]") != "[DONE]":
                self.frames.append((int(fields["id"]) if "id" in fields else None, json.loads(fields["data"])))

    @property
    def durable(self) -> list[tuple[int, str]]:
        return [(seq, data["extra"]["kind"]) for seq, data in self.frames if seq is not None]

    @property
    def text(self) -> str:
        parts = [choice["delta"].get("content", "") for _, data in self.frames for choice in data.get("choices", ())]
        return "".join(parts)

    @property
    def card(self) -> dict[str, Any]:
        shown = [data["extra"] for _, data in self.frames if data["extra"]["kind"] in ("confirm_request", "interrupt")]
        return shown[-1].get("confirm", shown[-1])


async def until(holds: Callable[[], object]) -> None:
    """Lets the service work until something holds."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'service.db'}")
    semester, _, classes = sample_term()
    await store.put_semester("local", semester)
    await store.put_task_class("local", classes[0])
    runtime = FakeRuntime()
    runtime.time = runtime.time.replace(year=2026, month=9, day=7)
    bus, mind = Bus(), GatedMind()
    backend = Backend(store, Agent(store, mind, bus, runtime), bus, LocalIdentity("local"))
    transport = httpx.ASGITransport(make_app(backend))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        yield Desk(http, backend, mind)
    await backend.runs.close()
    await store.close()


async def test_a_turn_streams_its_words_and_its_events(desk: Desk) -> None:
    desk.mind.script = [reply("你好，我在。")]
    stream = await desk.chat(message="你好")
    assert stream.text == "你好，我在。"
    assert stream.durable == [(1, "user_text"), (2, "schedule_updated"), (3, "assistant_text"), (4, "finish")]
    assert stream.answer.headers["content-type"].startswith("text/event-stream")
    assert stream.answer.text.endswith("data: [DONE]\n\n")
    assert all(data["object"] == "chat.completion.chunk" and data["model"] == "function" for _, data in stream.frames)


async def test_a_card_waits_and_its_answer_goes_on(desk: Desk) -> None:
    desk.mind.script = [plan("设偏好", packs=("preference",)), PREFER, done(), reply("好了")]
    asked = await desk.chat(message="晚上轻松点")
    assert asked.durable[-1][1] == "confirm_request"
    rest = await desk.resume(asked, "approve")
    assert rest.durable[0] == (asked.durable[-1][0] + 1, "confirm_result")
    assert rest.durable[-1][1] == "finish"
    again = await desk.resume(asked, "approve")
    assert again.durable == rest.durable
    await desk.resume(asked, "reject", status=409)


async def test_a_question_is_answered_by_a_message(desk: Desk) -> None:
    desk.mind.script = [ask("上午还是晚上？", "上午", "晚上"), reply("记下了")]
    asked = await desk.chat(message="安排")
    assert asked.card["options"] == ["上午", "晚上"]
    answered = await desk.chat(conversation_id=asked.conversation, message="上午")
    assert answered.text == "记下了"


async def test_attaching_at_every_seq_gives_exactly_the_rest(desk: Desk) -> None:
    desk.mind.script = [plan("设偏好", packs=("preference",)), PREFER]
    stream = await desk.chat(message="晚上轻松点")
    for after in range(len(stream.durable) + 1):
        assert (await desk.attach(stream.conversation, after)).durable == stream.durable[after:]
    beyond = await desk.attach(stream.conversation, len(stream.durable) + 1)
    assert beyond.answer.status_code == 400


async def test_a_run_lives_on_when_its_reader_leaves_and_another_attaches(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "HEARTBEAT", 0.01)
    desk.mind.script = [reply("说完了")]
    desk.mind.gate.clear()
    leaving = asyncio.create_task(desk.chat(message="你好"))
    await until(lambda: desk.backend.runs._tasks)
    conversation = next(iter(desk.backend.runs._tasks))
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    attached = asyncio.create_task(desk.attach(conversation, 0))
    await until(lambda: any(desk.backend.bus._readers.values()))
    await asyncio.sleep(0.03)
    desk.mind.gate.set()
    stream = await attached
    assert stream.durable[-1][1] == "finish"
    assert ": ping" in stream.answer.text


async def test_a_second_turn_is_refused_while_a_run_works_and_cancel_ends_it(desk: Desk) -> None:
    desk.mind.gate.clear()
    first = asyncio.create_task(desk.chat(message="你好"))
    await until(lambda: desk.backend.runs._tasks)
    conversation = next(iter(desk.backend.runs._tasks))
    refused = await desk.chat(409, conversation_id=conversation, message="还有")
    assert refused.answer.json()["data"]["error_code"] == "run_in_progress"
    cancelled = await desk.http.post(f"{API}/cancel", json={"conversation_id": conversation})
    assert cancelled.json()["data"]["outcome"]["kind"] == "cancelled"
    desk.mind.script = [reply("太晚了")]
    desk.mind.gate.set()
    assert "太晚了" not in [data["extra"].get("content") for seq, data in (await first).frames if seq]


async def test_conversations_are_listed_renamed_and_deleted(desk: Desk) -> None:
    desk.mind.script = [reply("在"), reply("在")]
    stream = await desk.chat(message="第一句话")
    timeline = await desk.http.get(f"{API}/conversation-timeline", params={"conversation_id": stream.conversation})
    assert [(row["seq"], row["kind"]) for row in timeline.json()["data"]] == stream.durable
    url = f"{API}/conversations/{stream.conversation}"
    assert (await desk.http.patch(url, json={"title": "新名字"})).status_code == 200
    listed = (await desk.http.get(f"{API}/conversations")).json()["data"]
    assert [(row["conversation_id"], row["title"]) for row in listed] == [(stream.conversation, "新名字")]
    assert (await desk.http.delete(url)).status_code == 200
    assert (await desk.http.get(f"{API}/conversations")).json()["data"] == []
    for gone in (desk.http.delete(url), desk.http.patch(url, json={"title": "x"})):
        assert (await gone).status_code == 404
    await desk.chat(404, conversation_id=stream.conversation, message="还在吗")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[1]",
        b"{",
        b"\xff\xfe",
        b'{"message": "' + b"x" * 8001 + b'"}',
        b'{"message": "x", "unknown": 1}',
        b'{"message": "x", "conversation_id": ""}',
        b'{"conversation_id": "c", "extra": {"resume": {"interaction_id": "a", "action": "do it"}}}',
    ],
)
async def test_malformed_bodies_are_told(desk: Desk, body: bytes) -> None:
    answer = await desk.http.post(f"{API}/chat", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["status"] == "40005"


async def test_what_is_no_call_of_ours_is_refused_in_the_same_envelope(desk: Desk) -> None:
    big = await desk.http.post(f"{API}/chat", content=b" " * 1_048_577, headers={"content-type": "application/json"})
    assert big.status_code == 413
    plain = await desk.http.post(f"{API}/chat", content=b'{"message": "hi"}', headers={"content-type": "text/plain"})
    assert plain.status_code == 400
    assert (await desk.http.get(f"{API}/nothing")).json()["data"]["error_code"] == "not_found"
    assert (await desk.http.get(f"{API}/chat")).json()["data"]["error_code"] == "method_not_allowed"
    evil = await desk.http.get(f"{API}/conversations", headers={"host": "evil.example"})
    assert (evil.status_code, evil.json()["data"]["error_code"]) == (400, "bad_host")
    resume = {"extra": {"resume": {"interaction_id": "a", "action": "approve"}}}
    assert (await desk.http.post(f"{API}/chat", json=resume)).json()["status"] == "40004"
    assert (await desk.http.get(f"{API}/events", params={"conversation_id": "no"})).status_code == 404


async def test_health_and_readiness(desk: Desk) -> None:
    assert (await desk.http.get("/healthz")).json()["data"] == {"alive": True}
    assert (await desk.http.get("/readyz")).json()["data"]["model"] == "function"
