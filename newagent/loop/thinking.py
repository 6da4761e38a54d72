"""One model call: its pieces are published as they come, its end is a thought."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import asdict
from typing import Any, Literal

import structlog

from newagent.errors import ModelError, NewAgentError
from newagent.llm.decision import Decision, DecisionFault
from newagent.llm.mind import Delta, Mind, Prompt, Thought, Usage
from newagent.loop.draft import canonical
from newagent.loop.sound import sound_text, sound_thought
from newagent.state.store import Session
from newagent.stream.events import Ephemeral, Event, Publisher, block_id

Offsets = dict[Literal["reasoning", "text"], int]
log = structlog.get_logger(__name__)


async def think(mind: Mind, prompt: Prompt, session: Session, publisher: Publisher, seconds: float) -> Thought:
    """Lets the mind think a round, for so many seconds at most; what it says comes back sound.

    Raises `ModelError`: the mind's own, model_timeout, model_unavailable where it ends without a thought, and
    model_failed where it raises anything else.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _thought(mind, prompt, session, publisher)
    except NewAgentError:
        raise
    except TimeoutError:
        raise ModelError("model_timeout", f"the model did not come to an end in {seconds:g} seconds") from None
    except Exception as error:  # a mind of any origin may raise anything; the run must end in order
        log.exception("mind_failed", mind=mind.name)
        raise ModelError("model_failed", f"the model failed: {type(error).__name__}") from None


async def _thought(mind: Mind, prompt: Prompt, session: Session, publisher: Publisher) -> Thought:
    conversation = session.state.conversation_id
    number = session.version + 1
    offsets: Offsets = {"reasoning": 0, "text": 0}
    progress = {
        "round": session.state.counters.rounds + 1,
        "step": session.state.step + 1,
        "phase": session.state.phase,
    }
    await publisher.publish(conversation, [Ephemeral("status", payload=progress)])
    pieces = mind.think(prompt)
    try:
        async for piece in pieces:
            if isinstance(piece, Thought):
                return sound_thought(piece)
            await publisher.publish(conversation, list(_pieces(piece, number, offsets)))
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
    raise ModelError("model_unavailable", "the model ended without an answer")


def _pieces(piece: Delta, number: int, offsets: Offsets) -> list[Event | Ephemeral]:
    if piece.kind == "restart":
        void: list[Event | Ephemeral] = []
        for part in offsets:
            offsets[part] = 0
            payload = {"display_mode": "replace"}
            kind = "reasoning_text" if part == "reasoning" else "assistant_text_delta"
            void.append(Ephemeral(kind, block_id(number, part), "", 0, payload))
        return void
    text = sound_text(piece.text)
    offset = offsets[piece.kind]
    offsets[piece.kind] = offset + len(text)
    kind = "reasoning_text" if piece.kind == "reasoning" else "assistant_text_delta"
    return [Ephemeral(kind, block_id(number, piece.kind), text, offset, {"display_mode": "append"})]


def prompt_hash(prompt: Prompt) -> str:
    """What makes two prompts the same prompt."""
    parts = [
        prompt.system,
        [[words.role, words.text] for words in prompt.conversation],
        [[item.name, item.arguments, item.result] for item in prompt.work],
        prompt.brief,
        [tool.name for tool in prompt.tools],
    ]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def journal_of(prompt: Prompt, thought: Thought, built_on: int) -> dict[str, Any]:
    """What the journal keeps of a thought, and of the prompt: `built_on` is the schedule version that it showed."""
    kind = "decision" if isinstance(thought.result, Decision) else "fault"
    return {
        kind: thought.result.model_dump(mode="json", exclude_defaults=True),
        "prompt_hash": prompt_hash(prompt),
        "built_on": built_on,
        "model": thought.model,
        "text": thought.text,
        "reasoning": thought.reasoning,
        "raw": thought.raw,
        "usage": asdict(thought.usage),
        "latency_ms": thought.latency_ms,
    }


def thought_of(body: dict[str, Any]) -> Thought:
    """The thought that a journal row was made of."""
    decided = Decision.model_validate(body["decision"]) if "decision" in body else None
    return Thought(
        result=decided or DecisionFault.model_validate(body["fault"]),
        text=body["text"],
        reasoning=body["reasoning"],
        usage=Usage(**body["usage"]),
        model=body["model"],
        latency_ms=body["latency_ms"],
        raw=body["raw"],
    )
