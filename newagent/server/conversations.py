"""The calls of the conversations: list, rename, delete, timeline."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from pydantic import BaseModel, Field

from newagent.server.calls import Asked, Calls
from newagent.server.chat import Body
from newagent.state.sql.heads import ConversationRow

calls = Calls("conversations")


class ConversationPath(BaseModel):
    """Which conversation."""

    id: str


class ConversationQuery(BaseModel):
    """Which conversation."""

    conversation_id: Annotated[str, Field(min_length=1)]


class TitleBody(Body):
    """The new title."""

    title: Annotated[str, Field(min_length=1, max_length=200)]


class Renamed(BaseModel):
    """A conversation and its title."""

    conversation_id: str
    title: str


class Deleted(BaseModel):
    """What is gone."""

    conversation_id: str


class TimelineEntry(BaseModel):
    """A durable event."""

    id: str
    seq: int
    kind: str
    role: str
    content: str
    payload: dict[str, Any]
    tokens_consumed: int
    created_at: dt.datetime


@calls.get("/api/v1/agent/conversations")
async def list_all(asked: Asked) -> list[ConversationRow]:
    """The user's conversations, the one that changed last first."""
    return await asked.backend.store.list_conversations(asked.user)


@calls.patch("/api/v1/agent/conversations/{id}", errors=("conversation_not_found", "invalid_title"))
async def rename(asked: Asked, path: ConversationPath, body: TitleBody) -> Renamed:
    """Give a conversation another title."""
    await asked.backend.store.rename(asked.user, path.id, body.title)
    return Renamed(conversation_id=path.id, title=" ".join(body.title.split()))


@calls.delete("/api/v1/agent/conversations/{id}", errors=("conversation_not_found",))
async def delete(asked: Asked, path: ConversationPath) -> Deleted:
    """Delete a conversation; what was applied stays in the timetable."""
    await asked.backend.store.delete(asked.user, path.id)
    asked.backend.runs.stop(path.id)
    return Deleted(conversation_id=path.id)


@calls.get("/api/v1/agent/conversation-timeline", errors=("conversation_not_found",))
async def timeline(asked: Asked, query: ConversationQuery) -> list[TimelineEntry]:
    """All durable events of a conversation in order."""
    conversation = query.conversation_id
    return [
        TimelineEntry(
            id=f"{conversation}:{event.seq}",
            seq=event.seq,
            kind=event.kind,
            role=event.role,
            content=event.content,
            payload=event.payload,
            tokens_consumed=event.tokens_consumed,
            created_at=event.created_at,
        )
        for event in await asked.backend.store.events(asked.user, conversation)
    ]
