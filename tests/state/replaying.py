"""Every conversation that the loop has written into a database, made again from its journal."""

from __future__ import annotations

from sqlalchemy import select

from newagent.loop.replay import verify
from newagent.state.sql.store import SqlStore
from newagent.state.sql.tables import conversations
from newagent.tools.registry import Catalogue


async def replay_all(store: SqlStore, catalogue: Catalogue | None = None) -> int:
    """Replays all conversations but those with rounds that a test has written by itself; returns how many rounds."""
    async with store._database.read() as connection:
        rows = await connection.execute(select(conversations.c.user_id, conversations.c.id))
        known = [(row.user_id, row.id) for row in rows]
    rounds = 0
    for user, conversation in known:
        recording = await store.recording(user, conversation)
        if all("now" in recorded.entry.body for recorded in recording.rounds):
            verdict = await verify(recording, catalogue)
            assert verdict.ok, verdict.difference
            rounds += verdict.rounds
    return rounds
