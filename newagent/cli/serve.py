"""`newagent serve`: the agent over HTTP and SSE for this machine."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Annotated

import typer
import uvicorn

from newagent.cli.output import Json, Output
from newagent.cli.wiring import LOCAL_USER, open_service
from newagent.errors import RefusedError
from newagent.server.app import make_app
from newagent.server.backend import Backend
from newagent.server.runs import Runs
from newagent.settings import load_settings
from newagent.stream.bus import Bus


def serve(
    host: Annotated[str, typer.Option("--host", help="The address to listen on; loopback only.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port.")] = 8000,
    as_json: Json = False,
) -> None:
    """Serve the agent over HTTP on this machine, for one local user."""
    if not is_loopback(host):
        raise RefusedError(
            "loopback_only", f"{host} is not a loopback address, and the service has no authentication yet"
        )
    asyncio.run(_serve(Output(as_json), host, port))


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class RunServer(uvicorn.Server):
    """A server whose runs end before it waits for its streams, so that these end in order too."""

    def __init__(self, config: uvicorn.Config, runs: Runs) -> None:
        super().__init__(config)
        self._runs = runs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server.shutdown`."""
        await self._runs.close()
        await super().shutdown(sockets)


async def _serve(output: Output, host: str, port: int) -> None:
    settings = load_settings()
    bus = Bus()
    async with open_service(settings, bus) as service:
        backend = Backend(service.store, service.agent, bus, LOCAL_USER)
        output.err.print(f"http://{host}:{port}  model {service.mind.name}", markup=False)
        config = uvicorn.Config(
            make_app(backend), host=host, port=port, log_level="warning", timeout_graceful_shutdown=5
        )
        await RunServer(config, backend.runs).serve()
