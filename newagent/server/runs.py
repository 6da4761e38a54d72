"""The runs of this process: each lives in a task of its own, so that a client that leaves does not end it."""

from __future__ import annotations

import asyncio

import structlog

from newagent.errors import NewAgentError
from newagent.loop.agent import Agent
from newagent.state.store import Session
from newagent.stream.bus import Bus

log = structlog.get_logger(__name__)


class Runs:
    """Starts, keeps and ends the runs."""

    def __init__(self, agent: Agent, bus: Bus) -> None:
        self._agent = agent
        self._bus = bus
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._sessions: dict[str, Session] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self.closed = False

    def start(self, session: Session) -> None:
        """Lets a session's run go on here, as its owner. An earlier owner's task has lost its right and is ended."""
        if self.closed:
            return
        conversation = session.state.conversation_id
        self._end(conversation)
        self._sessions[conversation] = session
        self._tasks[conversation] = asyncio.create_task(self._drive(session), name=f"run {conversation}")

    def stop(self, conversation_id: str) -> None:
        """Ends what a run that was cancelled still thinks, and tells its readers."""
        self._end(conversation_id)
        self._bus.end(conversation_id)

    def running(self, conversation_id: str) -> bool:
        """Whether a run of the conversation goes on in this process."""
        return conversation_id in self._tasks

    def _end(self, conversation_id: str) -> None:
        task = self._tasks.pop(conversation_id, None)
        if task is not None:
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
            task.cancel()

    async def _drive(self, session: Session) -> None:
        conversation = session.state.conversation_id
        failure: NewAgentError | None = None
        try:
            await self._agent.drive(session)
        except NewAgentError as error:
            log.error("run_failed", conversation=conversation, code=error.code)
            failure = error
        except Exception:  # the readers must not wait for ever
            log.exception("run_failed", conversation=conversation)
            failure = NewAgentError("internal_error", "something went wrong inside the program")
        finally:
            if self._tasks.get(conversation) is asyncio.current_task():
                del self._tasks[conversation]
                self._bus.end(conversation, failure)

    async def close(self) -> None:
        """Ends all runs of this process and hands them back: what is committed stays, the rest is thought again."""
        self.closed = True
        left = [self._sessions[conversation] for conversation in self._tasks]
        for session in left:
            self.stop(session.state.conversation_id)
        await asyncio.gather(*self._ending, return_exceptions=True)
        for session in left:
            try:
                await self._agent.hand_back(session)
            except NewAgentError as error:
                log.warning("run_kept", conversation=session.state.conversation_id, code=error.code)
