"""A network between a program and a MariaDB server that fails when it is told to."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Literal

from sqlalchemy import make_url

Fault = Literal["lose_commit", "lose_answer", "hang"]


class DeafProxy:
    """Passes everything on, and does `fault` at the next COMMIT: to lose it, or its answer, or to say nothing more."""

    def __init__(self, url: str) -> None:
        self._server = make_url(url)
        self.fault: Fault | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> DeafProxy:
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._listener.sockets[0].getsockname()[1]
        self.url = self._server.set(host="127.0.0.1", port=port).render_as_string(hide_password=False)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(self._server.host, self._server.port)
        silent = asyncio.Event()
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._there(reader, to_server, writer, silent))
                group.create_task(self._back(from_server, writer, silent))
        except* (OSError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            for one in (writer, to_server):
                one.close()

    async def _there(
        self,
        reader: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
        writer: asyncio.StreamWriter,
        silent: asyncio.Event,
    ) -> None:
        while words := await reader.read(65536):
            fault = self.fault if words.endswith(b"COMMIT") else None
            if fault is not None:
                self.fault = None
                if fault == "hang":
                    silent.set()
                    continue
                if fault == "lose_answer":
                    silent.set()
                    to_server.write(words)
                    await to_server.drain()
                    await asyncio.sleep(0.05)  # the server has it
                writer.transport.abort()
                break
            to_server.write(words)
            await to_server.drain()
        to_server.close()

    async def _back(
        self, from_server: asyncio.StreamReader, writer: asyncio.StreamWriter, silent: asyncio.Event
    ) -> None:
        while words := await from_server.read(65536):
            if not silent.is_set():
                writer.write(words)
                await writer.drain()
