"""What the routes work with: one store, one agent, the bus and the runs of this process."""

from __future__ import annotations

from dataclasses import dataclass, field

from newagent.errors import StaleHeadError
from newagent.loop.agent import Agent
from newagent.loop.draft import ACTIVE_PHASES
from newagent.server.runs import Runs
from newagent.state.sql.store import SqlStore
from newagent.state.store import Session
from newagent.stream.bus import Bus


@dataclass
class Backend:
    """`user` is the one local user; `bus` must be the agent's publisher."""

    store: SqlStore
    agent: Agent
    bus: Bus
    user: str
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.runs = Runs(self.agent, self.bus)

    @property
    def model(self) -> str:
        """The name of the model that thinks."""
        return self.agent.mind.name

    async def take_up(self, conversation_id: str) -> Session:
        """A conversation that does not run here, as it is now; a run whose owner has gone goes on here."""
        session = await self.store.load(self.user, conversation_id)
        if session.state.phase in ACTIVE_PHASES and not self.agent.owned(session):
            try:
                session = await self.agent.take_over(session)
            except StaleHeadError:
                return await self.store.load(self.user, conversation_id)
            self.runs.start(session)
        return session

    async def last_seq(self, conversation_id: str | None) -> int:
        """The seq that a conversation has reached; 0 before its first message."""
        if conversation_id is None:
            return 0
        return (await self.store.load(self.user, conversation_id)).last_seq
