"""Holding the lease of a run while its model thinks: a call may last longer than a lease does."""

from __future__ import annotations

import asyncio
import datetime as dt
from types import TracebackType
from typing import Self

import structlog

from newagent.errors import NewAgentError, StaleHeadError
from newagent.runtime import Runtime
from newagent.state.store import Session, Store

log = structlog.get_logger(__name__)


class Heartbeat:
    """Extends the lease of a run every `every` seconds, without a round; a thought that is nobody's any more is ended.

    Leaves with `StaleHeadError` where the run has ended meanwhile or has another owner: the task inside was cancelled.
    A store that does not answer is asked again at the next beat; the lease may run out meanwhile.
    """

    def __init__(self, store: Store, runtime: Runtime, session: Session, lease: dt.timedelta, every: float) -> None:
        self._store = store
        self._runtime = runtime
        self._session = session
        self._lease = lease
        self._every = every
        self._owner: asyncio.Task[object] | None = None
        self._beats: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._lost = False

    async def __aenter__(self) -> Self:
        self._owner = asyncio.current_task()
        # Most thoughts are shorter than a beat: no task is made for them.
        self._timer = asyncio.get_running_loop().call_later(self._every, self._start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._beats is not None:
            self._beats.cancel()
            try:
                await asyncio.wait([self._beats])
            except asyncio.CancelledError:  # ours, if the thought had come to its end at that very moment
                if not self._lost:
                    raise
        if self._lost and self._owner is not None and self._owner.uncancel() == 0:
            raise StaleHeadError("stale_head", "the run has ended or belongs to another owner") from None

    def _start(self) -> None:
        self._beats = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            try:
                await self._store.extend_lease(self._session, self._runtime.now() + self._lease)
            except StaleHeadError:
                self._lost = True
                if self._owner is not None:
                    self._owner.cancel()
                return
            except NewAgentError as error:
                log.warning("heartbeat_failed", code=error.code, conversation=self._session.state.conversation_id)
            await asyncio.sleep(self._every)
