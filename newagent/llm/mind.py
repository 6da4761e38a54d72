"""The loop's view of a language model: a prompt goes in, text streams out, and one thought ends it.

`ModelMind` (a codec over a chat client) is the real one; a test can use any object with `think`, such as one built
from a plain function.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from newagent.llm.decision import Decision, DecisionFault

Role = Literal["worker", "strategist"]


@dataclass(frozen=True)
class ToolSchema:
    """A tool as the model is told of it: `parameters` is a JSON schema; `write` tells a tool that changes things."""

    name: str
    description: str
    parameters: dict[str, Any]
    write: bool = False


@dataclass(frozen=True)
class Words:
    """One turn of the conversation: words of the user or of the assistant."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True)
class WorkItem:
    """An earlier call of this run and its result, in full or shortened to a line."""

    call_id: str
    name: str
    arguments: dict[str, Any]
    result: str


@dataclass(frozen=True)
class Prompt:
    """All that a model is shown in one round, in four parts.

    `system` and `conversation` stay byte for byte the same while phase, tools and user turn do; `work` and `brief`
    follow them. `controls` names the control calls that this phase allows.
    """

    system: str
    conversation: tuple[Words, ...]
    work: tuple[WorkItem, ...]
    brief: str
    tools: tuple[ToolSchema, ...]
    controls: tuple[str, ...]
    thinking: bool = False
    role: Role = "worker"


@dataclass(frozen=True)
class Delta:
    """A piece of what the model is saying. `restart` voids all pieces of this round that came before."""

    kind: Literal["reasoning", "text", "restart"]
    text: str = ""


@dataclass(frozen=True)
class Usage:
    """Tokens of one model call, 0 where the endpoint does not tell."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True)
class Thought:
    """A finished model answer: the decision or the fault, and everything the journal keeps of it."""

    result: Decision | DecisionFault
    text: str = ""
    reasoning: str = ""
    usage: Usage = Usage()
    model: str = ""
    latency_ms: int = 0
    raw: dict[str, Any] = field(default_factory=dict[str, Any])


class Mind(Protocol):
    """Something that can think a round.

    `think` yields deltas and ends with exactly one `Thought`. It raises `ModelError` when the endpoint cannot be
    used (codes: model_unavailable, model_timeout, model_rate_limited, model_refused). `is_rule_model` is true for
    the built-in offline model, which is never passed off as a language model.
    """

    @property
    def name(self) -> str:
        """The model's name, for people."""
        ...

    @property
    def is_rule_model(self) -> bool:
        """Whether this is the built-in rule model."""
        ...

    def think(self, prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        """Thinks one round."""
        ...
