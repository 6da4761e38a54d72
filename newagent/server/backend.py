"""What the calls work with: one store, one agent, the bus and the runs of this process, and who may ask."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.requests import Request
from structlog.contextvars import bind_contextvars

from newagent.errors import NotFoundError, RefusedError, StaleHeadError
from newagent.loop.agent import Agent
from newagent.loop.draft import ACTIVE_PHASES
from newagent.server.identity import Identity
from newagent.server.runs import Runs
from newagent.state.sql.heads import Glance
from newagent.state.sql.store import SqlStore
from newagent.stream.bus import Bus


@dataclass
class Backend:
    """`bus` must be the agent's publisher."""

    store: SqlStore
    agent: Agent
    bus: Bus
    identity: Identity
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.runs = Runs(self.agent, self.bus)

    @property
    def model(self) -> str:
        """The name of the model that thinks."""
        return self.agent.mind.name

    async def bus_answers(self) -> bool:
        """Whether what carries the events between processes answers."""
        return True

    async def admit(self, request: Request) -> str:
        """The user of a request. Raises `RefusedError` with a code of 400, 401, 403 or 429."""
        user = self.identity.user(request)
        bind_contextvars(user=user)
        return user

    async def take_up(self, user: str, conversation_id: str) -> Glance:
        """A conversation as it is now; a run whose owner has gone goes on here."""
        glance = await self.store.glance(user, conversation_id)
        cared_for = self.runs.running(conversation_id) or self._owned(glance)
        if glance.phase not in ACTIVE_PHASES or cared_for or self.runs.closed:
            return glance
        session = await self.store.load(user, conversation_id)
        try:
            session = await self.agent.take_over(session)
        except (StaleHeadError, RefusedError):  # somebody else was first
            return await self.store.glance(user, conversation_id)
        self.runs.start(session)
        return await self.store.glance(user, conversation_id)

    def _owned(self, glance: Glance) -> bool:
        return glance.lease_until is not None and glance.lease_until > self.agent.runtime.now()

    async def last_seq(self, user: str, conversation_id: str | None) -> int:
        """The seq that a conversation has reached; 0 before its first message, and where there is none."""
        if conversation_id is None:
            return 0
        try:
            return (await self.store.glance(user, conversation_id)).last_seq
        except NotFoundError:
            return 0
