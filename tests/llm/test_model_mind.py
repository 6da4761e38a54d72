"""The mind over an endpoint, and which one the settings choose."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic import SecretStr

from newagent.errors import InputError, ModelError
from newagent.llm.client import ChatClient
from newagent.llm.codec_json import JsonCodec
from newagent.llm.codec_tools import ToolsCodec
from newagent.llm.decision import Decision, DecisionFault
from newagent.llm.dialects import DIALECTS, Dialect, dialect_named
from newagent.llm.mind import Delta, Prompt, Thought, ToolSchema, Words
from newagent.llm.model_mind import ModelMind, make_mind
from newagent.settings import Budgets, Settings
from tests.llm.endpoint import Endpoint, called, cut, delta, end, refuse, stream, text

PROMPT = Prompt(
    system="rules",
    conversation=(Words("user", "hi"),),
    work=(),
    brief="FACTS {}",
    tools=(ToolSchema("look", "looks", {"type": "object", "properties": {}}),),
    controls=("reply", "continue", "ask_user"),
)


def mind_on(endpoint: Endpoint, codec: Any = None, strategist: str | None = None) -> ModelMind:
    client = ChatClient(
        AsyncOpenAI(api_key="k", base_url=endpoint.url, max_retries=0),
        Dialect("http://x"),
        Budgets(_env_file=None),  # type: ignore[call-arg]
        lambda _: asyncio.sleep(0),
    )
    return ModelMind(client, codec or ToolsCodec(), "worker-1", strategist)


async def think(mind: ModelMind, prompt: Prompt = PROMPT) -> tuple[list[Delta], Thought]:
    pieces: list[Delta] = []
    thought: Thought | None = None
    async with aclosing(mind.think(prompt)) as thinking:
        async for piece in thinking:
            if isinstance(piece, Thought):
                thought = piece
            else:
                pieces.append(piece)
    await mind.aclose()
    assert thought is not None
    return pieces, thought


async def test_a_thought_holds_the_decision_and_all_that_the_journal_keeps() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4}
    answer = stream(
        delta(reasoning_content="hm"),
        *text("I look."),
        called("look", "{}", index=0, id="a"),
        called("fly", "{}", index=1, id="b"),
        end("tool_calls"),
        {"choices": [], "usage": usage},
    )
    async with Endpoint(answer) as endpoint:
        pieces, thought = await think(mind_on(endpoint))
    assert pieces == [Delta("reasoning", "hm"), Delta("text", "I look.")]
    assert isinstance(thought.result, Decision)
    assert (thought.result.action, thought.text, thought.reasoning) == ("continue", "I look.", "hm")
    assert (thought.usage.prompt_tokens, thought.model) == (9, "m-1")
    assert thought.latency_ms >= 0
    assert thought.raw == {
        "finish_reason": "tool_calls",
        "calls": [{"name": "look", "arguments": "{}"}, {"name": "fly", "arguments": "{}"}],
        "other_calls": [{"name": "fly"}],
    }


async def test_a_repeated_attempt_shows_as_a_restart() -> None:
    async with Endpoint(cut(*text("half")), stream(*text("whole", finish="stop"))) as endpoint:
        pieces, thought = await think(mind_on(endpoint))
    assert [piece.kind for piece in pieces] == ["text", "restart", "text"]
    assert thought.text == "whole"


async def test_the_json_codec_streams_what_is_said() -> None:
    parts = ['{"speak": "he', 'llo", "action"', ': "reply"}']
    async with Endpoint(stream(*text(*parts, finish="stop"))) as endpoint:
        pieces, thought = await think(mind_on(endpoint, JsonCodec()))
    assert "".join(piece.text for piece in pieces) == "hello"
    assert thought.result == Decision(action="reply", speak="hello")


async def test_an_answer_cut_off_twice_is_a_fault_not_an_error() -> None:
    short = stream(*text("half", finish="length"))
    async with Endpoint(short, short) as endpoint:
        _, thought = await think(mind_on(endpoint))
    assert isinstance(thought.result, DecisionFault)


async def test_a_think_block_in_the_text_is_reasoning() -> None:
    async with Endpoint(stream(*text("<think>hm</think>yes", finish="stop"))) as endpoint:
        pieces, thought = await think(mind_on(endpoint))
    assert pieces == [Delta("reasoning", "hm"), Delta("text", "yes")]
    assert (thought.text, thought.reasoning) == ("yes", "hm")


async def test_an_endpoint_that_fails_is_an_error() -> None:
    async with Endpoint(refuse(401)) as endpoint:
        with pytest.raises(ModelError):
            await think(mind_on(endpoint))


@pytest.mark.parametrize(
    ("role", "strategist", "model"),
    [("worker", "big", "worker-1"), ("strategist", "big", "big"), ("strategist", None, "worker-1")],
)
async def test_the_strategist_plans_where_there_is_one(role: Any, strategist: str | None, model: str) -> None:
    async with Endpoint(stream(*text("hi", finish="stop"))) as endpoint:
        await think(mind_on(endpoint, strategist=strategist), replace(PROMPT, role=role))
    assert endpoint.bodies[0]["model"] == model


def settings(**fields: Any) -> Settings:
    return Settings(_env_file=None, **fields)  # type: ignore[call-arg]


async def test_without_an_endpoint_the_rule_model_answers_and_says_what_it_is() -> None:
    mind = make_mind(settings(llm_codec="json"))
    assert (mind.name, mind.is_rule_model) == ("newagent-rules", True)
    pieces, thought = await think(mind)
    assert "not a language model" in thought.text or "不是语言模型" in thought.text
    assert "".join(piece.text for piece in pieces if piece.kind == "text") == thought.text
    assert thought.usage.prompt_tokens > 0


async def test_an_endpoint_in_the_settings_is_used() -> None:
    async with Endpoint(stream(*text("hi", finish="stop"))) as endpoint:
        mind = make_mind(settings(llm_base_url=endpoint.url, llm_model="m", llm_api_key=SecretStr("secret")))
        assert (mind.name, mind.is_rule_model) == ("m", False)
        await think(mind)
    assert endpoint.keys == ["secret"]


async def test_an_endpoint_on_this_machine_needs_no_key_and_the_json_codec_can_be_chosen() -> None:
    async with Endpoint(stream(*text('{"speak": "hi", "action": "reply"}', finish="stop"))) as endpoint:
        chosen = settings(llm_base_url=endpoint.url, llm_model="m", llm_codec="json", llm_dialect="ollama")
        _, thought = await think(make_mind(chosen))
    assert endpoint.bodies[0]["response_format"]["type"] == "json_schema"
    assert thought.result == Decision(action="reply", speak="hi")


async def test_a_local_dialect_brings_its_address() -> None:
    mind = make_mind(settings(llm_model="qwen3", llm_dialect="ollama"))
    assert not mind.is_rule_model
    await mind.aclose()


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"llm_api_key": SecretStr("k")}, "NEWAGENT_LLM_MODEL"),
        ({"llm_base_url": "http://x"}, "NEWAGENT_LLM_MODEL"),
        ({"llm_model": "m"}, "NEWAGENT_LLM_API_KEY"),
        ({"llm_model": "m", "llm_dialect": "klingon"}, "NEWAGENT_LLM_DIALECT"),
    ],
)
def test_half_an_endpoint_is_told(fields: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError) as raised:
        make_mind(settings(**fields))
    assert (raised.value.code, part in raised.value.message) == ("invalid_settings", True)


def test_every_dialect_has_a_name_and_an_address() -> None:
    for name, dialect in DIALECTS.items():
        assert dialect_named(name) is dialect
        assert dialect.base_url.startswith("http")


def test_the_page_on_models_names_every_dialect_with_its_address() -> None:
    page = (Path(__file__).parents[2] / "docs" / "backend" / "models.md").read_text("utf-8")
    for name, dialect in DIALECTS.items():
        assert f"| `{name}` |" in page
        assert f"`{dialect.base_url}`" in page
