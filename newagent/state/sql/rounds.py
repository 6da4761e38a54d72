"""A round as one transaction: the head is held at the expected version, everything is added, the head moves on.

What a round writes depends on what the round did and never on how long the conversation is: the hash of the messages
rolls on from the head, and rows are only added.
"""

from __future__ import annotations

import datetime as dt
import json
import uuid
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, exc, insert, select, update

from newagent.errors import StaleHeadError
from newagent.state import snapshots
from newagent.state.canonical import canonical, hash_of
from newagent.state.sql import heads, journal
from newagent.state.sql.tables import conversations, interactions, messages, schedule_versions, timeline
from newagent.state.sql.timetable import SqlTimetable
from newagent.state.sql.transaction import Transaction
from newagent.state.store import Round, Session, Stored
from newagent.stream.events import Event

_HELD = ("title", "version", "token", "schedule_version", "schedule_hash", "message_count", "message_hash", "last_seq")


async def hold_head(connection: Transaction, session: Session, *, fenced: bool) -> Row[Any]:
    """Locks the head of a session that is still at the session's version.

    Raises `StaleHeadError("stale_head")`, also where `fenced` and another owner has taken the run, and
    `NotFoundError("conversation_not_found")`.
    """
    columns = [conversations.c[name] for name in (*_HELD, "journal_hash")]
    query = select(*columns).where(
        conversations.c.id == session.state.conversation_id, conversations.c.user_id == session.state.user_id
    )
    head = heads.found((await connection.execute(query.with_for_update())).first())
    if head.version != session.version:
        raise StaleHeadError("stale_head", f"the conversation is at version {head.version}, not {session.version}")
    if fenced and head.token != session.token:
        raise StaleHeadError("stale_head", "the run belongs to another owner")
    return head


def due_at(written: Round, now: dt.datetime) -> dt.datetime | None:
    """When somebody must look after the conversation if nobody has until then: its card ends, or its lease.

    A run without a lease was handed back and is due at once; None where nothing runs and nothing waits.
    """
    if written.state.interaction is not None:
        return written.state.interaction.expires_at
    return None if written.state.phase in ("idle", "waiting") else written.lease_until or now


class SqlRound:
    """The open transaction of one written."""

    def __init__(
        self, connection: Transaction, session: Session, head: Row[Any], now: dt.datetime, *, take_lease: bool
    ) -> None:
        self._connection = connection
        self._session = session
        self._head = head
        self._now = now
        self._token = head.token + take_lease
        self.round_id = uuid.uuid4().hex
        self.stored: Stored | None = None

    @property
    def timetable(self) -> SqlTimetable:
        """See `RoundTransaction.timetable`."""
        return SqlTimetable(self._connection, self._session.state.user_id)

    async def save(self, written: Round) -> Stored:
        """See `RoundTransaction.save`. Raises `StaleHeadError` for an interaction that was consumed before."""
        assert self.stored is None, "a round is saved once"
        head, version = self._head, self._head.version + 1
        documents = [snapshots.dump_message(message) for message in written.messages]
        agent = snapshots.dump_agent(written.state)
        schedule_version, schedule_hash = head.schedule_version, head.schedule_hash
        if written.schedule is not None:
            document = snapshots.dump_schedule(written.schedule)
            schedule_version, schedule_hash = schedule_version + 1, hash_of(canonical(document))
            await self._add_schedule(version, schedule_version, document)
        entry = journal.Entry(
            version=version,
            round_id=self.round_id,
            kind=written.kind,
            body=json.loads(canonical(written.journal)),
            state_hash=hash_of(canonical(agent)),
            message_hash=journal.rolling(head.message_hash, [canonical(document) for document in documents]),
            schedule_hash=schedule_hash,
            previous_hash=head.journal_hash,
            created_at=self._now,
        )
        title = written.title if written.title is not None and head.title == self._session.title else head.title
        await self._consume(version, written.consumed)
        await self._add_messages(version, documents)
        events = await self._add_events(version, written)
        await journal.append(self._connection, self._session.state.conversation_id, entry)
        await self._move_head(
            version=version,
            token=self._token,
            title=title,
            lease_until=written.lease_until,
            due_at=due_at(written, self._now),
            run_id=written.state.run_id,
            phase=written.state.phase,
            agent_state=agent,
            schedule_version=schedule_version,
            schedule_hash=schedule_hash,
            message_count=head.message_count + len(documents),
            message_hash=entry.message_hash,
            last_seq=head.last_seq + len(events),
            journal_hash=entry.hash,
            updated_at=self._now,
        )
        session = replace(
            self._session,
            version=version,
            token=self._token,
            lease_until=written.lease_until,
            state=written.state,
            messages=(*self._session.messages, *written.messages),
            schedule=written.schedule if written.schedule is not None else self._session.schedule,
            schedule_version=schedule_version,
            last_seq=head.last_seq + len(events),
            title=title,
        )
        self.stored = Stored(session, events)
        return self.stored

    async def _add_schedule(self, version: int, schedule_version: int, document: dict[str, Any]) -> None:
        row = {"schedule_version": schedule_version, "document": document, "created_at": self._now}
        await self._connection.execute(insert(schedule_versions).values(**self._key(version), **row))

    async def _add_messages(self, version: int, documents: list[dict[str, Any]]) -> None:
        rows = [
            {**self._key(version), "position": self._head.message_count + index, "document": document}
            for index, document in enumerate(documents, 1)
        ]
        if rows:
            await self._connection.execute(insert(messages), rows)

    async def _add_events(self, version: int, written: Round) -> tuple[Event, ...]:
        events = tuple(
            Event(self._head.last_seq + index, new.kind, new.content, new.payload, new.role, self._now)
            for index, new in enumerate(written.events, 1)
        )
        names = ("seq", "kind", "role", "content", "payload", "tokens_consumed", "created_at")
        rows = [{**self._key(version), **{name: getattr(event, name) for name in names}} for event in events]
        if rows:
            await self._connection.execute(insert(timeline), rows)
        return events

    async def _consume(self, version: int, record: dict[str, Any] | None) -> None:
        if record is None:
            return
        row = insert(interactions).values(
            **self._key(version),
            interaction_id=record["interaction_id"],
            answer=record["answer"],
            result=record["result"],
            consumed_at=self._now,
        )
        try:
            await self._connection.execute(row)
        except exc.IntegrityError:
            raise StaleHeadError("interaction_consumed", "the confirmation has been answered before") from None

    async def _move_head(self, **values: Any) -> None:
        change = update(conversations).where(
            conversations.c.id == self._session.state.conversation_id,
            conversations.c.version == self._head.version,
            conversations.c.token == self._head.token,
        )
        moved = await self._connection.execute(change.values(**values))
        if moved.rowcount != 1:
            raise StaleHeadError("stale_head", "the conversation moved while its round was written")

    def _key(self, version: int) -> dict[str, Any]:
        return {"conversation_id": self._session.state.conversation_id, "version": version}
