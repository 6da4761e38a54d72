"""An open transaction whose statements are finished even when the task that asked for them is cancelled.

A statement that is left halfway would keep its connection, and with it SQLite's one write lock, until the garbage
collector comes by. So a cancellation waits for the statement in hand, and then the transaction is rolled back in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import Connection, CursorResult, Executable
from sqlalchemy.ext.asyncio import AsyncConnection

T = TypeVar("T")


class Transaction:
    """What the modules of this package run their statements on."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def execute(
        self, statement: Executable, parameters: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None
    ) -> CursorResult[Any]:
        """Runs a statement, for each set of parameters where several are given."""
        return await finished(self._connection.execute(statement, parameters))

    async def run_sync(self, work: Callable[[Connection], T]) -> T:
        """Runs a function that wants an ordinary connection."""
        return await finished(self._connection.run_sync(work))


async def finished(work: Coroutine[Any, Any, T]) -> T:
    """Awaits something to its end; if the awaiting task is cancelled meanwhile, it is so afterwards."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # nobody else will ask
        raise
