"""The journal: one row a round, each holding the hash of the row before.

A row's hash covers everything in it, among it the hashes of the three states after the round. So a changed, missing
or foreign row shows, and a replay can compare states without storing them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from newagent.errors import StoreError
from newagent.state.canonical import NO_HASH, canonical, hash_of
from newagent.state.recording import Entry, RecordedRound, Recording, rolling
from newagent.state.sql.tables import conversations, journal, messages, schedule_versions
from newagent.state.sql.transaction import Transaction


async def append(connection: Transaction, conversation_id: str, entry: Entry) -> None:
    """Adds a row."""
    row = {name: getattr(entry, name) for name in Entry.__dataclass_fields__}
    await connection.execute(insert(journal).values(conversation_id=conversation_id, hash=entry.hash, **row))


async def holds(connection: Transaction, conversation_id: str, round_id: str) -> bool:
    """Whether a round was committed, once nobody holds the head of its conversation."""
    head = select(conversations.c.version).where(conversations.c.id == conversation_id).with_for_update()
    await connection.execute(head)
    found = select(journal.c.version).where(
        journal.c.conversation_id == conversation_id, journal.c.round_id == round_id
    )
    return (await connection.execute(found)).first() is not None


async def read(connection: Transaction, conversation_id: str) -> list[Entry]:
    """All rows in order."""
    found = await _rows(connection, conversation_id)
    return [entry for entry, _ in found]


async def recorded(connection: Transaction, user_id: str, conversation_id: str) -> Recording:
    """A conversation with everything that its rounds added."""
    of = conversations.c.id == conversation_id
    head = (await connection.execute(select(conversations).where(of))).one()
    said: dict[int, list[dict[str, Any]]] = {}
    query = select(messages.c.version, messages.c.document).where(messages.c.conversation_id == conversation_id)
    for row in await connection.execute(query.order_by(messages.c.position)):
        said.setdefault(row.version, []).append(row.document)
    made = select(schedule_versions.c.version, schedule_versions.c.document)
    made = made.where(schedule_versions.c.conversation_id == conversation_id)
    schedules = {row.version: row.document for row in await connection.execute(made)}
    rounds = tuple(
        RecordedRound(entry, stored, tuple(said.get(entry.version, ())), schedules.get(entry.version))
        for entry, stored in await _rows(connection, conversation_id)
    )
    return Recording(user_id, conversation_id, rounds, head.version, head.journal_hash, head.agent_state)


async def verify(connection: Transaction, conversation_id: str) -> int:
    """Checks the whole chain, and the stored states against its last row; returns the number of rounds.

    Raises `StoreError("journal_broken")` with the version of the first row that is not as it was written.
    """
    previous, expected = NO_HASH, 0
    last: Entry | None = None
    for last, stored in await _rows(connection, conversation_id):
        expected += 1
        if last.version != expected:
            raise _broken(expected, "is missing")
        if last.previous_hash != previous or last.hash != stored:
            raise _broken(expected, "was changed")
        previous = stored
    head = (await connection.execute(select(conversations).where(conversations.c.id == conversation_id))).one()
    if (head.version, head.journal_hash) != (expected, previous):
        raise _broken(expected + 1, "is missing")
    if last is not None:
        found = (
            hash_of(canonical(head.agent_state)),
            await _message_hash(connection, conversation_id),
            await _schedule_hash(connection, conversation_id, head.schedule_version),
        )
        for name, value, recorded in zip(
            ("agent state", "messages", "schedule"),
            found,
            (last.state_hash, last.message_hash, last.schedule_hash),
            strict=True,
        ):
            if value != recorded:
                raise StoreError("journal_broken", f"the stored {name} differ from the journal", version=expected)
    return expected


async def _rows(connection: Transaction, conversation_id: str) -> list[tuple[Entry, str]]:
    query = select(journal).where(journal.c.conversation_id == conversation_id).order_by(journal.c.version)
    names = tuple(Entry.__dataclass_fields__)
    return [
        (Entry(**{name: getattr(row, name) for name in names}), row.hash) for row in await connection.execute(query)
    ]


async def _message_hash(connection: Transaction, conversation_id: str) -> str:
    query = select(messages.c.document).where(messages.c.conversation_id == conversation_id)
    found = await connection.execute(query.order_by(messages.c.position))
    return rolling(NO_HASH, [canonical(document) for document in found.scalars()])


async def _schedule_hash(connection: Transaction, conversation_id: str, schedule_version: int) -> str:
    query = select(schedule_versions.c.document).where(
        schedule_versions.c.conversation_id == conversation_id,
        schedule_versions.c.schedule_version == schedule_version,
    )
    document = (await connection.execute(query)).scalar()
    return NO_HASH if document is None else hash_of(canonical(document))


def _broken(version: int, how: str) -> StoreError:
    return StoreError("journal_broken", f"the journal is broken: round {version} {how}", version=version)
