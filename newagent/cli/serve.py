"""`newagent serve`: the agent over HTTP and SSE, with its page."""

from __future__ import annotations

import asyncio
import socket
from typing import Annotated

import typer
import uvicorn

from newagent.cli.output import Json, Output
from newagent.cli.wiring import LOCAL_USER, open_service
from newagent.errors import RefusedError
from newagent.server.app import make_app
from newagent.server.backend import Backend
from newagent.server.identity import Identity, LocalIdentity, TokenIdentity, is_loopback
from newagent.server.runs import Runs
from newagent.settings import Settings, load_settings
from newagent.stream.bus import Bus


def serve(
    host: Annotated[str, typer.Option("--host", help="The address to listen on; without a key this machine's own.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port.")] = 8000,
    as_json: Json = False,
) -> None:
    """Serve the agent over HTTP: with NEWAGENT_JWT_KEY for the users of its tokens, else for one local user."""
    settings = load_settings()
    identity = identity_of(settings)
    if isinstance(identity, LocalIdentity) and not is_loopback(host):
        raise RefusedError(
            "loopback_only", f"{host} is not a loopback address; without NEWAGENT_JWT_KEY anybody there would be you"
        )
    asyncio.run(_serve(Output(as_json), settings, identity, host, port))


def identity_of(settings: Settings) -> Identity:
    """Who may ask, by the settings. Raises `InputError("invalid_settings")` for a key that is none."""
    if settings.jwt_key is None:
        return LocalIdentity(LOCAL_USER, settings.cors_origins)
    tokens = TokenIdentity(settings.jwt_key.get_secret_value(), settings.jwt_algorithm, settings.jwt_audience)
    tokens.check_key()
    return tokens


class RunServer(uvicorn.Server):
    """A server whose runs end before it waits for its streams, so that these end in order too."""

    def __init__(self, config: uvicorn.Config, runs: Runs) -> None:
        super().__init__(config)
        self._runs = runs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server.shutdown`."""
        await self._runs.close()
        await super().shutdown(sockets)


async def _serve(output: Output, settings: Settings, identity: Identity, host: str, port: int) -> None:
    bus = Bus()
    async with open_service(settings, bus) as service:
        backend = Backend(service.store, service.agent, bus, identity)
        output.err.print(f"http://{host}:{port}  model {service.mind.name}", markup=False)
        app = make_app(backend, origins=settings.cors_origins)
        config = uvicorn.Config(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=5)
        await RunServer(config, backend.runs).serve()
