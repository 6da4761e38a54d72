"""The stream of one conversation for one reader: what is stored, then what happens, in order, without gaps."""

from __future__ import annotations

from collections.abc import AsyncIterator

from newagent.errors import NewAgentError
from newagent.loop.draft import ACTIVE_PHASES
from newagent.server.backend import Backend
from newagent.server.chunks import chunk, frame
from newagent.stream.bus import Reader
from newagent.stream.events import Ephemeral, Event

HEARTBEAT = 5.0
PING = b": ping\n\n"
DONE = b"data: [DONE]\n\n"


async def follow(backend: Backend, conversation_id: str, after_seq: int, reader: Reader) -> AsyncIterator[bytes]:
    """SSE frames from after a seq until the run waits for the user or has ended.

    `reader` must have been opened before the run was started, or its first words are missed. A run that another
    process owns is read from the store; once its lease is over, it goes on here.
    """
    seq = after_seq
    try:
        for event in await backend.store.events(backend.user, conversation_id, seq):
            seq = event.seq
            yield _frame(backend, conversation_id, event)
        while not reader.dropped or reader.waiting:
            if not backend.runs.running(conversation_id) and not reader.waiting:
                if backend.runs.closed:
                    raise NewAgentError("service_stopping", "the service is stopping; attach again after the last id")
                session = await backend.take_up(conversation_id)
                for event in await backend.store.events(backend.user, conversation_id, seq):
                    seq = event.seq
                    yield _frame(backend, conversation_id, event)
                if session.state.phase not in ACTIVE_PHASES:
                    break
            try:
                event = await reader.take(HEARTBEAT)
            except TimeoutError:
                yield PING
                continue
            if event is None:
                if reader.failure is not None:
                    raise reader.failure
            elif isinstance(event, Ephemeral):
                yield _frame(backend, conversation_id, event)
            elif event.seq == seq + 1:
                seq = event.seq
                yield _frame(backend, conversation_id, event)
            elif event.seq > seq:
                # Rounds of two writers were published in another order than they were stored.
                for missed in await backend.store.events(backend.user, conversation_id, seq):
                    seq = missed.seq
                    yield _frame(backend, conversation_id, missed)
        if reader.dropped:
            yield error_frame("reader_too_slow", "the reader was too slow; attach again after the last id")
    except NewAgentError as error:
        yield error_frame(error.code, error.message)
    yield DONE


def error_frame(code: str, message: str) -> bytes:
    """A failure in the middle of a stream."""
    return frame({"error": {"message": message, "type": "newagent_error", "code": code}})


def _frame(backend: Backend, conversation_id: str, event: Event | Ephemeral) -> bytes:
    seq = event.seq if isinstance(event, Event) else None
    return frame(chunk(conversation_id, backend.model, event), seq)
