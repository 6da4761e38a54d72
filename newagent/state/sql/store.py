"""The store on SQL: conversations and their rounds, and each user's timetable.

    store = await SqlStore.open("sqlite+aiosqlite:////var/lib/newagent/newagent.db")

Every method is one transaction. Failures of the database are `StoreError` with the codes of
`newagent.state.sql.failures`; another user's things do not exist: `NotFoundError`.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from newagent.calendars.model import ImportResult
from newagent.errors import StaleHeadError, StoreError
from newagent.schedule.calendar import Semester
from newagent.schedule.model import ScheduleState
from newagent.state.recording import Entry, Recording
from newagent.state.sql import classes, heads, journal, terms
from newagent.state.sql.engine import Database
from newagent.state.sql.exporting import StoredTimetable, stored_timetable
from newagent.state.sql.facts import StoredClass, build_state
from newagent.state.sql.failures import BUSY, CONFLICT, DEADLOCK
from newagent.state.sql.heads import ConversationRow, Glance
from newagent.state.sql.reading import read_classes, read_facts, semester_in_force
from newagent.state.sql.rounds import SqlRound, hold_head
from newagent.state.sql.timetable import SqlTimetable
from newagent.state.sql.transaction import Transaction
from newagent.state.store import Session
from newagent.stream.events import Event

COMMIT_DELAYS = (0.0, 0.2, 0.8, 2.0)
"""Seconds between the attempts to learn what became of a commit; a server that restarts is back meanwhile."""


class SqlStore:
    """See `newagent.state.store.Store`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, url: str, *, upgrade: bool = False) -> SqlStore:
        """Opens the database of an address; see `Database.open`."""
        return cls(await Database.open(url, upgrade=upgrade))

    async def close(self) -> None:
        """Closes the database."""
        await self._database.close()

    async def revision(self) -> str:
        """The revision of the schema."""
        return await self._database.revision()

    # Conversations

    async def create_conversation(self, user_id: str, conversation_id: str, now: dt.datetime) -> Session:
        """See `Store.create_conversation`."""
        async with self._database.write() as connection:
            return await heads.create(connection, user_id, conversation_id, now)

    async def load(self, user_id: str, conversation_id: str) -> Session:
        """See `Store.load`."""
        async with self._database.read() as connection:
            return await heads.load(connection, user_id, conversation_id)

    async def glance(self, user_id: str, conversation_id: str) -> Glance:
        """The head of a conversation alone. Raises `NotFoundError("conversation_not_found")`."""
        async with self._database.read() as connection:
            return await heads.glance(connection, user_id, conversation_id)

    async def list_conversations(self, user_id: str) -> list[ConversationRow]:
        """A user's conversations, the one that changed last first."""
        async with self._database.read() as connection:
            return await heads.listed(connection, user_id)

    async def rename(self, user_id: str, conversation_id: str, title: str) -> None:
        """Gives a conversation a title. Raises `NotFoundError`, `InputError("invalid_title")`."""
        async with self._database.write() as connection:
            await heads.rename(connection, user_id, conversation_id, title)

    async def delete(self, user_id: str, conversation_id: str) -> None:
        """Deletes a conversation and all of its rows; what was applied stays in the timetable."""
        async with self._database.write() as connection:
            await heads.remove(connection, user_id, conversation_id)

    async def events(self, user_id: str, conversation_id: str, after_seq: int = 0) -> list[Event]:
        """See `Store.events`."""
        async with self._database.read() as connection:
            await heads.check_owner(connection, user_id, conversation_id)
            return await heads.events_after(connection, conversation_id, after_seq)

    async def schedule_at(self, user_id: str, conversation_id: str, version: int) -> ScheduleState:
        """See `Store.schedule_at`."""
        async with self._database.read() as connection:
            await heads.check_owner(connection, user_id, conversation_id)
            return await heads.schedule_at(connection, conversation_id, version)

    async def consumed(self, user_id: str, conversation_id: str, interaction_id: str) -> dict[str, Any] | None:
        """See `Store.consumed`."""
        async with self._database.read() as connection:
            await heads.check_owner(connection, user_id, conversation_id)
            return await heads.consumed(connection, conversation_id, interaction_id)

    async def due(self, now: dt.datetime, limit: int = 100) -> list[tuple[str, str]]:
        """Conversations (user, id) of all users whose lease or card has ended, the longest ago first."""
        async with self._database.read() as connection:
            return await heads.due(connection, now, limit)

    async def extend_lease(self, session: Session, until: dt.datetime) -> None:
        """Holds a run for longer; no round. Raises `StaleHeadError` when it has ended or has another owner."""
        async with self._database.write() as connection:
            await heads.extend_lease(connection, session, until)

    # Rounds

    @asynccontextmanager
    async def round(
        self, session: Session, now: dt.datetime, *, fenced: bool, take_lease: bool = False
    ) -> AsyncGenerator[SqlRound]:
        """See `Store.round`; left without `save`, nothing is written."""
        transaction: SqlRound | None = None
        try:
            async with self._database.write() as connection:
                head = await hold_head(connection, session, fenced=fenced)
                transaction = SqlRound(connection, session, head, now, take_lease=take_lease)
                yield transaction
        except StaleHeadError:
            raise
        except StoreError as error:
            if error.code in (DEADLOCK, CONFLICT):
                raise StaleHeadError("stale_head", error.message) from error
            # The commit may have happened although its acknowledgement was lost: the journal tells.
            if transaction is None or transaction.stored is None or not await self._committed(session, transaction):
                raise

    @asynccontextmanager
    async def trial(self, user_id: str) -> AsyncGenerator[SqlTimetable]:
        """See `Store.trial`."""
        async with self._database.write(keep=False) as connection:
            yield SqlTimetable(connection, user_id)

    async def journal(self, user_id: str, conversation_id: str) -> list[Entry]:
        """The journal of a conversation in order."""
        async with self._database.read() as connection:
            await heads.check_owner(connection, user_id, conversation_id)
            return await journal.read(connection, conversation_id)

    async def recording(self, user_id: str, conversation_id: str) -> Recording:
        """A conversation as it was recorded, for a replay."""
        async with self._database.read() as connection:
            await heads.check_owner(connection, user_id, conversation_id)
            return await journal.recorded(connection, user_id, conversation_id)

    async def verify_journal(self, user_id: str, conversation_id: str) -> int:
        """Checks the hash chain and the stored states against it; returns the number of rounds.

        Raises `StoreError("journal_broken")` with the version of the first row that is not as it was written.
        """
        async with self._database.read() as connection:
            await heads.check_owner(connection, user_id, conversation_id)
            return await journal.verify(connection, conversation_id)

    async def _committed(self, session: Session, transaction: SqlRound) -> bool:
        """Whether a round is in the journal, once its transaction is over: it held the head, which is waited for."""
        for delay in COMMIT_DELAYS:
            await asyncio.sleep(delay)
            try:
                async with self._database.write(keep=False) as connection:
                    return await journal.holds(connection, session.state.conversation_id, transaction.round_id)
            except StoreError as error:
                if error.code == BUSY:  # the server still holds it open, for somebody whom it cannot hear
                    return False
        return False

    # The timetable

    async def put_semester(self, user_id: str, semester: Semester) -> int:
        """Stores a semester and puts it in force; returns its id. Raises `RefusedError("semester_too_small")`."""
        return await self._database.written(lambda connection: terms.put_semester(connection, user_id, semester))

    async def read_semester(self, user_id: str) -> Semester | None:
        """The semester in force, None before the first."""
        async with self._database.read() as connection:
            stored = await semester_in_force(connection, user_id)
            return None if stored is None else stored.semester

    async def import_courses(self, user_id: str, result: ImportResult, *, replace: bool = False) -> dict[str, Any]:
        """Stores the semester and courses of a file; returns `terms.Imported` as a document.

        Stored courses that the file does not have are listed as absent, and deleted only with `replace`.
        """
        return (
            await self._database.written(lambda held: terms.import_courses(held, user_id, result, replace=replace))
        ).as_json()

    async def import_term(
        self, user_id: str, result: ImportResult, task_classes: list[dict[str, Any]], *, replace: bool = False
    ) -> dict[str, Any]:
        """Stores a file and task classes, all or nothing; see `import_courses` and `put_task_class`."""

        async def all_of_it(connection: Transaction) -> dict[str, Any]:
            imported = await terms.import_courses(connection, user_id, result, replace=replace)
            ids = [await classes.put(connection, user_id, document) for document in task_classes]
            return {**imported.as_json(), "task_classes": len(ids), "task_class_ids": ids}

        return await self._database.written(all_of_it)

    async def delete_course(self, user_id: str, course_id: int) -> None:
        """Deletes a course. Raises `NotFoundError("unknown_course")`."""
        await self._database.written(lambda connection: terms.remove_course(connection, user_id, course_id))

    async def put_task_class(self, user_id: str, document: dict[str, Any]) -> int:
        """Stores a task class with its items; returns its id. See `classes.put` for the document and errors."""
        return await self._database.written(lambda connection: classes.put(connection, user_id, document))

    async def delete_task_class(self, user_id: str, task_class_id: int) -> None:
        """Deletes a task class with its items, also those applied. Raises `NotFoundError("unknown_task_class")`."""
        await self._database.written(lambda connection: classes.remove(connection, user_id, task_class_id))

    async def task_classes(self, user_id: str) -> tuple[StoredClass, ...]:
        """The task classes with their items, and where these were applied."""
        async with self._database.read() as connection:
            return await read_classes(connection, user_id)

    async def read_timetable(self, user_id: str) -> StoredTimetable:
        """Semester, courses and applied items, as an export takes them. Raises `RefusedError("no_semester")`."""
        async with self._database.read() as connection:
            return stored_timetable(await read_facts(connection, user_id))

    async def whole_semester(self, user_id: str) -> ScheduleState:
        """The stored timetable as a state over all days of the semester. Raises `RefusedError("no_semester")`."""
        async with self._database.read() as connection:
            facts = await read_facts(connection, user_id)
        semester = facts.semester
        days = tuple(semester.dates(semester.start_date, semester.end_date))
        return build_state(facts, days, {one.task_class.id for one in facts.classes})
