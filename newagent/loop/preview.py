"""The user's own hand on the preview: a stash of what was dragged, the way back, preferences and protections set.

All are pure: a session goes in, the draft of a round of kind `user` comes out, or `RefusedError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from newagent.errors import RefusedError
from newagent.loop.draft import Draft
from newagent.schedule.edits import placed
from newagent.schedule.model import ScheduleState, Slot, Task
from newagent.schedule.refresh import same_facts
from newagent.schedule.rules import CODES, Violation, change_faults, fixed
from newagent.state.store import Session
from newagent.stream.events import NewEvent
from newagent.tools.base import ToolResult

MOST_UNDO = 50
BY_HAND = ("apply_preview", "set_preferences", "extend_window", "protect", "unprotect")
"""The writes that a user may carry out without the agent."""


@dataclass(frozen=True)
class Placement:
    """Where the user has put an item: its stored row, a week and weekday of the semester, the sections.

    `embed_course_event_id` is the stored course that it stands in; None leaves it to the place.
    """

    task_item_id: int
    week: int
    day_of_week: int
    start_section: int
    end_section: int
    embed_course_event_id: int | None = None


def stash_draft(session: Session, version: int, items: Sequence[Placement]) -> Draft | None:
    """The preview as the user has laid it out: `items` are all that stand somewhere, the others become pending.

    None where nothing differs. Raises `RefusedError`: no_preview, version_conflict, duplicate_item, unknown_item,
    outside_window, unknown_host, and illegal_placement with `violations`.
    """
    state = _preview(session)
    if version != session.schedule_version:
        raise RefusedError(
            "version_conflict",
            f"the preview is at version {session.schedule_version}, not {version}",
            version=session.schedule_version,
        )
    targets, strays = _targets(state, items)
    after = state.with_tasks(placed(state, state.by_id[task_id], slot) for task_id, slot in targets.items())
    found = [*strays, *change_faults(state, after, targets, "user")]
    if found:
        found.sort(key=lambda violation: CODES.index(violation.code))
        raise RefusedError(found[0].code, found[0].message, violations=[one.as_json() for one in found])
    _check_hosts(after, items)
    if not targets:
        return None
    draft = _changed(session, after, (*session.state.undo[1 - MOST_UNDO :], session.schedule_version))
    draft.journal["stash"] = {"version": version, "items": [asdict(item) for item in items]}
    return draft


def undo_draft(session: Session, version: int, earlier: ScheduleState) -> Draft | None:
    """The preview as it was at an earlier version; None where it is that version.

    Raises `RefusedError`: no_preview, and version_conflict where the facts of the timetable have changed since.
    """
    state = _preview(session)
    if version == session.schedule_version:
        return None
    own = version in session.state.undo or (
        earlier.window == state.window and earlier.task_classes == state.task_classes
    )
    if not own or not same_facts(state, earlier):
        raise RefusedError("version_conflict", f"the timetable has changed since version {version}", version=version)
    draft = _changed(session, earlier, tuple(one for one in session.state.undo if one < version))
    draft.journal["undo"] = {"version": version}
    return draft


def acted_draft(session: Session, name: str, arguments: dict[str, Any], result: ToolResult) -> Draft:
    """What a write of `BY_HAND` has come to. What is written into the timetable has no way back by undo."""
    kept = () if name == "apply_preview" else (*session.state.undo[1 - MOST_UNDO :], session.schedule_version)
    after = result.schedule if result.schedule is not None else _preview(session)
    draft = _changed(session, after, kept)
    draft.journal["act"] = {"tool": name, "arguments": arguments, "result": result.as_json()}
    return draft


def laid_out(state: ScheduleState, items: Sequence[Placement]) -> ScheduleState:
    """A preview with the user's layout, legal or not. Raises `RefusedError`: see `stash_draft`."""
    targets, _ = _targets(state, items)
    return state.with_tasks(placed(state, state.by_id[task_id], slot) for task_id, slot in targets.items())


def _preview(session: Session) -> ScheduleState:
    if session.schedule is None:
        raise RefusedError("no_preview", "the conversation has no preview yet")
    return session.schedule


def _changed(session: Session, schedule: ScheduleState, undo: tuple[int, ...]) -> Draft:
    draft = Draft(session, session.state, kind="user", schedule=schedule)
    draft.update(undo=undo)
    draft.events.append(NewEvent("schedule_updated", payload={"version": draft.version}))
    return draft


def _targets(state: ScheduleState, items: Sequence[Placement]) -> tuple[dict[int, Slot | None], list[Violation]]:
    """Where the items go that do not stand there already, and the fixed ones that cannot."""
    rows = {task.source_id: task for task in state.items}
    wanted: dict[int, Slot] = {}
    for item in items:
        task = rows.get(item.task_item_id)
        if task is None:
            raise RefusedError("unknown_item", f"there is no item {item.task_item_id}", task_item_id=item.task_item_id)
        if task.id in wanted:
            raise RefusedError("duplicate_item", f"「{task.name}」 is named twice", task_item_id=item.task_item_id)
        wanted[task.id] = _slot(state, task, item)
    targets: dict[int, Slot | None] = {}
    strays: list[Violation] = []
    for task in state.items:
        slot = wanted.get(task.id)
        if fixed(task):
            if slot not in (None, task.slot):
                strays.append(Violation("locked", f"「{task.name}」 is fixed and cannot be moved", (task.id,)))
        elif slot != task.slot:
            targets[task.id] = slot
    return targets, strays


def _slot(state: ScheduleState, task: Task, item: Placement) -> Slot:
    days = (day.day for day in state.window.days if (day.week, day.day_of_week) == (item.week, item.day_of_week))
    day = next(days, None)
    if day is None or not 1 <= item.start_section <= item.end_section <= state.window.sections:
        raise RefusedError("outside_window", f"the place of 「{task.name}」 is outside the window", **asdict(item))
    return Slot(day=day, start=item.start_section, end=item.end_section)


def _check_hosts(after: ScheduleState, items: Sequence[Placement]) -> None:
    rows: dict[int, Any] = {task.source_id: task for task in after.items}
    for item in items:
        if item.embed_course_event_id is None:
            continue
        host = after.by_id.get(rows[item.task_item_id].embed_host)
        if host is None or host.source_id != item.embed_course_event_id:
            raise RefusedError(
                "unknown_host", f"no course {item.embed_course_event_id} holds that place", **asdict(item)
            )
