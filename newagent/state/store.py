"""The store as the loop sees it: load a conversation, and write a round as one transaction.

SQL is the truth. An implementation is one package (`newagent.state.sql`); the loop never sees a table.
"""

from __future__ import annotations

import datetime as dt
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from newagent.schedule.model import ScheduleState
from newagent.state.documents import AgentState, Message
from newagent.stream.events import Event, NewEvent

RoundKind = Literal["turn", "model", "resume", "user", "system"]


@dataclass(frozen=True)
class Session:
    """Everything of a conversation at one version of its head.

    `schedule` is None until a timetable was loaded into the conversation; `token` fences the run that owns it.
    """

    version: int
    token: int
    lease_until: dt.datetime | None
    state: AgentState
    messages: tuple[Message, ...]
    schedule: ScheduleState | None
    schedule_version: int
    last_seq: int
    title: str = ""


@dataclass(frozen=True)
class Round:
    """What one round did, to be stored whole or not at all.

    `schedule` is given only when it changed. `journal` holds all that came from outside (JSON-ready). `consumed`
    is the result recorded for an interaction that this round answers: {interaction_id, answer, result}.
    """

    kind: RoundKind
    state: AgentState
    messages: tuple[Message, ...] = ()
    schedule: ScheduleState | None = None
    events: tuple[NewEvent, ...] = ()
    journal: dict[str, Any] = field(default_factory=dict[str, Any])
    consumed: dict[str, Any] | None = None
    title: str | None = None
    lease_until: dt.datetime | None = None


@dataclass(frozen=True)
class Stored:
    """What a committed round became: the new session and its events with their seq."""

    session: Session
    events: tuple[Event, ...]


class Timetable(Protocol):
    """The stored timetable of one user inside one transaction, as tools see it."""

    async def load_state(self, task_class_ids: tuple[int, ...] | None, now: dt.datetime) -> ScheduleState:
        """The window from the later of today and the first start of the classes to their last end.

        Today is the date of `now` in the time zone of the semester.

        Raises `RefusedError` (no_semester, no_task_class, unknown_task_class, outside_semester).
        """
        ...

    async def apply(self, schedule: ScheduleState, task_class_ids: tuple[int, ...] | None) -> list[dict[str, Any]]:
        """Writes the suggested items (of these classes) as rows of the timetable; returns what was written.

        Raises `RefusedError("timetable_conflict", …, conflicts=[…])` when the stored timetable no longer has room
        for any one of them; then nothing is written.
        """
        ...


class RoundTransaction(Protocol):
    """An open transaction of one round on a head that is known to be at the expected version."""

    @property
    def timetable(self) -> Timetable:
        """The user's stored timetable, in this transaction."""
        ...

    async def save(self, written: Round) -> Stored:
        """Writes the round; it is durable when the context is left without an exception."""
        ...


class Store(Protocol):
    """Conversations and their rounds."""

    async def create_conversation(self, user_id: str, conversation_id: str, now: dt.datetime) -> Session:
        """Makes an empty conversation."""
        ...

    async def load(self, user_id: str, conversation_id: str) -> Session:
        """Reads a conversation whole, from SQL. Raises `NotFoundError("conversation_not_found")`."""
        ...

    def round(
        self, session: Session, now: dt.datetime, *, fenced: bool, take_lease: bool = False
    ) -> AbstractAsyncContextManager[RoundTransaction]:
        """Opens the transaction of a round on `session.version`.

        Raises `StaleHeadError` when the head has moved, or when `fenced` and the token is no longer ours. With
        `take_lease` the round draws a new token and so ends the right of every earlier owner.
        """
        ...

    def trial(self, user_id: str) -> AbstractAsyncContextManager[Timetable]:
        """The user's stored timetable in a transaction that is always rolled back."""
        ...

    async def events(self, user_id: str, conversation_id: str, after_seq: int = 0) -> list[Event]:
        """The durable events after a seq, in order."""
        ...

    async def schedule_at(self, user_id: str, conversation_id: str, version: int) -> ScheduleState:
        """An earlier version of a conversation's schedule. Raises `NotFoundError("version_not_found")`."""
        ...

    async def due(self, now: dt.datetime, limit: int = 100) -> list[tuple[str, str]]:
        """Conversations (user, id) of all users whose lease or card has ended, the longest ago first."""
        ...

    async def extend_lease(self, session: Session, until: dt.datetime) -> None:
        """Holds a run for longer; no round. Raises `StaleHeadError` when it has ended or has another owner."""
        ...

    async def consumed(self, user_id: str, conversation_id: str, interaction_id: str) -> dict[str, Any] | None:
        """The recorded answer and result of a consumed interaction; None if there is none."""
        ...
