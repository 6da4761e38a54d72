"""The chat client against a scripted endpoint over real sockets: time-outs, retries, cancellation, odd answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from openai import AsyncOpenAI

from newagent.errors import ModelError
from newagent.llm.assemble import MOST_CHARACTERS, Answer, RawCall
from newagent.llm.client import ATTEMPTS, MORE_ROOM, ChatClient, ChatRequest
from newagent.llm.dialects import DIALECTS, Dialect
from newagent.llm.mind import Delta, Usage
from newagent.settings import Budgets
from tests.llm.endpoint import Endpoint, Exchange, called, cut, delta, document, end, refuse, stream, text

KEY = "a very secret key of no known form".replace(" ", "")
PLAIN = Dialect("http://unused.invalid")
ASKED = ChatRequest("m", [{"role": "user", "content": "hi"}])
FINE = stream(*text("fine", finish="stop"))


class Bench:
    """A client on an endpoint; the waits between attempts are written down instead of waited for."""

    def __init__(self, endpoint: Endpoint, dialect: Dialect = PLAIN, gap: float = 5, total: float = 10) -> None:
        self.waits: list[float] = []
        budgets = Budgets(_env_file=None, token_gap_seconds=gap, call_seconds=total)  # type: ignore[call-arg]
        self.client = ChatClient(
            AsyncOpenAI(api_key=KEY, base_url=endpoint.url, max_retries=0), dialect, budgets, self._wait
        )

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def ask(self, request: ChatRequest = ASKED) -> tuple[list[Delta], Answer]:
        pieces: list[Delta] = []
        answer: Answer | None = None
        async with aclosing(self.client.stream(request)) as stream_:
            async for piece in stream_:
                assert answer is None, "the answer is the last piece"
                if isinstance(piece, Answer):
                    answer = piece
                else:
                    pieces.append(piece)
        assert answer is not None
        return pieces, answer


@asynccontextmanager
async def bench(*script: Any, **settings: Any) -> AsyncIterator[tuple[Bench, Endpoint]]:
    async with Endpoint(*script) as endpoint:
        made = Bench(endpoint, **settings)
        try:
            yield made, endpoint
        finally:
            await made.client.aclose()


def said(pieces: list[Delta]) -> str:
    """The text that remains visible: what came after the last restart."""
    kept: list[str] = []
    for piece in pieces:
        if piece.kind == "restart":
            kept.clear()
        elif piece.kind == "text":
            kept.append(piece.text)
    return "".join(kept)


async def test_text_comes_piece_by_piece_with_usage_at_the_end() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 5}}
    async with bench(stream(*text("你", "好", finish="stop"), {"choices": [], "usage": usage})) as (made, endpoint):
        pieces, answer = await made.ask()
    assert pieces == [Delta("text", "你"), Delta("text", "好")]
    assert answer == Answer("你好", finish_reason="stop", usage=Usage(7, 2, 5), model="m-1")
    assert endpoint.bodies[0]["stream"] is True
    assert endpoint.keys == [KEY]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_has_two_names(name: str) -> None:
    async with bench(stream(delta(**{name: "hm"}), *text("yes", finish="stop"))) as (made, _):
        pieces, answer = await made.ask()
    assert pieces[0] == Delta("reasoning", "hm")
    assert (answer.reasoning, answer.text) == ("hm", "yes")


ODD_STREAMS = [
    ("no usage, no finish reason, no end mark", stream(*text("a", "b"), done=False), "ab"),
    ("empty and foreign chunks", stream({}, {"choices": []}, delta(), {"choices": None}, *text("a")), "a"),
    ("another choice", stream({"choices": [{"index": 1, "delta": {"content": "z"}}]}, *text("a")), "a"),
    ("content parts", stream(delta(content=[{"type": "text", "text": "a"}, 3]), *text("b")), "ab"),
    ("wrong types", stream({"choices": [{"delta": {"content": 5, "tool_calls": "x"}}], "usage": 3}, *text("a")), "a"),
    ("whole message", document({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}), "a"),
]


@pytest.mark.parametrize(
    ("step", "expected"), [case[1:] for case in ODD_STREAMS], ids=[case[0] for case in ODD_STREAMS]
)
async def test_odd_streams_are_read(step: Any, expected: str) -> None:
    async with bench(step) as (made, _):
        pieces, answer = await made.ask()
    assert (answer.text, said(pieces), answer.usage) == (expected, expected, Usage())


CALLS = [
    (
        "split inside a key",
        [
            called("move", '{"task', index=0, id="a"),
            called(None, '_id": 3, "d', index=0),
            called(None, 'ay": 1}', index=0),
        ],
        [("move", '{"task_id": 3, "day": 1}')],
    ),
    (
        "two calls, their pieces mixed",
        [
            called("one", "", index=0, id="a"),
            called("two", '{"b"', index=1, id="b"),
            called(None, "{}", index=0),
            called(None, ":2}", index=1),
        ],
        [("one", "{}"), ("two", '{"b":2}')],
    ),
    (
        "the second one first",
        [called("two", "{}", index=1, id="b"), called("one", "{}", index=0, id="a")],
        [("one", "{}"), ("two", "{}")],
    ),
    ("no index", [called("one", '{"a"', id="a"), called(None, ":1}")], [("one", '{"a":1}')]),
    ("no index, two ids", [called("one", "{}", id="a"), called("two", "{}", id="b")], [("one", "{}"), ("two", "{}")]),
    (
        "no index, pieces by id",
        [called("one", "{", id="a"), called("two", "{", id="b"), called(None, "}", id="a"), called(None, "}", id="b")],
        [("one", "{}"), ("two", "{}")],
    ),
    (
        "two calls that both claim the first place",
        [called("one", "{}", index=0, id="a"), called("two", "{}", index=0, id="b")],
        [("one", "{}"), ("two", "{}")],
    ),
    (
        "the name in every piece",
        [called("move", '{"a":', index=0, id="a"), called("move", "1}", index=0, id="a")],
        [("move", '{"a":1}')],
    ),
    ("the name in pieces", [called("mo", "", index=0, id="a"), called("ve", "{}", index=0)], [("move", "{}")]),
]


@pytest.mark.parametrize(("chunks", "expected"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
async def test_calls_are_put_together(chunks: list[Any], expected: list[tuple[str, str]]) -> None:
    async with bench(stream(*chunks, end("tool_calls"))) as (made, _):
        _, answer = await made.ask()
    assert answer.calls == tuple(RawCall(*call) for call in expected)


async def test_arguments_that_are_an_object_become_text() -> None:
    chunk = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "one", "arguments": {"a": "课"}}}])
    async with bench(stream(chunk)) as (made, _):
        _, answer = await made.ask()
    assert json.loads(answer.calls[0].arguments) == {"a": "课"}


async def test_the_first_token_is_waited_for_only_so_long_and_the_connection_is_closed() -> None:
    async with Endpoint() as endpoint:
        endpoint.script = [endpoint.stall(head=False)]
        made = Bench(endpoint, gap=0.3)
        with pytest.raises(ModelError) as raised:
            await made.ask()
        await endpoint.hang_up()
        await made.client.aclose()
    assert raised.value.code == "model_timeout"
    assert (made.waits, len(endpoint.bodies)) == ([], 1)


async def test_silence_in_the_middle_is_a_timeout_too() -> None:
    async with Endpoint() as endpoint:
        endpoint.script = [endpoint.stall(*text("half"))]
        made = Bench(endpoint, gap=0.3)
        with pytest.raises(ModelError) as raised:
            await made.ask()
        await endpoint.hang_up()
        await made.client.aclose()
    assert raised.value.code == "model_timeout"


async def test_signs_of_life_are_no_tokens() -> None:
    async def ping(exchange: Exchange) -> None:
        await exchange.head()
        while not exchange.reader.at_eof():
            await exchange.send(": ping\n\n")
            await exchange.event(delta())
            await asyncio.sleep(0.01)

    async with bench(ping, gap=0.3, total=1000) as (made, _):
        with pytest.raises(ModelError) as raised:
            async with asyncio.timeout(5):
                await made.ask()
    assert raised.value.code == "model_timeout"


async def test_the_whole_call_has_its_time_too() -> None:
    async def drip(exchange: Exchange) -> None:
        await exchange.head()
        while not exchange.reader.at_eof():
            await exchange.event(delta(content="."))
            await asyncio.sleep(0.01)

    async with bench(drip, total=0.3) as (made, _):
        with pytest.raises(ModelError) as raised:
            async with asyncio.timeout(5):
                await made.ask()
    assert raised.value.code == "model_timeout"


async def test_cancellation_closes_the_connection() -> None:
    async with Endpoint() as endpoint:
        endpoint.script = [endpoint.stall(*text("half"))]
        made = Bench(endpoint)
        heard = asyncio.Event()

        async def listen() -> None:
            async with aclosing(made.client.stream(ASKED)) as pieces:
                async for _ in pieces:
                    heard.set()

        task = asyncio.create_task(listen())
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await endpoint.hang_up()
        await made.client.aclose()


async def test_a_listener_that_goes_away_closes_the_connection() -> None:
    async with Endpoint() as endpoint:
        endpoint.script = [endpoint.stall(*text("half"))]
        made = Bench(endpoint)
        async with aclosing(made.client.stream(ASKED)) as pieces:
            assert await anext(pieces) == Delta("text", "half")
        await endpoint.hang_up()
        await made.client.aclose()


RETRIED = [
    ("429 with the time to wait", refuse(429, retry_after="3"), [3.0]),
    ("429 in milliseconds", refuse(429, retry_after_ms="250"), [0.25]),
    ("429 with a date", refuse(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), [0.5]),
    ("429 with nonsense", refuse(429, retry_after="nan"), [0.5]),
    ("500", refuse(500), [0.5]),
    ("503", refuse(503), [0.5]),
    ("408", refuse(408), [0.5]),
    ("cut before anything", cut(), [0.5]),
    ("an error in the stream", stream({"error": {"message": "overloaded"}}), [0.5]),
    ("no JSON in the stream", stream("{oops"), [0.5]),
]


@pytest.mark.parametrize(("step", "waits"), [case[1:] for case in RETRIED], ids=[case[0] for case in RETRIED])
async def test_passing_failures_are_tried_again(step: Any, waits: list[float]) -> None:
    async with bench(step, FINE) as (made, _):
        pieces, answer = await made.ask()
    assert (answer.text, made.waits) == ("fine", waits)
    assert Delta("restart") not in pieces, "nothing had been shown"


async def test_what_was_shown_before_a_break_is_taken_back() -> None:
    async with bench(cut(*text("half a sen")), FINE) as (made, _):
        pieces, answer = await made.ask()
    assert [piece.kind for piece in pieces] == ["text", "restart", "text"]
    assert said(pieces) == answer.text == "fine"


async def test_attempts_are_counted_and_waits_grow() -> None:
    async with bench(*[refuse(500)] * 5) as (made, endpoint):
        with pytest.raises(ModelError) as raised:
            await made.ask()
    assert (raised.value.code, raised.value.data) == ("model_unavailable", {"status": 500})
    assert (len(endpoint.bodies), made.waits) == (ATTEMPTS, [0.5, 1.0])


async def test_a_limit_that_stays_is_told_with_the_time_to_wait() -> None:
    async with bench(*[refuse(429, retry_after="1")] * 3) as (made, _):
        with pytest.raises(ModelError) as raised:
            await made.ask()
    assert (raised.value.code, raised.value.data) == ("model_rate_limited", {"retry_after": 1.0})


async def test_a_wait_beyond_the_call_s_time_is_not_waited_for() -> None:
    async with bench(refuse(429, retry_after="60")) as (made, endpoint):
        with pytest.raises(ModelError) as raised:
            await made.ask()
    assert (raised.value.code, made.waits, len(endpoint.bodies)) == ("model_rate_limited", [], 1)


FINAL = [
    ("401", refuse(401, {"message": f"not known: {KEY}"}), "model_unavailable"),
    ("404", refuse(404, {"message": "no such model"}), "model_unavailable"),
    ("no credit", refuse(429, {"message": "pay", "code": "insufficient_quota"}), "model_rate_limited"),
    ("filtered request", refuse(400, {"message": "x", "code": "data_inspection_failed"}), "model_refused"),
    ("bad request", refuse(400, {"message": "x"}), "model_unavailable"),
    ("filtered answer", stream(*text("a", finish="content_filter")), "model_refused"),
    ("refusal", stream(delta(refusal="I will not"), end("stop")), "model_refused"),
]


@pytest.mark.parametrize(("step", "code"), [case[1:] for case in FINAL], ids=[case[0] for case in FINAL])
async def test_lasting_failures_are_told_at_once(step: Any, code: str) -> None:
    async with bench(step) as (made, endpoint):
        with pytest.raises(ModelError) as raised:
            await made.ask()
    assert raised.value.code == code
    assert (len(endpoint.bodies), made.waits) == (1, [])
    assert KEY not in raised.value.message


async def test_an_endpoint_that_is_not_there() -> None:
    async with Endpoint() as endpoint:
        made = Bench(endpoint)
    with pytest.raises(ModelError) as raised:
        await made.ask()
    await made.client.aclose()
    assert (raised.value.code, len(made.waits)) == ("model_unavailable", ATTEMPTS - 1)


async def test_an_answer_that_was_cut_off_is_asked_for_once_more_with_more_room() -> None:
    async with bench(stream(*text("long", finish="length")), FINE) as (made, endpoint):
        pieces, answer = await made.ask()
    assert (answer.text, said(pieces)) == ("fine", "fine")
    assert [body.get("max_tokens") for body in endpoint.bodies] == [None, MORE_ROOM]


async def test_an_answer_that_is_cut_off_again_is_given_as_it_is() -> None:
    short = stream(*text("long", finish="length"))
    async with bench(short, short) as (made, _):
        _, answer = await made.ask(ChatRequest("m", ASKED.messages, max_tokens=20_000))
    assert (answer.finish_reason, answer.text) == ("length", "long")


async def test_an_endless_answer_is_stopped() -> None:
    piece = "x" * 50_000

    async def endless(exchange: Exchange) -> None:
        await exchange.head()
        while not exchange.reader.at_eof():
            await exchange.event(delta(content=piece))

    async with bench(endless) as (made, _):
        _, answer = await made.ask()
    assert answer.finish_reason == "endless"
    assert len(answer.text) <= MOST_CHARACTERS + len(piece)


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("thinking", [True, False])
async def test_the_body_speaks_the_dialect(name: str, thinking: bool) -> None:
    dialect = DIALECTS[name]
    tools = ({"type": "function", "function": {"name": "t", "parameters": {}}},)
    request = ChatRequest("m", ASKED.messages, tools, {"type": "json_object"}, thinking)
    async with bench(FINE, dialect=dialect) as (made, endpoint):
        await made.ask(request)
    body = endpoint.bodies[0]
    assert body.get("stream_options") == ({"include_usage": True} if dialect.stream_usage else None)
    assert (body["tools"], body["response_format"]) == (list(tools), {"type": "json_object"})
    assert body.get("temperature") == dialect.temperature
    assert body.get(dialect.max_tokens_field) == dialect.max_tokens
    for extras, wanted in ((dialect.thinking_on, thinking), (dialect.thinking_off, not thinking)):
        for key, value in extras.items():
            assert (body.get(key) == value) is wanted or dialect.thinking_on == dialect.thinking_off


async def test_without_tools_none_are_sent() -> None:
    async with bench(FINE, dialect=Dialect("http://x", stream_usage=False)) as (made, endpoint):
        await made.ask()
    assert set(endpoint.bodies[0]) == {"model", "messages", "stream"}
