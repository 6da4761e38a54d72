"""The calls of the dialogue: a turn or an answer as SSE, attaching to a stream, cancelling."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from newagent.errors import InputError
from newagent.loop.agent import Turn
from newagent.loop.draft import ACTIVE_PHASES
from newagent.loop.sound import MOST_MESSAGE
from newagent.server.backend import Backend
from newagent.server.calls import Asked, Calls
from newagent.server.sse import EventStream, start, stream
from newagent.state.documents import Phase, Resume

MOST_SEQ = 2**63 - 1
calls = Calls("agent")
ConversationId = Annotated[str, Field(min_length=1, max_length=64)]


class Body(BaseModel):
    """Base of all bodies: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Extra(Body):
    """What may come with a message."""

    task_class_ids: tuple[int, ...] = ()
    always_execute: bool = False
    resume: Resume | None = None


class ChatBody(Body):
    """A message, or the answer to a card in `extra.resume`."""

    conversation_id: ConversationId | None = None
    message: Annotated[str, Field(max_length=MOST_MESSAGE)] = ""
    model: Literal["worker", "strategist"] | None = None
    thinking: bool | None = None
    extra: Extra = Extra()


class CancelBody(Body):
    """Whose run to stop."""

    conversation_id: ConversationId


class Cancelled(BaseModel):
    """What became of the run."""

    conversation_id: str
    phase: Phase
    outcome: dict[str, Any] | None


class EventsQuery(BaseModel):
    """Whose events, and after which."""

    conversation_id: Annotated[str, Field(min_length=1)]
    after_seq: Annotated[int, Field(ge=0, le=MOST_SEQ)] = 0


class EventsHeader(BaseModel):
    """What a browser sends when it comes back; it stands above `after_seq`."""

    last_event_id: Annotated[int, Field(ge=0, le=MOST_SEQ)] | None = None


@calls.post(
    "/api/v1/agent/chat",
    media="text/event-stream",
    errors=(
        "empty_message",
        "message_too_long",
        "conversation_not_found",
        "interaction_not_found",
        "unknown_task_class",
        "run_in_progress",
        "interaction_closed",
        "interaction_expired",
        "invalid_args",
        "quota_exhausted",
    ),
)
async def chat(asked: Asked, body: ChatBody) -> EventStream:
    """A message, or the answer to a card; answered as a stream of events."""
    backend, user = asked.backend, asked.user
    resume = body.extra.resume
    if resume is not None:
        if body.conversation_id is None:
            raise InputError("conversation_id_missing", "a resume needs its conversation_id")
        return await _answer(backend, user, body.conversation_id, resume)
    after = await backend.last_seq(user, body.conversation_id)
    turn = Turn(body.message, body.extra.task_class_ids, body.extra.always_execute)
    session = await backend.agent.begin(user, body.conversation_id, turn)
    reader = start(backend, session)
    return stream(backend, user, session.state.conversation_id, after, reader)


async def _answer(backend: Backend, user: str, conversation_id: str, resume: Resume) -> EventStream:
    after = await backend.last_seq(user, conversation_id)
    answered = await backend.agent.answer(user, conversation_id, resume)
    if answered.repeated:
        reader = backend.bus.read(conversation_id)
        after = await _told_at(backend, user, conversation_id, resume.interaction_id, after)
    else:
        reader = start(backend, answered.session)
    return stream(backend, user, conversation_id, after, reader)


async def _told_at(backend: Backend, user: str, conversation_id: str, interaction_id: str, otherwise: int) -> int:
    """The seq before the stored answer to an interaction: a repeated answer hears it again from there."""
    for event in await backend.store.events(user, conversation_id):
        if event.kind == "confirm_result" and event.payload.get("interaction_id") == interaction_id:
            return event.seq - 1
    return otherwise


@calls.get("/api/v1/agent/events", media="text/event-stream", errors=("conversation_not_found",))
async def events(asked: Asked, query: EventsQuery, header: EventsHeader) -> EventStream:
    """Attach to a running or finished conversation after a seq."""
    backend, conversation = asked.backend, query.conversation_id
    reader = backend.bus.read(conversation)
    last = await backend.store.glance(asked.user, conversation)
    after = query.after_seq if header.last_event_id is None else header.last_event_id
    if after > last.last_seq:
        raise InputError("invalid_parameter", f"after_seq must be between 0 and {last.last_seq}")
    return stream(backend, asked.user, conversation, after, reader)


@calls.post("/api/v1/agent/cancel", errors=("conversation_not_found", "run_in_progress"))
async def cancel(asked: Asked, body: CancelBody) -> Cancelled:
    """Stop the current run; committed rounds stay."""
    backend = asked.backend
    session = await backend.agent.cancel(asked.user, body.conversation_id)
    if session.state.phase not in ACTIVE_PHASES:
        backend.runs.stop(body.conversation_id)
    outcome = session.state.outcome.model_dump(mode="json") if session.state.outcome else None
    return Cancelled(conversation_id=body.conversation_id, phase=session.state.phase, outcome=outcome)
