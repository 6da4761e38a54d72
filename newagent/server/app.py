"""The service as an ASGI app: the calls of all modules over one backend."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from newagent.errors import NewAgentError
from newagent.server import board, chat, conversations, hand, health, page
from newagent.server.backend import Backend
from newagent.server.calls import Call
from newagent.server.envelope import on_error, on_failure, on_http_error
from newagent.server.identity import TokenIdentity
from newagent.server.openapi import describe

MODULES = (chat, conversations, board, hand, health)
CALLS: tuple[Call, ...] = tuple(call for module in MODULES for call in module.calls.all)
ASKED_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Conversation-ID")
TOLD_HEADERS = ("X-Conversation-ID", "Retry-After")


def make_app(backend: Backend, *, origins: tuple[str, ...] = ()) -> Starlette:
    """The app over an open backend; its runs end with it. `origins` are other sites whose pages may call it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        del app
        try:
            yield
        finally:
            await backend.runs.close()

    described: dict[str, Any] = describe(CALLS, tokens=isinstance(backend.identity, TokenIdentity))

    async def openapi(request: Request) -> JSONResponse:
        del request
        return JSONResponse(described)

    middleware: list[Middleware] = []
    if origins:
        cors = Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=ASKED_HEADERS,
            expose_headers=TOLD_HEADERS,
        )
        middleware.append(cors)
    app = Starlette(
        routes=[*(call.route() for call in CALLS), Route("/openapi.json", openapi), *page.routes()],
        lifespan=lifespan,
        exception_handlers={NewAgentError: on_error, HTTPException: on_http_error, Exception: on_failure},
        middleware=middleware,
    )
    app.state.backend = backend
    return app
