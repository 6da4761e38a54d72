"""The runs of this process: each lives in a task of its own, so that a client that leaves does not end it."""

from __future__ import annotations

import asyncio

import structlog

from newagent.errors import StoreError
from newagent.loop.agent import Agent
from newagent.state.store import Session
from newagent.stream.bus import Bus

log = structlog.get_logger(__name__)


class Runs:
    """Starts and keeps the runs. `close` lets running rounds go: what is committed stays, the rest is thought again."""

    def __init__(self, agent: Agent, bus: Bus) -> None:
        self._agent = agent
        self._bus = bus
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, session: Session) -> None:
        """Lets a session's run go on; a run that is already going on here is left alone."""
        conversation = session.state.conversation_id
        before = self._tasks.get(conversation)
        if before is not None and not before.done():
            before.add_done_callback(lambda _: self.start(session))
            return
        self._tasks[conversation] = asyncio.create_task(self._drive(session), name=f"run {conversation}")

    def running(self, conversation_id: str) -> bool:
        """Whether a run of the conversation goes on in this process."""
        task = self._tasks.get(conversation_id)
        return task is not None and not task.done()

    async def _drive(self, session: Session) -> None:
        conversation = session.state.conversation_id
        try:
            await self._agent.drive(session)
        except StoreError as error:
            log.error("run_failed", conversation=conversation, code=error.code)
        finally:
            self._bus.end(conversation)
            if self._tasks.get(conversation) is asyncio.current_task():
                del self._tasks[conversation]

    async def close(self) -> None:
        """Ends all runs of this process."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
