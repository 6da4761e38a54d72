"""One model call: its pieces are published as they come, its end is a thought."""

from __future__ import annotations

import hashlib
from typing import Any

from newagent.errors import ModelError
from newagent.llm.mind import Delta, Mind, Prompt, Thought
from newagent.loop.draft import Bench, canonical
from newagent.runtime import RecordingRuntime
from newagent.state.store import Session
from newagent.stream.events import Ephemeral, Event, Publisher


async def think(mind: Mind, prompt: Prompt, session: Session, publisher: Publisher) -> Thought:
    """Lets the mind think a round. Raises `ModelError` as the mind does, or when it ends without a thought."""
    conversation = session.state.conversation_id
    number = session.version + 1
    offsets = {"reasoning": 0, "text": 0}
    progress = {
        "round": session.state.counters.rounds + 1,
        "step": session.state.step + 1,
        "phase": session.state.phase,
    }
    await publisher.publish(conversation, [Ephemeral("status", payload=progress)])
    async for piece in mind.think(prompt):
        if isinstance(piece, Thought):
            return piece
        events = list(_pieces(piece, number, offsets))
        await publisher.publish(conversation, events)
    raise ModelError("model_unavailable", "the model ended without an answer")


def _pieces(piece: Delta, number: int, offsets: dict[str, int]) -> list[Event | Ephemeral]:
    if piece.kind == "restart":
        void: list[Event | Ephemeral] = []
        for part in offsets:
            offsets[part] = 0
            payload = {"display_mode": "replace"}
            kind = "reasoning_text" if part == "reasoning" else "assistant_text_delta"
            void.append(Ephemeral(kind, f"{number}-{part}", "", 0, payload))
        return void
    offset = offsets[piece.kind]
    offsets[piece.kind] = offset + len(piece.text)
    kind = "reasoning_text" if piece.kind == "reasoning" else "assistant_text_delta"
    return [Ephemeral(kind, f"{number}-{piece.kind}", piece.text, offset, {"display_mode": "append"})]


def journal_of(prompt: Prompt, thought: Thought, bench: Bench, built_on: int) -> dict[str, Any]:
    """What the journal keeps of the outside world of a model round."""
    digest = hashlib.sha256(
        canonical(
            [
                prompt.system,
                [[words.role, words.text] for words in prompt.conversation],
                [[item.name, item.arguments, item.result] for item in prompt.work],
                prompt.brief,
                [tool.name for tool in prompt.tools],
            ]
        ).encode()
    ).hexdigest()
    return {
        "prompt_hash": digest,
        "built_on": built_on,
        "model": thought.model,
        "text": thought.text,
        "reasoning": thought.reasoning,
        "raw": thought.raw,
        "usage": {
            "prompt_tokens": thought.usage.prompt_tokens,
            "completion_tokens": thought.usage.completion_tokens,
            "cached_tokens": thought.usage.cached_tokens,
        },
        "latency_ms": thought.latency_ms,
        "drawn": bench.runtime.drawn if isinstance(bench.runtime, RecordingRuntime) else [],
    }
