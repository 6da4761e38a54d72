"""The stream of a conversation as an answer: frames, pings, failures, the end."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse

from newagent.errors import NewAgentError
from newagent.loop.draft import ACTIVE_PHASES
from newagent.server.backend import Backend
from newagent.server.chunks import DONE, PING, Chunks, frame
from newagent.server.envelope import error_body
from newagent.server.following import follow
from newagent.state.store import Session
from newagent.stream.bus import Reader
from newagent.stream.events import Event

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


def start(backend: Backend, session: Session) -> Reader:
    """A reader of a session from now on; the run of a fresh turn or answer goes on here."""
    reader = backend.bus.read(session.state.conversation_id)
    if session.state.phase in ACTIVE_PHASES:
        backend.runs.start(session)
    return reader


def stream(backend: Backend, user: str, conversation_id: str, after_seq: int, reader: Reader) -> EventStream:
    """What happens in a conversation after a seq."""
    frames = _frames(backend, user, conversation_id, after_seq, reader)
    return EventStream(frames, headers={"X-Conversation-ID": conversation_id, **HEADERS})


async def _frames(
    backend: Backend, user: str, conversation_id: str, after_seq: int, reader: Reader
) -> AsyncIterator[bytes]:
    chunks = Chunks(conversation_id, backend.model)
    try:
        async for event in follow(backend, user, conversation_id, after_seq, reader):
            if event is None:
                yield PING
            elif (chunk := chunks.of(event)) is not None:
                yield frame(chunk, event.seq if isinstance(event, Event) else None)
    except NewAgentError as error:
        yield frame(error_body(error.code, error.message))
    yield DONE
