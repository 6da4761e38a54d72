"""How OpenAI-compatible endpoints differ, as data: a new provider is a new entry, never a new branch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from newagent.errors import InputError

Extras = Mapping[str, Any]


@dataclass(frozen=True)
class Dialect:
    """One kind of endpoint.

    `thinking_on` and `thinking_off` are merged into the request body. `temperature` is None where the endpoint
    refuses one, `max_tokens` where its own default is good. `response_format` is the strongest form of constrained
    output that the endpoint has. `base_url` is used when the settings give none. `alternate_roles` is for servers that
    run a model's own chat template, some of which refuse two messages of one role in a row. `needs_key` is false for
    servers on one's own machine.
    """

    base_url: str
    thinking_on: Extras = field(default_factory=dict[str, Any])
    thinking_off: Extras = field(default_factory=dict[str, Any])
    temperature: float | None = None
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    max_tokens: int | None = None
    stream_usage: bool = True
    response_format: Literal["json_schema", "json_object", "none"] = "json_object"
    alternate_roles: bool = False
    needs_key: bool = True


_TYPE_ON: Extras = {"thinking": {"type": "enabled"}}
_TYPE_OFF: Extras = {"thinking": {"type": "disabled"}}
_TEMPLATE_ON: Extras = {"chat_template_kwargs": {"enable_thinking": True}}
_TEMPLATE_OFF: Extras = {"chat_template_kwargs": {"enable_thinking": False}}

# A local server with no limit of its own generates until its context is full: those get one.
DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect(
        "https://api.openai.com/v1",
        max_tokens_field="max_completion_tokens",
        response_format="json_schema",
    ),
    "deepseek": Dialect(
        "https://api.deepseek.com", thinking_on=_TYPE_ON, thinking_off=_TYPE_OFF, temperature=0.3, max_tokens=8192
    ),
    "qwen": Dialect(
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        thinking_on={"enable_thinking": True},
        thinking_off={"enable_thinking": False},
        temperature=0.3,
    ),
    "ark": Dialect(
        "https://ark.cn-beijing.volces.com/api/v3", thinking_on=_TYPE_ON, thinking_off=_TYPE_OFF, temperature=0.3
    ),
    # GLM tells the usage in the last chunk without being asked.
    "glm": Dialect(
        "https://open.bigmodel.cn/api/paas/v4",
        thinking_on=_TYPE_ON,
        thinking_off=_TYPE_OFF,
        temperature=0.3,
        stream_usage=False,
    ),
    # Ollama refuses a request to think where the model cannot, so thinking is only ever switched off.
    "ollama": Dialect(
        "http://localhost:11434/v1",
        thinking_off={"reasoning_effort": "none"},
        temperature=0.2,
        max_tokens=4096,
        response_format="json_schema",
        alternate_roles=True,
        needs_key=False,
    ),
    "llama.cpp": Dialect(
        "http://localhost:8080/v1",
        thinking_on=_TEMPLATE_ON,
        thinking_off=_TEMPLATE_OFF,
        temperature=0.2,
        max_tokens=4096,
        response_format="json_schema",
        alternate_roles=True,
        needs_key=False,
    ),
    "vllm": Dialect(
        "http://localhost:8000/v1",
        thinking_on=_TEMPLATE_ON,
        thinking_off=_TEMPLATE_OFF,
        temperature=0.2,
        max_tokens=4096,
        response_format="json_schema",
        alternate_roles=True,
        needs_key=False,
    ),
}

OFFLINE = Dialect("http://offline.invalid/v1", needs_key=False)
"""The built-in rule model; not for the settings, which choose it by naming nothing."""


def dialect_named(name: str) -> Dialect:
    """The dialect of that name. Raises `InputError("invalid_settings")` with the names there are."""
    dialect = DIALECTS.get(name)
    if dialect is None:
        raise InputError("invalid_settings", f"NEWAGENT_LLM_DIALECT: {name!r} is not one of {', '.join(DIALECTS)}")
    return dialect
