"""Streaming chat over the official client: time-outs, retries and cancellation; what it said is `assemble`'s."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

import structlog
from openai import APIError, AsyncOpenAI, AsyncStream

from newagent.errors import ModelError
from newagent.llm.assemble import Answer, Assembler
from newagent.llm.dialects import Dialect
from newagent.llm.failures import BROKEN, as_model_error, may_retry, retry_after
from newagent.llm.mind import Delta
from newagent.settings import Budgets

log = structlog.get_logger(__name__)
ATTEMPTS = 3
BACKOFF = 0.5
MORE_ROOM = 16_384


@dataclass(frozen=True)
class ChatRequest:
    """What is asked of a model: messages and tools in the format of the protocol."""

    model: str
    messages: list[dict[str, Any]]
    tools: tuple[dict[str, Any], ...] = ()
    response_format: dict[str, Any] | None = None
    thinking: bool = False
    max_tokens: int | None = None


class ChatClient:
    """One endpoint. `sleep` waits between attempts; the budgets give the seconds without a token and in all."""

    def __init__(
        self,
        endpoint: AsyncOpenAI,
        dialect: Dialect,
        budgets: Budgets,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint = endpoint
        self.dialect = dialect
        self._gap = budgets.token_gap_seconds
        self._total = budgets.call_seconds
        self._sleep = sleep

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._endpoint.close()

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The request in the words of this dialect."""
        dialect = self.dialect
        body: dict[str, Any] = {"model": request.model, "messages": request.messages, "stream": True}
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = list(request.tools)
        if request.response_format is not None:
            body["response_format"] = request.response_format
        if dialect.temperature is not None:
            body["temperature"] = dialect.temperature
        room = request.max_tokens or dialect.max_tokens
        if room is not None:
            body[dialect.max_tokens_field] = room
        return {**body, **(dialect.thinking_on if request.thinking else dialect.thinking_off)}

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Delta | Answer]:
        """Deltas as they come, then one `Answer`.

        A failed attempt is repeated, at most `ATTEMPTS` in all and inside the total time; an answer cut off by its
        length is asked for once more with more room. Where text had come before, a `restart` goes ahead of the new
        attempt. Raises `ModelError` (model_unavailable, model_timeout, model_rate_limited, model_refused).
        """
        deadline = asyncio.get_running_loop().time() + self._total
        widened = False
        failures = 0
        while True:
            shown = False
            try:
                async with aclosing(self._attempt(request, deadline)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, Answer):
                            if piece.finish_reason != "length" or widened:
                                yield _unrefused(piece)
                                return
                            break
                        shown = True
                        yield piece
                widened = True
                request = replace(request, max_tokens=self._more_room(request))
            except (TimeoutError, APIError, *BROKEN) as error:
                failures += 1
                await self._wait(error, failures, deadline)
            if shown:
                yield Delta("restart")

    def _more_room(self, request: ChatRequest) -> int:
        return max(MORE_ROOM, 2 * (request.max_tokens or self.dialect.max_tokens or 0))

    async def _wait(self, error: BaseException, attempt: int, deadline: float) -> None:
        """Waits before the next attempt; raises where there is none."""
        failure = as_model_error(error, self._endpoint.api_key)
        delay = retry_after(error)
        if delay is None:
            delay = BACKOFF * 2 ** (attempt - 1)
        late = asyncio.get_running_loop().time() + delay >= deadline
        if attempt >= ATTEMPTS or late or not may_retry(error):
            raise failure from None
        log.info("model_call_repeated", code=failure.code, attempt=attempt, delay=delay)
        await self._sleep(delay)

    async def _attempt(self, request: ChatRequest, deadline: float) -> AsyncGenerator[Delta | Answer]:
        clock = asyncio.get_running_loop().time
        token_by = clock() + self._gap
        async with asyncio.timeout_at(min(token_by, deadline)):
            stream = await self._endpoint.post(
                "/chat/completions",
                cast_to=object,
                body=self.body(request),
                options={"max_retries": 0},
                stream=True,
                stream_cls=AsyncStream[object],
            )
        assembler = Assembler()
        try:
            if "json" in stream.response.headers.get("content-type", ""):
                # An endpoint that does not stream answers in one piece.
                async with asyncio.timeout_at(deadline):
                    await stream.response.aread()
                for piece in assembler.feed(stream.response.json()):
                    yield piece
            else:
                async for chunk in self._chunks(stream, assembler, token_by, deadline):
                    for piece in assembler.feed(chunk):
                        yield piece
            yield assembler.answer()
        finally:
            await stream.close()

    async def _chunks(
        self, stream: AsyncStream[object], assembler: Assembler, token_by: float, deadline: float
    ) -> AsyncGenerator[object]:
        """The chunks of a stream, as long as each brings something of the answer in time."""
        clock = asyncio.get_running_loop().time
        chunks = aiter(stream)
        while not assembler.endless:
            async with asyncio.timeout_at(min(token_by, deadline)):
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            progress = assembler.progress
            yield chunk
            if assembler.progress > progress:
                token_by = clock() + self._gap


def _unrefused(answer: Answer) -> Answer:
    if answer.finish_reason == "content_filter":
        raise ModelError("model_refused", "the model endpoint's content filter cut the answer off")
    if answer.refusal and not answer.calls:
        raise ModelError("model_refused", f"the model refused: {' '.join(answer.refusal.split())[:200]}")
    return answer
