"""The routes of the dialogue: a turn or an answer as SSE, attaching to a stream, cancelling."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from newagent.errors import InputError, NotFoundError
from newagent.loop.agent import Turn
from newagent.loop.draft import ACTIVE_PHASES
from newagent.loop.sound import MOST_MESSAGE
from newagent.server.backend import Backend
from newagent.server.body import read_body
from newagent.server.envelope import done
from newagent.server.following import follow
from newagent.state.documents import Resume
from newagent.state.store import Session

LONGEST_SEQ = 20


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Extra(_Body):
    """What may come with a message."""

    task_class_ids: tuple[int, ...] = ()
    always_execute: bool = False
    resume: Resume | None = None


class ChatBody(_Body):
    """A message, or the answer to a card in `extra.resume`."""

    conversation_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    message: Annotated[str, Field(max_length=MOST_MESSAGE)] = ""
    extra: Extra = Extra()


class CancelBody(_Body):
    """Whose run to stop."""

    conversation_id: Annotated[str, Field(min_length=1, max_length=64)]


async def chat(request: Request) -> Response:
    """POST /agent/chat"""
    backend: Backend = request.app.state.backend
    body = await read_body(request, ChatBody)
    resume = body.extra.resume
    if resume is None and not body.message.strip():
        raise InputError("invalid_body", "message is empty, and there is no extra.resume")
    if resume is not None:
        if body.conversation_id is None:
            raise InputError("invalid_body", "a resume needs its conversation_id")
        try:
            after = await backend.last_seq(body.conversation_id)
        except NotFoundError:
            after = 0  # the agent says what is not found
        answered = await backend.agent.answer(backend.user, body.conversation_id, resume)
        session = answered.session
        if answered.repeated:
            after = await _told_at(backend, body.conversation_id, resume.interaction_id, after)
        fresh = not answered.repeated
    else:
        after = await backend.last_seq(body.conversation_id)
        turn = Turn(body.message, body.extra.task_class_ids, body.extra.always_execute)
        session = await backend.agent.begin(backend.user, body.conversation_id, turn)
        fresh = True
    return _stream(backend, session, after, fresh=fresh)


async def _told_at(backend: Backend, conversation_id: str, interaction_id: str, otherwise: int) -> int:
    """The seq before the stored answer to an interaction: a repeated answer hears it again from there."""
    for event in await backend.store.events(backend.user, conversation_id):
        if event.kind == "confirm_result" and event.payload.get("interaction_id") == interaction_id:
            return event.seq - 1
    return otherwise


async def attach(request: Request) -> Response:
    """GET /agent/events?conversation_id=&after_seq="""
    backend: Backend = request.app.state.backend
    conversation = request.query_params.get("conversation_id", "")
    session = await backend.store.load(backend.user, conversation)
    after = request.headers.get("last-event-id") or request.query_params.get("after_seq") or "0"
    # A number of thousands of digits is one that `int` does not take.
    if not (after.isascii() and after.isdecimal() and len(after) < LONGEST_SEQ) or int(after) > session.last_seq:
        raise InputError("invalid_body", f"after_seq must be between 0 and {session.last_seq}")
    return _stream(backend, session, int(after), fresh=False)


async def cancel(request: Request) -> Response:
    """POST /agent/cancel"""
    backend: Backend = request.app.state.backend
    body = await read_body(request, CancelBody)
    session = await backend.agent.cancel(backend.user, body.conversation_id)
    if session.state.phase not in ACTIVE_PHASES:
        backend.runs.stop(body.conversation_id)
    outcome: Any = session.state.outcome.model_dump(mode="json") if session.state.outcome else None
    return done({"conversation_id": body.conversation_id, "phase": session.state.phase, "outcome": outcome})


def _stream(backend: Backend, session: Session, after_seq: int, *, fresh: bool) -> Response:
    """The stream of a session; the run of a fresh turn or answer goes on here."""
    conversation = session.state.conversation_id
    reader = backend.bus.read(conversation)
    if fresh and session.state.phase in ACTIVE_PHASES:
        backend.runs.start(session)
    headers = {"X-Conversation-ID": conversation, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    frames = follow(backend, conversation, after_seq, reader)
    return StreamingResponse(frames, media_type="text/event-stream", headers=headers)
