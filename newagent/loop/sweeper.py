"""Looking after what nobody looks after: runs whose owner has gone are taken over, cards past their time expire."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from newagent.errors import NewAgentError, NotFoundError, StaleHeadError
from newagent.loop.agent import Agent
from newagent.loop.draft import ACTIVE_PHASES
from newagent.state.store import Session

log = structlog.get_logger(__name__)
EVERY = 30.0


@dataclass(frozen=True)
class Swept:
    """What a sweep came to: the runs taken over, whose owner the caller is now, and how many ended or expired."""

    taken: tuple[Session, ...] = ()
    ended: int = 0


async def sweep(agent: Agent, limit: int = 100) -> Swept:
    """Looks once at the conversations that are due. Any number of processes may: of two, one is first."""
    taken: list[Session] = []
    ended = 0
    for user_id, conversation_id in await agent.store.due(agent.runtime.now(), limit):
        try:
            session = await agent.look_after(user_id, conversation_id)
        except (StaleHeadError, NotFoundError):
            continue
        except NewAgentError as error:
            log.warning("sweep_failed", conversation=conversation_id, code=error.code)
            continue
        if session is not None and session.state.phase in ACTIVE_PHASES:
            taken.append(session)
        elif session is not None:
            ended += 1
    return Swept(tuple(taken), ended)


async def sweep_forever(agent: Agent, start: Callable[[Session], None], every: float = EVERY) -> None:
    """Sweeps until it is cancelled; `start` lets a run go on in this process."""
    while True:
        try:
            for session in (await sweep(agent)).taken:
                start(session)
        except NewAgentError as error:  # the store is away: it will be looked for again
            log.warning("sweep_failed", code=error.code)
        await asyncio.sleep(every)
