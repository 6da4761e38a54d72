"""What the routes work with: one store, one agent, the bus and the runs of this process."""

from __future__ import annotations

from dataclasses import dataclass, field

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

    def go_on(self, session: Session, *, fresh: bool) -> None:
        """Lets a run go on here: after a fresh turn or answer, or when its owner's lease is over."""
        if session.state.phase not in ACTIVE_PHASES:
            return
        over = session.lease_until is None or session.lease_until <= self.agent.runtime.now()
        if fresh or (over and not self.runs.running(session.state.conversation_id)):
            self.runs.start(session)

    async def last_seq(self, conversation_id: str | None) -> int:
        """The seq that a conversation has reached; 0 before its first message."""
        if conversation_id is None:
            return 0
        return (await self.store.load(self.user, conversation_id)).last_seq
