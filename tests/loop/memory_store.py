"""A store in memory for tests of the loop: the protocol's promises, nothing of SQL."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from newagent.errors import NotFoundError, RefusedError, StaleHeadError
from newagent.schedule.model import ScheduleState
from newagent.state.canonical import canonical, hash_of
from newagent.state.documents import AgentState
from newagent.state.recording import Entry, RecordedRound, Recording, rolling
from newagent.state.snapshots import dump_agent, dump_message, dump_schedule
from newagent.state.store import Round, Session, Stored
from newagent.stream.events import Event


@dataclass
class MemoryTimetable:
    """The stored timetable: what a fresh load gives, and what was applied."""

    facts: ScheduleState | None
    applied: list[tuple[int, int, int]]

    async def load_state(self, task_class_ids: tuple[int, ...] | None, now: dt.datetime) -> ScheduleState:
        if self.facts is None:
            raise RefusedError("no_semester", "there is no semester")
        return self.facts

    async def apply(self, schedule: ScheduleState, task_class_ids: tuple[int, ...] | None) -> list[dict[str, Any]]:
        rows = [
            (task.source_id, task.slot.day, task.slot.start)
            for task in schedule.items
            if task.status == "suggested" and task.slot is not None
        ]
        if any(row[0] == other[0] for row in rows for other in self.applied):
            raise RefusedError("timetable_conflict", "taken", conflicts=[])
        self.applied.extend(rows)
        return [{"task_item_id": row[0]} for row in rows]


class MemoryStore:
    """Conversations by id; a round is checked against the version and committed on leaving."""

    def __init__(self, facts: ScheduleState | None = None) -> None:
        self.timetable = MemoryTimetable(facts, [])
        self.sessions: dict[tuple[str, str], Session] = {}
        self.timeline: dict[str, list[Event]] = {}
        self.answers: dict[str, dict[str, Any]] = {}
        self.schedules: dict[tuple[str, int], ScheduleState] = {}
        self.journal: list[dict[str, Any]] = []
        self.rounds: dict[str, list[RecordedRound]] = {}
        self.commits = 0

    async def create_conversation(self, user_id: str, conversation_id: str, now: dt.datetime) -> Session:
        state = AgentState(conversation_id=conversation_id, user_id=user_id)
        session = Session(0, 0, None, state, (), None, 0, 0)
        self.sessions[user_id, conversation_id] = session
        return session

    async def load(self, user_id: str, conversation_id: str) -> Session:
        try:
            return self.sessions[user_id, conversation_id]
        except KeyError:
            raise NotFoundError("conversation_not_found", "there is no such conversation") from None

    @asynccontextmanager
    async def round(
        self, session: Session, now: dt.datetime, *, fenced: bool, take_lease: bool = False
    ) -> AsyncIterator[MemoryRound]:
        key = (session.state.user_id, session.state.conversation_id)
        head = self.sessions[key]
        if head.version != session.version or (fenced and head.token != session.token):
            raise StaleHeadError("stale_head", "the head moved")
        kept = list(self.timetable.applied)
        transaction = MemoryRound(self, session, now, take_lease)
        try:
            yield transaction
        except BaseException:
            self.timetable.applied[:] = kept
            raise
        assert transaction.stored is not None
        if self.sessions[key].version != session.version:
            self.timetable.applied[:] = kept
            raise StaleHeadError("stale_head", "the head moved")
        transaction.commit(key)

    @asynccontextmanager
    async def trial(self, user_id: str) -> AsyncIterator[MemoryTimetable]:
        kept = list(self.timetable.applied)
        yield self.timetable
        self.timetable.applied[:] = kept

    async def events(self, user_id: str, conversation_id: str, after_seq: int = 0) -> list[Event]:
        return [event for event in self.timeline.get(conversation_id, []) if event.seq > after_seq]

    async def schedule_at(self, user_id: str, conversation_id: str, version: int) -> ScheduleState:
        try:
            return self.schedules[conversation_id, version]
        except KeyError:
            raise NotFoundError("version_not_found", f"no schedule version {version}") from None

    async def due(self, now: dt.datetime, limit: int = 100) -> list[tuple[str, str]]:
        ends = {
            key: session.state.interaction.expires_at if session.state.interaction else session.lease_until or now
            for key, session in self.sessions.items()
            if session.state.phase != "idle"
        }
        return sorted((key for key, end in ends.items() if end <= now), key=lambda key: (ends[key], key))[:limit]

    async def extend_lease(self, session: Session, until: dt.datetime) -> None:
        key = (session.state.user_id, session.state.conversation_id)
        head = self.sessions[key]
        if head.token != session.token or head.lease_until is None:
            raise StaleHeadError("stale_head", "another owner")
        self.sessions[key] = replace(head, lease_until=until)

    async def recording(self, user_id: str, conversation_id: str) -> Recording:
        session = self.sessions[user_id, conversation_id]
        rounds = tuple(self.rounds.get(conversation_id, ()))
        last = rounds[-1].hash if rounds else ""
        return Recording(user_id, conversation_id, rounds, session.version, last, dump_agent(session.state))

    def record(self, session: Session, written: Round, now: dt.datetime) -> None:
        rounds = self.rounds.setdefault(session.state.conversation_id, [])
        before = rounds[-1] if rounds else None
        messages = [dump_message(message) for message in written.messages]
        schedule = dump_schedule(written.schedule) if written.schedule is not None else None
        entry = Entry(
            version=session.version,
            round_id=f"r{session.version}",
            kind=written.kind,
            body=json.loads(canonical(written.journal)),
            state_hash=hash_of(canonical(dump_agent(written.state))),
            message_hash=rolling(before.entry.message_hash if before else "", [canonical(one) for one in messages]),
            schedule_hash=hash_of(canonical(schedule)) if schedule else before.entry.schedule_hash if before else "",
            previous_hash=before.hash if before else "",
            created_at=now,
        )
        as_stored = json.loads(canonical([messages, schedule]))
        rounds.append(RecordedRound(entry, entry.hash, tuple(as_stored[0]), as_stored[1]))

    async def consumed(self, user_id: str, conversation_id: str, interaction_id: str) -> dict[str, Any] | None:
        return self.answers.get(interaction_id)


class MemoryRound:
    """One open round."""

    def __init__(self, store: MemoryStore, session: Session, now: dt.datetime, take_lease: bool) -> None:
        self.store = store
        self.session = session
        self.now = now
        self.take_lease = take_lease
        self.timetable = store.timetable
        self.stored: Stored | None = None
        self.written: Round | None = None

    async def save(self, written: Round) -> Stored:
        events = tuple(
            Event(self.session.last_seq + i, e.kind, e.content, e.payload, e.role, self.now)
            for i, e in enumerate(written.events, 1)
        )
        changed = written.schedule is not None
        session = replace(
            self.session,
            version=self.session.version + 1,
            token=self.session.token + self.take_lease,
            lease_until=written.lease_until,
            state=written.state,
            messages=(*self.session.messages, *written.messages),
            schedule=written.schedule if changed else self.session.schedule,
            schedule_version=self.session.schedule_version + changed,
            last_seq=self.session.last_seq + len(events),
            title=written.title or self.session.title,
        )
        self.stored, self.written = Stored(session, events), written
        return self.stored

    def commit(self, key: tuple[str, str]) -> None:
        assert self.stored is not None
        assert self.written is not None
        session, store = self.stored.session, self.store
        store.commits += 1
        store.sessions[key] = session
        store.timeline.setdefault(key[1], []).extend(self.stored.events)
        store.record(session, self.written, self.now)
        store.journal.append({"kind": self.written.kind, **self.written.journal})
        if self.written.schedule is not None:
            store.schedules[key[1], session.schedule_version] = self.written.schedule
        if self.written.consumed is not None:
            identity = self.written.consumed["interaction_id"]
            assert identity not in store.answers
            store.answers[identity] = self.written.consumed
