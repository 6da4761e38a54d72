"""Events as the stream carries them: chunks of the chat completions protocol with our `extra` beside them."""

from __future__ import annotations

import json
from typing import Any

from newagent.stream.events import Ephemeral, Event

TEXT_PART = {
    "reasoning_text": "reasoning_content",
    "reasoning": "reasoning_content",
    "assistant_text_delta": "content",
    "assistant_text": "content",
}
SHOWN_KIND = {"assistant_text_delta": "assistant_text"}
DISPLAY = {"confirm_request": "card", "interrupt": "card", "plan": "card"}
STAGE = {"user_text": "planning", "plan": "planning", "confirm_request": "waiting", "interrupt": "waiting"}
ENDING = ("finish", "confirm_request", "interrupt")
PING = b": ping\n\n"
DONE = b"data: [DONE]\n\n"


class Chunks:
    """The chunks of one stream, in order. What the deltas of an answer did not say comes with its whole text."""

    def __init__(self, conversation_id: str, model: str) -> None:
        self._base = {"id": f"chatcmpl-{conversation_id}", "object": "chat.completion.chunk", "model": model}
        self._said: dict[str, str] = {}
        self._whole: set[str] = set()
        self._begun = False

    def of(self, event: Event | Ephemeral) -> dict[str, Any] | None:
        """An event as a chunk; None for a piece of what was told whole already.

        Only real reasoning is `reasoning_content`; nothing that was said is said again.
        """
        if isinstance(event, Ephemeral):
            return None if event.block_id in self._whole else self._ephemeral(event)
        extra: dict[str, Any] = {
            "kind": event.kind,
            "seq": event.seq,
            "role": event.role,
            "content": event.content,
            "block_id": f"seq-{event.seq}",
            "stage": STAGE.get(event.kind, "executing"),
            "display_mode": DISPLAY.get(event.kind, "append"),
            "created_at": event.created_at.isoformat(),
            **event.payload,
        }
        choices: list[dict[str, Any]] = []
        part = TEXT_PART.get(event.kind)
        if part is not None:
            block: str = extra["block_id"]
            self._whole.add(block)
            said = self._said.pop(block, "")
            if event.content.startswith(said) and len(said) < len(event.content):
                choices = [self._choice(part, event.content[len(said) :])]
        elif event.kind in ENDING:
            if event.kind == "finish":
                extra["stage"] = event.payload.get("outcome", {}).get("stage", "delivering")
            choices = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
        return {**self._base, "created": int(event.created_at.timestamp()), "choices": choices, "extra": extra}

    def _ephemeral(self, event: Ephemeral) -> dict[str, Any]:
        extra: dict[str, Any] = {
            "kind": SHOWN_KIND.get(event.kind, event.kind),
            "block_id": event.block_id,
            "stage": event.payload.get("phase", ""),
            "display_mode": "append",
            **event.payload,
        }
        choices: list[dict[str, Any]] = []
        part = TEXT_PART.get(event.kind)
        if part is not None:
            extra |= {"offset": event.offset, "text": event.text}
            if extra["display_mode"] == "replace":
                self._said[event.block_id] = ""
            before = self._said.get(event.block_id, "")
            if event.text and event.offset == len(before):
                self._said[event.block_id] = before + event.text
                choices = [self._choice(part, event.text)]
        return {**self._base, "created": 0, "choices": choices, "extra": extra}

    def _choice(self, part: str, text: str) -> dict[str, Any]:
        delta = {part: text} if self._begun else {"role": "assistant", part: text}
        self._begun = True
        return {"index": 0, "delta": delta, "finish_reason": None}


def frame(data: Any, seq: int | None = None) -> bytes:
    """One SSE frame: JSON on one line, with an id where the event is durable."""
    head = f"id: {seq}\n" if seq is not None else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
