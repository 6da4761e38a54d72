"""A scripted model endpoint over real sockets: it can stall, cut the connection, and see the client hang up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

Step = Callable[["Exchange"], Awaitable[None]]


class Exchange:
    """One request that is being answered."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
        self.reader = reader
        self.writer = writer
        self.body = body

    async def send(self, text: str) -> None:
        self.writer.write(text.encode())
        await self.writer.drain()

    async def head(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", "connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join(lines) + "\r\n\r\n")

    async def event(self, data: Any) -> None:
        await self.send(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")

    async def hung_up(self) -> None:
        """Waits until the client closes the connection."""
        while await self.reader.read(1024):
            pass


class Endpoint:
    """Answers request after request with the steps of a script; `bodies` are what was asked."""

    def __init__(self, *script: Step) -> None:
        self.script = list(script)
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._left = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Endpoint:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.split("content-length:")[1].split("\r\n")[0])
            body = json.loads(await reader.readexactly(length))
            self.bodies.append(body)
            self.keys.append(head.split("authorization: bearer ")[1].split("\r\n")[0])
            exchange = Exchange(reader, writer, body)
            await self.script.pop(0)(exchange)
        except (ConnectionError, asyncio.IncompleteReadError):
            self._left.set()
        except asyncio.CancelledError:
            pass
        finally:
            writer.close()

    async def hang_up(self) -> None:
        """Waits until a step has seen the client close the connection."""
        async with asyncio.timeout(5):
            await self._left.wait()

    # Steps.

    def stall(self, *events: Any, head: bool = True) -> Step:
        """Some events, then silence until the client hangs up."""

        async def step(exchange: Exchange) -> None:
            if head:
                await exchange.head()
            for one in events:
                await exchange.event(one)
            await exchange.hung_up()
            self._left.set()

        return step


def stream(*events: Any, done: bool = True) -> Step:
    """A streamed answer."""

    async def step(exchange: Exchange) -> None:
        await exchange.head()
        for one in events:
            await exchange.event(one)
        if done:
            await exchange.event("[DONE]")

    return step


def refuse(status: int, error: Any = None, **headers: str) -> Step:
    """An error answer."""

    async def step(exchange: Exchange) -> None:
        await exchange.head(status, "application/json", **headers)
        await exchange.send(json.dumps({"error": error or {"message": "no"}}))

    return step


def document(value: Any) -> Step:
    """An answer in one piece."""

    async def step(exchange: Exchange) -> None:
        await exchange.head(200, "application/json")
        await exchange.send(json.dumps(value))

    return step


def cut(*events: Any) -> Step:
    """Some events, then the connection breaks in the middle of a promised body."""

    async def step(exchange: Exchange) -> None:
        await exchange.head(content_length="100000")
        for one in events:
            await exchange.event(one)
        exchange.writer.transport.abort()

    return step


def text(*pieces: str, finish: str | None = None) -> list[dict[str, Any]]:
    """Chunks of text, and the end where it has a reason."""
    return [delta(content=piece) for piece in pieces] + ([end(finish)] if finish else [])


def delta(**fields: Any) -> dict[str, Any]:
    """A chunk with a delta."""
    return {"id": "x", "model": "m-1", "choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def end(reason: str, **fields: Any) -> dict[str, Any]:
    """The chunk that ends an answer."""
    return {"id": "x", "model": "m-1", "choices": [{"index": 0, "delta": fields, "finish_reason": reason}]}


def called(name: str | None = None, arguments: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk with a piece of a tool call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return delta(tool_calls=[{"function": function, **fields}])
