"""An open transaction whose statements are finished even when the task that asked for them is cancelled.

A statement that is left halfway would keep its connection, and with it SQLite's one write lock, until the garbage
collector comes by. So a cancellation waits for the statement in hand, and then the transaction is rolled back in order.
Only a server that no longer answers is not waited for: its connection is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import Connection, CursorResult, Executable
from sqlalchemy.ext.asyncio import AsyncConnection

T = TypeVar("T")


class UnansweredError(Exception):
    """The database did not answer within `seconds`; what it was asked may still happen."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} seconds")
        self.seconds = seconds


class Transaction:
    """What the modules of this package run their statements on; each may take `patience` seconds."""

    def __init__(self, connection: AsyncConnection, patience: float | None = None) -> None:
        self._connection = connection
        self._patience = patience

    async def execute(
        self, statement: Executable, parameters: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None
    ) -> CursorResult[Any]:
        """Runs a statement, for each set of parameters where several are given."""
        return await finished(self._connection.execute(statement, parameters), self._patience)

    async def run_sync(self, work: Callable[[Connection], T]) -> T:
        """Runs a function that wants an ordinary connection, for as long as it takes."""
        return await finished(self._connection.run_sync(work))

    async def commit(self) -> None:
        """Makes everything durable."""
        await finished(self._connection.commit(), self._patience)


async def finished(work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
    """Awaits something to its end; if the awaiting task is cancelled meanwhile, it is so afterwards.

    After `seconds`, if given, the work is cancelled itself. Raises `UnansweredError`.
    """
    task = asyncio.ensure_future(work)
    timer = asyncio.get_running_loop().call_later(seconds, task.cancel) if seconds is not None else None
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # nobody else will ask
        elif seconds is not None and not _cancelled():
            raise UnansweredError(seconds) from None
        raise
    finally:
        if timer is not None:
            timer.cancel()


def _cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
