"""The service as an ASGI app: routes over one backend. It has no authentication and belongs on loopback only."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from newagent.errors import NewAgentError
from newagent.server import chat, conversations
from newagent.server.backend import Backend
from newagent.server.envelope import done, on_error, on_failure, on_http_error

API = "/api/v1"


def make_app(backend: Backend) -> Starlette:
    """The app over an open backend; its runs end with it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        del app
        try:
            yield
        finally:
            await backend.runs.close()

    routes = [
        Route("/healthz", health),
        Route("/readyz", ready),
        Route(f"{API}/agent/chat", chat.chat, methods=["POST"]),
        Route(f"{API}/agent/events", chat.attach),
        Route(f"{API}/agent/cancel", chat.cancel, methods=["POST"]),
        Route(f"{API}/agent/conversations", conversations.list_all),
        Route(f"{API}/agent/conversations/{{id}}", conversations.rename, methods=["PATCH"]),
        Route(f"{API}/agent/conversations/{{id}}", conversations.delete, methods=["DELETE"]),
        Route(f"{API}/agent/conversation-timeline", conversations.timeline),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={NewAgentError: on_error, HTTPException: on_http_error, Exception: on_failure},
        # A name that resolves to this machine must not let a foreign page in.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1", "::1", "[::1]"])],
    )
    app.state.backend = backend
    return app


async def health(request: Request) -> Response:
    """GET /healthz: the process is there."""
    del request
    return done({"alive": True})


async def ready(request: Request) -> Response:
    """GET /readyz: the database answers."""
    backend: Backend = request.app.state.backend
    return done({"revision": await backend.store.revision(), "model": backend.model})
