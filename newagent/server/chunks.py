"""Events as the stream carries them: chunks of the chat completions protocol with our `extra` beside them."""

from __future__ import annotations

import json
from typing import Any

from newagent.stream.events import Ephemeral, Event

TEXT_PART = {"reasoning_text": "reasoning_content", "assistant_text_delta": "content"}
DISPLAY = {"confirm_request": "card", "interrupt": "card", "plan": "card"}


def chunk(conversation_id: str, model: str, event: Event | Ephemeral) -> dict[str, Any]:
    """One event as a chunk. Only real reasoning is `reasoning_content`; whole texts repeat nothing as a delta."""
    choices: list[dict[str, Any]] = []
    extra: dict[str, Any]
    if isinstance(event, Ephemeral):
        extra = {"kind": event.kind, "block_id": event.block_id, "offset": event.offset, **event.payload}
        extra["kind"] = "assistant_text" if event.kind == "assistant_text_delta" else event.kind
        part = TEXT_PART.get(event.kind)
        if part is not None and event.text:
            choices = [{"index": 0, "delta": {part: event.text}, "finish_reason": None}]
        created = 0
    else:
        extra = {
            "kind": event.kind,
            "seq": event.seq,
            "role": event.role,
            "content": event.content,
            "display_mode": DISPLAY.get(event.kind, "append"),
            **event.payload,
        }
        created = int(event.created_at.timestamp())
        if event.kind == "finish":
            choices = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    return {
        "id": f"chatcmpl-{conversation_id}",
        "object": "chat.completion.chunk",
        "created": created,
        "model": model,
        "choices": choices,
        "extra": extra,
    }


def frame(data: Any, seq: int | None = None) -> bytes:
    """One SSE frame: JSON on one line, with an id where the event is durable."""
    head = f"id: {seq}\n" if seq is not None else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def timeline_entry(conversation_id: str, event: Event) -> dict[str, Any]:
    """A durable event as the timeline lists it."""
    return {
        "id": f"{conversation_id}:{event.seq}",
        "seq": event.seq,
        "kind": event.kind,
        "role": event.role,
        "content": event.content,
        "payload": event.payload,
        "tokens_consumed": event.tokens_consumed,
        "created_at": event.created_at.isoformat(),
    }
