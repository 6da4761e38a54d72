"""A small term, and helpers to write rounds of a conversation on it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from newagent.calendars.model import Course, ImportResult, Meeting
from newagent.schedule.calendar import Semester
from newagent.schedule.edits import Edited, place
from newagent.schedule.model import ScheduleState
from newagent.state.documents import AgentState, Message
from newagent.state.sql.engine import is_sqlite
from newagent.state.sql.store import SqlStore
from newagent.state.store import Round, Session, Stored
from newagent.stream.events import NewEvent

USER = "student"
NOW = dt.datetime(2026, 3, 2, 1, tzinfo=dt.UTC)
SEMESTER = Semester(start_date=dt.date(2026, 3, 2), weeks=4)
MATHS = Course("高等数学", "A301", tuple(Meeting(week, 1, 1, 2) for week in (1, 2, 3, 4)))
SPARE = Course("思政", "", (Meeting(1, 2, 1, 4), Meeting(1, 2, 5, 6), Meeting(3, 2, 1, 4)), can_embed=True)
TERM = ImportResult(SEMESTER, (MATHS, SPARE))


def task_class(**changes: Any) -> dict[str, Any]:
    """The document of a class of three items of two sections in week 1 and 2."""
    return {
        "name": "概率论",
        "start_date": "2026-03-02",
        "end_date": "2026-03-15",
        "total_slots": 6,
        "subject_type": "quantitative",
        "items": [{"name": f"第{number}章"} for number in (1, 2, 3)],
        **changes,
    }


def url_of(path: Path) -> str:
    """The address of a database file."""
    return f"sqlite+aiosqlite:///{path}"


async def ready(store: SqlStore, conversation_id: str = "c1", user: str = USER) -> tuple[Session, int]:
    """A conversation with the term, one class, and the class loaded as its schedule."""
    await store.import_courses(user, TERM)
    class_id = await store.put_task_class(user, task_class())
    session = await store.create_conversation(user, conversation_id, NOW)
    async with store.round(session, NOW, fenced=False, take_lease=True) as transaction:
        schedule = await transaction.timetable.load_state(None, NOW)
        stored = await transaction.save(turn(session.state, schedule))
    return stored.session, class_id


def turn(state: AgentState, schedule: ScheduleState | None = None, text: str = "帮我安排") -> Round:
    """A turn round with one message and two events."""
    return Round(
        kind="turn",
        state=state.model_copy(update={"phase": "planning", "run_id": "run_1"}),
        messages=(Message(role="user", text=text, run_id="run_1"),),
        schedule=schedule,
        events=(NewEvent("user_text", text, role="user"), NewEvent("schedule_updated", payload={"version": 1})),
        journal={"turn": {"text": text}},
        title=text[:24],
        lease_until=NOW + dt.timedelta(seconds=60),
    )


def putting(state: ScheduleState, *places: tuple[int, int, int]) -> ScheduleState:
    """The state with the items of some (index, day, start) placed."""
    items = state.items
    for index, day, start in places:
        edited = place(state, items[index].id, day, start)
        assert isinstance(edited, Edited), edited
        state = edited.state
    return state


async def tamper(store: SqlStore, statement: str, *parameters: str) -> None:
    """Runs a statement, with "?" for each parameter, behind the store's back."""
    async with store._database.write() as connection:
        if not is_sqlite(store._database._engine.url):
            statement = statement.replace("?", "%s")
        await connection.run_sync(lambda raw: raw.exec_driver_sql(statement, parameters or None))


async def save(store: SqlStore, session: Session, written: Round, **options: Any) -> Stored:
    """Commits a round."""
    async with store.round(session, NOW, **{"fenced": True, **options}) as transaction:
        return await transaction.save(written)
