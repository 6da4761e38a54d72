"""Conversations: their heads, made, read, listed, renamed and deleted; and what hangs below a head, read back."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, delete, exc, insert, select, update

from newagent.errors import InputError, NotFoundError, RefusedError, StaleHeadError
from newagent.schedule.model import ScheduleState
from newagent.state import snapshots
from newagent.state.canonical import NO_HASH
from newagent.state.documents import AgentState
from newagent.state.sql.keys import MAX_ROW, check_user, sought
from newagent.state.sql.tables import (
    ID_LENGTH,
    TITLE_LENGTH,
    conversations,
    interactions,
    messages,
    schedule_versions,
    timeline,
)
from newagent.state.sql.transaction import Transaction
from newagent.state.store import Session
from newagent.stream.events import Event


@dataclass(frozen=True)
class ConversationRow:
    """A conversation as a list of conversations shows it."""

    conversation_id: str
    title: str
    phase: str
    version: int
    created_at: dt.datetime
    updated_at: dt.datetime

    def as_json(self) -> dict[str, Any]:
        """The row as a JSON document."""
        return {
            "conversation_id": self.conversation_id,
            "title": self.title,
            "phase": self.phase,
            "version": self.version,
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }


@dataclass(frozen=True)
class Glance:
    """The little of a conversation that tells its readers whether something has happened.

    `scheduled_at` is when its schedule version was made; None before the first.
    """

    version: int
    token: int
    phase: str
    lease_until: dt.datetime | None
    last_seq: int
    schedule_version: int
    scheduled_at: dt.datetime | None


async def create(connection: Transaction, user_id: str, conversation_id: str, now: dt.datetime) -> Session:
    """Makes an empty conversation. Raises `RefusedError("conversation_exists")` and `InputError`."""
    check_user(user_id)
    if not 0 < len(conversation_id) <= ID_LENGTH:
        raise InputError("invalid_conversation_id", f"a conversation's id has 1 to {ID_LENGTH} characters")
    state = AgentState(conversation_id=conversation_id, user_id=user_id)
    row = insert(conversations).values(
        id=conversation_id,
        user_id=user_id,
        title="",
        version=0,
        token=0,
        phase=state.phase,
        agent_state=snapshots.dump_agent(state),
        schedule_version=0,
        schedule_hash=NO_HASH,
        message_count=0,
        message_hash=NO_HASH,
        last_seq=0,
        journal_hash=NO_HASH,
        created_at=now,
        updated_at=now,
    )
    try:
        await connection.execute(row)
    except exc.IntegrityError:
        raise RefusedError("conversation_exists", "there is a conversation with this id already") from None
    return Session(0, 0, None, state, (), None, 0, 0)


async def load(connection: Transaction, user_id: str, conversation_id: str) -> Session:
    """A conversation whole. Raises `NotFoundError("conversation_not_found")`."""
    query = select(conversations).where(conversations.c.id == conversation_id, conversations.c.user_id == user_id)
    head = found((await connection.execute(query)).first())
    documents = await connection.execute(
        select(messages.c.document).where(messages.c.conversation_id == conversation_id).order_by(messages.c.position)
    )
    schedule: ScheduleState | None = None
    if head.schedule_version:
        schedule = await schedule_at(connection, conversation_id, head.schedule_version)
    return Session(
        version=head.version,
        token=head.token,
        lease_until=head.lease_until,
        state=snapshots.read_agent(head.agent_state),
        messages=tuple(snapshots.read_message(document) for document in documents.scalars()),
        schedule=schedule,
        schedule_version=head.schedule_version,
        last_seq=head.last_seq,
        title=head.title,
    )


async def glance(connection: Transaction, user_id: str, conversation_id: str) -> Glance:
    """The head alone, whatever the length of the conversation. Raises `NotFoundError("conversation_not_found")`."""
    names = ("version", "token", "phase", "lease_until", "last_seq", "schedule_version")
    made = (schedule_versions.c.conversation_id == conversations.c.id) & (
        schedule_versions.c.schedule_version == conversations.c.schedule_version
    )
    query = select(*(conversations.c[name] for name in names), schedule_versions.c.created_at)
    query = query.join(schedule_versions, made, isouter=True).where(
        conversations.c.id == conversation_id, conversations.c.user_id == user_id
    )
    return Glance(*found((await connection.execute(query)).first()))


async def extend_lease(connection: Transaction, session: Session, until: dt.datetime) -> None:
    """Holds a run for longer; its version stays. Raises `StaleHeadError` when it belongs to another owner."""
    change = update(conversations).where(
        conversations.c.id == session.state.conversation_id,
        conversations.c.user_id == session.state.user_id,
        conversations.c.token == session.token,
        conversations.c.lease_until.is_not(None),
    )
    if (await connection.execute(change.values(lease_until=until, due_at=until))).rowcount != 1:
        raise StaleHeadError("stale_head", "the run has ended or belongs to another owner")


async def due(connection: Transaction, now: dt.datetime, limit: int) -> list[tuple[str, str]]:
    """Conversations (user, id) whose lease or card has ended, the longest ago first."""
    query = select(conversations.c.user_id, conversations.c.id).where(conversations.c.due_at <= now)
    found = await connection.execute(query.order_by(conversations.c.due_at, conversations.c.id).limit(limit))
    return [(row.user_id, row.id) for row in found]


async def check_owner(connection: Transaction, user_id: str, conversation_id: str) -> None:
    """Raises `NotFoundError("conversation_not_found")` unless the conversation is this user's."""
    query = select(conversations.c.id).where(conversations.c.id == conversation_id, conversations.c.user_id == user_id)
    found((await connection.execute(query)).first())


async def schedule_at(connection: Transaction, conversation_id: str, version: int) -> ScheduleState:
    """A version of a conversation's schedule. Raises `NotFoundError("version_not_found")`."""
    query = select(schedule_versions.c.document).where(
        schedule_versions.c.conversation_id == conversation_id, schedule_versions.c.schedule_version == sought(version)
    )
    document = (await connection.execute(query)).scalar()
    if document is None:
        raise NotFoundError("version_not_found", f"the conversation has no schedule version {version}")
    return snapshots.read_schedule(document)


async def events_after(connection: Transaction, conversation_id: str, after_seq: int) -> list[Event]:
    """The durable events after a seq, in order."""
    query = select(timeline).where(
        timeline.c.conversation_id == conversation_id, timeline.c.seq > min(after_seq, MAX_ROW)
    )
    return [
        Event(row.seq, row.kind, row.content, row.payload, row.role, row.created_at, row.tokens_consumed)
        for row in await connection.execute(query.order_by(timeline.c.seq))
    ]


async def consumed(connection: Transaction, conversation_id: str, interaction_id: str) -> dict[str, Any] | None:
    """The recorded answer and result of a consumed interaction; None if there is none."""
    query = select(interactions).where(
        interactions.c.conversation_id == conversation_id, interactions.c.interaction_id == interaction_id
    )
    row = (await connection.execute(query)).first()
    if row is None:
        return None
    return {"interaction_id": row.interaction_id, "answer": row.answer, "result": row.result}


async def listed(connection: Transaction, user_id: str) -> list[ConversationRow]:
    """A user's conversations, the one that changed last first."""
    names = [column for column in conversations.c if column.name in ConversationRow.__dataclass_fields__]
    query = select(conversations.c.id, *names).where(conversations.c.user_id == user_id)
    order = (conversations.c.updated_at.desc(), conversations.c.id)
    return [
        ConversationRow(row.id, row.title, row.phase, row.version, row.created_at, row.updated_at)
        for row in await connection.execute(query.order_by(*order))
    ]


async def rename(connection: Transaction, user_id: str, conversation_id: str, title: str) -> None:
    """Gives a conversation a title; its version stays. Raises `NotFoundError`, `InputError("invalid_title")`."""
    words = " ".join(title.split())
    if not 0 < len(words) <= TITLE_LENGTH:
        raise InputError("invalid_title", f"a title has 1 to {TITLE_LENGTH} characters")
    change = update(conversations).where(conversations.c.id == conversation_id, conversations.c.user_id == user_id)
    await check_owner(connection, user_id, conversation_id)
    await connection.execute(change.values(title=words))


async def remove(connection: Transaction, user_id: str, conversation_id: str) -> None:
    """Deletes a conversation with everything below it. Raises `NotFoundError("conversation_not_found")`."""
    await check_owner(connection, user_id, conversation_id)
    await connection.execute(delete(conversations).where(conversations.c.id == conversation_id))


def found(row: Row[Any] | None) -> Row[Any]:
    """The head that was read. Raises `NotFoundError("conversation_not_found")` when there was none."""
    if row is None:
        raise NotFoundError("conversation_not_found", "there is no such conversation")
    return row
