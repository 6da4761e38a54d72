"""The mind that thinks with a model: a codec over a chat client, chosen by the settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Protocol

import httpx2
from openai import AsyncOpenAI

from newagent.errors import InputError
from newagent.llm.assemble import Answer
from newagent.llm.client import ChatClient, ChatRequest
from newagent.llm.codec_json import JsonCodec
from newagent.llm.codec_tools import ToolsCodec
from newagent.llm.decision import Decision, DecisionFault
from newagent.llm.dialects import OFFLINE, Dialect, dialect_named
from newagent.llm.mind import Delta, Prompt, Thought
from newagent.llm.offline.app import MODEL, offline_app
from newagent.llm.speech import without_thinking
from newagent.settings import Settings

NO_KEY = "none"


class Listener(Protocol):
    """Turns the pieces of an answer into what may be shown of it while it arrives."""

    def feed(self, piece: Delta) -> list[Delta]:
        """What a piece adds."""
        ...


class Codec(Protocol):
    """How a decision is asked for and read."""

    def request(self, prompt: Prompt, model: str, dialect: Dialect) -> ChatRequest:
        """What to send."""
        ...

    def listener(self, prompt: Prompt) -> Listener:
        """What shows the words of an answer while it arrives."""
        ...

    def decode(self, prompt: Prompt, answer: Answer) -> tuple[Decision | DecisionFault, list[str]]:
        """The decision of an answer, and the names of further calls in it. Never raises."""
        ...


class ModelMind:
    """A `Mind` over one endpoint: `model` works, `strategist` plans where there is one."""

    def __init__(
        self,
        client: ChatClient,
        codec: Codec,
        model: str,
        strategist: str | None = None,
        *,
        is_rule_model: bool = False,
    ) -> None:
        self._client = client
        self._codec = codec
        self._model = model
        self._strategist = strategist
        self._is_rule_model = is_rule_model

    @property
    def name(self) -> str:
        """See `Mind.name`."""
        return self._model

    @property
    def is_rule_model(self) -> bool:
        """See `Mind.is_rule_model`."""
        return self._is_rule_model

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def think(self, prompt: Prompt) -> AsyncGenerator[Delta | Thought]:
        """See `Mind.think`. Closing the generator, or cancelling the task, closes the connection."""
        model = self._strategist if prompt.role == "strategist" and self._strategist else self._model
        clock = asyncio.get_running_loop().time
        started = clock()
        listener = self._codec.listener(prompt)
        async with aclosing(self._client.stream(self._codec.request(prompt, model, self._client.dialect))) as pieces:
            async for piece in pieces:
                if isinstance(piece, Answer):
                    yield self._thought(prompt, piece, model, int((clock() - started) * 1000))
                    return
                for shown in listener.feed(piece):
                    yield shown

    def _thought(self, prompt: Prompt, raw: Answer, model: str, latency_ms: int) -> Thought:
        answer = without_thinking(raw)
        result, others = self._codec.decode(prompt, answer)
        kept: dict[str, Any] = {
            "finish_reason": raw.finish_reason,
            "calls": [{"name": call.name, "arguments": call.arguments} for call in raw.calls],
            "other_calls": [{"name": name} for name in others],
        }
        return Thought(
            result=result,
            text=answer.text,
            reasoning=answer.reasoning,
            usage=answer.usage,
            model=answer.model or model,
            latency_ms=latency_ms,
            raw=kept,
        )


def make_mind(settings: Settings) -> ModelMind:
    """The mind of the settings: the built-in rule model where no endpoint, key or model is given, else the endpoint.

    Raises `InputError("invalid_settings")` for half an endpoint: a model is needed, and a key where the dialect's
    service wants one.
    """
    key = settings.llm_api_key.get_secret_value().strip() if settings.llm_api_key else ""
    if not (settings.llm_base_url or settings.llm_model or key):
        return offline_mind(settings)
    dialect = dialect_named(settings.llm_dialect)
    if not settings.llm_model:
        raise InputError("invalid_settings", "NEWAGENT_LLM_MODEL: name the model to use at this endpoint")
    if not key and not settings.llm_base_url and dialect.needs_key:
        raise InputError("invalid_settings", f"NEWAGENT_LLM_API_KEY: {dialect.base_url} needs a key")
    endpoint = AsyncOpenAI(api_key=key or NO_KEY, base_url=settings.llm_base_url or dialect.base_url, max_retries=0)
    codec = JsonCodec() if settings.llm_codec == "json" else ToolsCodec()
    client = ChatClient(endpoint, dialect, settings.budgets)
    return ModelMind(client, codec, settings.llm_model, settings.llm_strategist_model)


def offline_mind(settings: Settings) -> ModelMind:
    """The built-in rule model, spoken to by the same client through a transport inside the process."""
    transport = httpx2.ASGITransport(app=offline_app())
    endpoint = AsyncOpenAI(
        api_key=NO_KEY,
        base_url="http://offline.invalid/v1",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=transport, trust_env=False),
    )
    return ModelMind(ChatClient(endpoint, OFFLINE, settings.budgets), ToolsCodec(), MODEL, is_rule_model=True)
