"""Another way from one round of a conversation: a new conversation that goes on from there."""

from __future__ import annotations

from newagent.errors import NotFoundError, RefusedError
from newagent.loop.agent import Agent
from newagent.loop.replay.origin import fork_draft
from newagent.loop.replay.verify import session_at
from newagent.state.recording import Recording
from newagent.state.store import Session


async def fork(agent: Agent, recording: Recording, version: int, user_id: str) -> Session:
    """A new conversation of the user, as the recorded one was after that round; the run is ours, `drive` goes on.

    Raises `NotFoundError("round_not_found")`, and `RefusedError("replay_differs")` where the recording does not hold
    up to that round.
    """
    if not 1 <= version <= len(recording.rounds):
        raise NotFoundError("round_not_found", f"the conversation has rounds 1 to {len(recording.rounds)}")
    source = await session_at(recording, version, agent.catalogue)
    if source is None:
        raise RefusedError("replay_differs", f"the conversation cannot be made again up to round {version}")
    bench = agent.bench()
    session = await agent.store.create_conversation(user_id, agent.runtime.new_id("conv"), bench.now)
    return (await agent.commit(fork_draft(source, session, bench), bench, fenced=False, take_lease=True)).session
