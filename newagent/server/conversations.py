"""The routes of the conversations: list, rename, delete, timeline."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from newagent.server.backend import Backend
from newagent.server.body import read_body
from newagent.server.chunks import timeline_entry
from newagent.server.envelope import done


class TitleBody(BaseModel):
    """The new title."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1, max_length=200)]


async def list_all(request: Request) -> Response:
    """GET /agent/conversations"""
    backend: Backend = request.app.state.backend
    rows = await backend.store.list_conversations(backend.user)
    return done([row.as_json() for row in rows])


async def rename(request: Request) -> Response:
    """PATCH /agent/conversations/{id}"""
    backend: Backend = request.app.state.backend
    body = await read_body(request, TitleBody)
    await backend.store.rename(backend.user, request.path_params["id"], body.title)
    return done({"conversation_id": request.path_params["id"], "title": body.title})


async def delete(request: Request) -> Response:
    """DELETE /agent/conversations/{id}"""
    backend: Backend = request.app.state.backend
    await backend.store.delete(backend.user, request.path_params["id"])
    return done({"conversation_id": request.path_params["id"]})


async def timeline(request: Request) -> Response:
    """GET /agent/conversation-timeline?conversation_id="""
    backend: Backend = request.app.state.backend
    conversation = request.query_params.get("conversation_id", "")
    await backend.store.load(backend.user, conversation)
    events = await backend.store.events(backend.user, conversation)
    return done([timeline_entry(conversation, event) for event in events])
