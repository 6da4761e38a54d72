"""What the student does to the preview by hand, besides stash and undo: where may this go, and direct writes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from newagent.errors import RefusedError
from newagent.loop.preview import Placement, laid_out
from newagent.schedule.edits import Edited, move, place
from newagent.schedule.model import ScheduleState, Task
from newagent.server.calls import Asked, Calls
from newagent.server.chat import Body
from newagent.texts import Locale
from newagent.tools.refusal import violation_words

calls = Calls("hand")
ConversationId = Annotated[str, Field(min_length=1, max_length=64)]


class LaidItem(Body):
    """Where an item stands in the layout that the student has made and not stashed yet."""

    task_item_id: int
    week: int
    day_of_week: int
    start_section: int
    end_section: int

    def placement(self) -> Placement:
        """The item as the loop takes it."""
        return Placement(**self.model_dump())


class LegalBody(Body):
    """Which item is in the student's hand, over which layout, and the week on show."""

    conversation_id: ConversationId
    version: int
    items: Annotated[tuple[LaidItem, ...], Field(max_length=2000)]
    task_item_id: int
    week: int
    locale: Locale = "zh"


class Place(Body):
    """A start of the week, and whether the item may go there; `code` and `message` tell why not."""

    day: int
    day_of_week: int
    start: int
    end: int
    ok: bool
    code: str | None = None
    message: str | None = None


class Places(Body):
    """All starts of a week."""

    places: list[Place]


class ActBody(Body):
    """A write that the student carries out directly."""

    conversation_id: ConversationId
    tool: Annotated[str, Field(min_length=1, max_length=64)]
    arguments: dict[str, Any] = Field(default_factory=dict)


class Acted(Body):
    """What came of it: the tool's text and data, and the new version of the preview."""

    conversation_id: str
    version: int
    text: str
    data: dict[str, Any]


@calls.post(
    "/api/v1/agent/legal-places",
    errors=(
        "conversation_not_found",
        "no_preview",
        "version_conflict",
        "unknown_item",
        "duplicate_item",
        "outside_window",
    ),
)
async def legal_places(asked: Asked, body: LegalBody) -> Places:
    """Where an item may go in a week, by the rules of the timetable, over a layout that is not stashed yet."""
    session = await asked.backend.store.load(asked.user, body.conversation_id)
    if session.schedule is None:
        raise RefusedError("no_preview", "the conversation has no preview yet")
    if body.version != session.schedule_version:
        raise RefusedError("version_conflict", "the preview has moved on", version=session.schedule_version)
    state = laid_out(session.schedule, [item.placement() for item in body.items])
    task = next((task for task in state.items if task.source_id == body.task_item_id), None)
    if task is None:
        raise RefusedError("unknown_item", f"there is no item {body.task_item_id}")
    return Places(places=places_of(state, task, body.week, body.locale))


def places_of(state: ScheduleState, task: Task, week: int, locale: Locale) -> list[Place]:
    """Every start of a week that lies inside of the day, tried with the student as the actor."""
    put = move if task.slot is not None else place
    places: list[Place] = []
    for day in state.window.days:
        if day.week != week:
            continue
        for start in range(1, state.window.sections - task.sections + 2):
            if task.slot is not None and (task.slot.day, task.slot.start) == (day.day, start):
                continue
            outcome = put(state, task.id, day.day, start, actor="user")
            refused = None if isinstance(outcome, Edited) else outcome
            places.append(
                Place(
                    day=day.day,
                    day_of_week=day.day_of_week,
                    start=start,
                    end=start + task.sections - 1,
                    ok=refused is None,
                    code=refused.code if refused else None,
                    message=violation_words(state, refused, locale) if refused else None,
                )
            )
    return places


@calls.post(
    "/api/v1/agent/act",
    errors=(
        "conversation_not_found",
        "run_in_progress",
        "unknown_tool",
        "invalid_args",
        "no_preview",
        "timetable_conflict",
    ),
)
async def act(asked: Asked, body: ActBody) -> Acted:
    """Set preferences or protections, extend the window, or apply the preview, without the agent."""
    session, result = await asked.backend.agent.act(asked.user, body.conversation_id, body.tool, body.arguments)
    return Acted(
        conversation_id=body.conversation_id,
        version=session.schedule_version,
        text=result.text,
        data={name: value for name, value in result.data.items() if name != "judge"},
    )
