"""What happens in a conversation, as its readers see it: durable events with a sequence number, and ephemeral ones."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

DurableKind = Literal[
    "user_text",
    "assistant_text",
    "reasoning",
    "plan",
    "tool_result",
    "confirm_request",
    "confirm_result",
    "interrupt",
    "schedule_updated",
    "schedule_completed",
    "preview_skipped",
    "context_compact",
    "finish",
]
EphemeralKind = Literal["reasoning_text", "assistant_text_delta", "tool_call", "status", "usage"]


@dataclass(frozen=True)
class NewEvent:
    """A durable event before its round is committed; its seq is drawn in the round's transaction."""

    kind: DurableKind
    content: str = ""
    payload: dict[str, Any] = field(default_factory=dict[str, Any])
    role: Literal["user", "assistant", "system"] = "assistant"


@dataclass(frozen=True)
class Event:
    """A stored event: `seq` counts from 1 without gaps within its conversation."""

    seq: int
    kind: DurableKind
    content: str
    payload: dict[str, Any]
    role: str
    created_at: dt.datetime
    tokens_consumed: int = 0


@dataclass(frozen=True)
class Ephemeral:
    """A passing event: a piece of text (`offset` in its block), a started call, progress."""

    kind: EphemeralKind
    block_id: str = ""
    text: str = ""
    offset: int = 0
    payload: dict[str, Any] = field(default_factory=dict[str, Any])


def block_id(round_number: int, part: Literal["reasoning", "text"]) -> str:
    """The block of what a round thinks or says: its pieces and its whole have the same."""
    return f"{round_number}-{part}"


class Publisher(Protocol):
    """Where a run's events go. Publishing never fails a run and never waits for a slow reader."""

    async def publish(self, conversation_id: str, events: list[Event | Ephemeral]) -> None:
        """Hands events to whoever reads this conversation, in order."""
        ...
