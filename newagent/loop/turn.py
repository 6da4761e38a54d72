"""A user's turn: the message is stored and a run begins before any model is asked."""

from __future__ import annotations

from newagent.errors import NotFoundError, RefusedError
from newagent.loop.draft import Bench, Draft
from newagent.schedule.cost import evaluate
from newagent.schedule.model import ScheduleState
from newagent.schedule.refresh import lost, refreshed
from newagent.state.documents import Counters, Message
from newagent.state.store import Session, Timetable
from newagent.stream.events import NewEvent

TITLE = 24


async def take_turn(
    session: Session,
    bench: Bench,
    timetable: Timetable | None,
    text: str,
    task_class_ids: tuple[int, ...],
    always_execute: bool = False,
) -> Draft:
    """The draft of a turn round: a fresh run on the timetable as it is stored now.

    `task_class_ids` says what the run is about; without any it is what it was; `always_execute` permits the writes
    of this run. Raises `NotFoundError("unknown_task_class")` for those that the user named.
    """
    draft = Draft(session, session.state, kind="turn")
    asked = {"text": text, "task_class_ids": list(task_class_ids), "always_execute": always_execute}
    draft.journal["turn"] = asked
    run_id = bench.runtime.new_id("run")
    draft.events.append(NewEvent("user_text", text, role="user"))
    scope = await _load(draft, bench, timetable, task_class_ids)
    schedule = draft.timetable
    valued = evaluate(schedule) if schedule is not None else None
    draft.update(
        run_id=run_id,
        phase="planning",
        mode=None,
        goal=text,
        plan=None,
        step=0,
        optimizing=False,
        order_may_change=False,
        active={},
        grants=session.state.grants.model_copy(update={"run": always_execute}),
        covers=(),
        interaction=None,
        judgement=None,
        counters=Counters(),
        refused_calls=(),
        read_calls=(),
        forced_close="",
        task_class_ids=scope,
        baseline=valued.key if valued else None,
        outcome=None,
    )
    draft.messages.append(Message(role="user", text=text, run_id=run_id))
    if not session.title:
        draft.title = " ".join(text.split())[:TITLE] or None
    return draft


async def _load(draft: Draft, bench: Bench, timetable: Timetable | None, named: tuple[int, ...]) -> tuple[int, ...]:
    """Loads the timetable anew, keeping what of the preview is still legal; without one the agent can still talk.

    Returns the scope of the run. Classes whose items stand in the preview are loaded beside it: what the student has
    agreed to is not lost because the talk has turned to another class.
    """
    old = draft.session.schedule
    scope = tuple(dict.fromkeys(named or draft.session.state.task_class_ids))
    wanted = {*scope, *_previewed(old)} if scope else set[int]()
    try:
        try:
            fresh = await bench.world.load(timetable, tuple(sorted(wanted)) or None, bench.now)
        except NotFoundError as error:
            gone = set(error.data.get("task_class_ids", wanted))
            if gone.intersection(named):
                raise
            # A class that was planned here has been deleted since.
            scope = tuple(class_id for class_id in scope if class_id not in gone)
            fresh = await bench.world.load(timetable, tuple(sorted(wanted - gone)) if scope else None, bench.now)
    except NotFoundError:
        raise
    except RefusedError as error:
        draft.journal["timetable"] = error.code
        return scope
    new: ScheduleState = refreshed(old, fresh) if old is not None else fresh
    bench.world.loaded(fresh, old, new)
    if new is old:
        return scope
    draft.schedule = new
    draft.update(undo=())
    dropped = lost(old, new) if old is not None else []
    payload = {"version": draft.version, "dropped": [task.name for task, _ in dropped]}
    draft.events.append(NewEvent("schedule_updated", payload=payload))
    return scope


def _previewed(schedule: ScheduleState | None) -> set[int]:
    """The classes whose items stand in a preview."""
    items = schedule.items if schedule is not None else ()
    return {task.task_class_id for task in items if task.status == "suggested" and task.task_class_id is not None}
