"""The timetable as the page draws it: the preview of a conversation, or what is stored where there is none yet."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from newagent.errors import RefusedError
from newagent.schedule.calendar import DEFAULT_SECTIONS, Semester
from newagent.schedule.cost import evaluate
from newagent.schedule.model import Day, ScheduleState, Slot, Task
from newagent.schedule.rules import fixed, protection_of
from newagent.server.calls import Asked, Calls
from newagent.state.store import Session
from newagent.tools.registry import Catalogue

calls = Calls("board")


class BoardQuery(BaseModel):
    """Whose preview; without a conversation it is the stored timetable of the whole semester."""

    conversation_id: Annotated[str, Field(min_length=1)] | None = None


class SectionOfDay(BaseModel):
    """A section of the day, "HH:MM" to "HH:MM"."""

    start: str
    end: str
    period: Literal["morning", "afternoon", "evening"]


class Entry(BaseModel):
    """A course, or an item; one without a day is pending. `id` is the number that the agent knows it by.

    A course that meets on several days has an entry for each; `movable` are the items that the student may move.
    """

    id: int
    kind: Literal["course", "task"]
    status: Literal["existing", "suggested", "pending"]
    name: str
    location: str | None = None
    can_embed: bool = False
    movable: bool
    protected: bool = False
    duration: int | None = None
    class_id: int | None = None
    task_item_id: int | None = None
    day: int | None = None
    start: int | None = None
    end: int | None = None


class ClassName(BaseModel):
    """A task class by number and name."""

    id: int
    name: str


class Score(BaseModel):
    """The judge's cost and how many items are not placed."""

    cost: int
    pending: int


class TermSize(BaseModel):
    """First day and length of the semester."""

    start_date: dt.date
    weeks: int


class Board(BaseModel):
    """Everything that is drawn. `version` and `earlier` are schedule versions: the present one, and that before."""

    conversation_id: str | None = None
    version: int | None = None
    earlier: int | None = None
    semester: TermSize | None = None
    sections: list[SectionOfDay]
    days: list[Day]
    entries: list[Entry]
    pending: list[Entry]
    classes: list[ClassName]
    preferences: dict[str, Any]
    protections: list[dict[str, Any]]
    cost: Score | None = None
    forms: dict[str, dict[str, Any]]


@calls.get("/api/v1/agent/board", errors=("conversation_not_found", "no_preview"))
async def board(asked: Asked, query: BoardQuery) -> Board:
    """The preview of a conversation as it is drawn, or the stored timetable."""
    store, catalogue = asked.backend.store, asked.backend.agent.catalogue
    semester = await store.read_semester(asked.user)
    if query.conversation_id is not None:
        session = await store.load(asked.user, query.conversation_id)
        if session.schedule is None:
            raise RefusedError("no_preview", "the conversation has no preview yet")
        return preview_board(session, session.schedule, semester, catalogue)
    state = None if semester is None else await store.whole_semester(asked.user)
    return stored_board(state, semester, catalogue)


def preview_board(session: Session, schedule: ScheduleState, semester: Semester | None, catalogue: Catalogue) -> Board:
    """The board of a conversation."""
    drawn = stored_board(schedule, semester, catalogue)
    drawn.conversation_id = session.state.conversation_id
    drawn.version = session.schedule_version
    drawn.earlier = session.state.undo[-1] if session.state.undo else None
    drawn.cost = Score(cost=evaluate(schedule).cost, pending=len(schedule.pending))
    drawn.pending = [entry_of(schedule, task, None) for task in schedule.pending]
    return drawn


def stored_board(state: ScheduleState | None, semester: Semester | None, catalogue: Catalogue) -> Board:
    """The board of a state without a conversation; nothing can be moved there, and nothing is pending."""
    placed = [] if state is None else [entry_of(state, task, slot) for task in state.tasks for slot in task.slots]
    return Board(
        semester=None if semester is None else TermSize(start_date=semester.start_date, weeks=semester.weeks),
        sections=sections_of(state, semester),
        days=[] if state is None else list(state.window.days),
        entries=placed,
        pending=[],
        classes=[] if state is None else [ClassName(id=one.id, name=one.name) for one in state.task_classes],
        preferences={} if state is None else state.preferences.model_dump(mode="json", exclude_unset=True),
        protections=[] if state is None else [one.model_dump(mode="json") for one in state.protections],
        forms={"set_preferences": catalogue.by_name["set_preferences"].schema},
    )


def entry_of(state: ScheduleState, task: Task, slot: Slot | None) -> Entry:
    """A task at one of its places."""
    return Entry(
        id=task.id,
        kind=task.kind,
        status=task.status,
        name=task.name,
        location=task.location,
        can_embed=task.can_embed,
        movable=not fixed(task),
        protected=task.is_item and protection_of(state, task, slot) is not None,
        duration=task.duration,
        class_id=task.task_class_id,
        task_item_id=task.source_id if task.is_item else None,
        day=slot.day if slot else None,
        start=slot.start if slot else None,
        end=slot.end if slot else None,
    )


def sections_of(state: ScheduleState | None, semester: Semester | None) -> list[SectionOfDay]:
    """The sections of a day, as many as the state has."""
    count = len(semester.sections if semester else DEFAULT_SECTIONS) if state is None else state.window.sections
    table = (semester or Semester(start_date=dt.date(2026, 1, 1))).extended(count).sections[:count]
    return [SectionOfDay(start=f"{s.start:%H:%M}", end=f"{s.end:%H:%M}", period=s.period) for s in table]
