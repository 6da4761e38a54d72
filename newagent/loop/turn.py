"""A user's turn: the message is stored and a run begins before any model is asked."""

from __future__ import annotations

from newagent.errors import RefusedError
from newagent.loop.draft import Bench, Draft
from newagent.schedule.cost import evaluate
from newagent.schedule.model import ScheduleState
from newagent.schedule.refresh import lost, refreshed
from newagent.state.documents import Counters, Message
from newagent.state.store import Session, Timetable
from newagent.stream.events import NewEvent

TITLE = 24


async def take_turn(
    session: Session, bench: Bench, timetable: Timetable, text: str, task_class_ids: tuple[int, ...]
) -> Draft:
    """The draft of a turn round: a fresh run on the timetable as it is stored now."""
    draft = Draft(session, session.state, kind="turn")
    draft.journal["turn"] = {"text": text, "task_class_ids": list(task_class_ids)}
    run_id = bench.runtime.new_id("run")
    scope = task_class_ids or session.state.task_class_ids
    draft.events.append(NewEvent("user_text", text, role="user"))
    await _load(draft, bench, timetable, scope)
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
        grants=session.state.grants.model_copy(update={"run": False}),
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


async def _load(draft: Draft, bench: Bench, timetable: Timetable, scope: tuple[int, ...]) -> None:
    """Loads the timetable anew, keeping what of the preview is still legal; without one the agent can still talk."""
    old = draft.session.schedule
    try:
        fresh = await timetable.load_state(scope or None, bench.now)
    except RefusedError as error:
        draft.journal["timetable"] = error.code
        return
    new: ScheduleState = refreshed(old, fresh) if old is not None else fresh
    if new is old:
        return
    draft.schedule = new
    draft.update(undo=())
    dropped = lost(old, new) if old is not None else []
    payload = {"version": draft.version, "dropped": [task.name for task, _ in dropped]}
    draft.events.append(NewEvent("schedule_updated", payload=payload))
