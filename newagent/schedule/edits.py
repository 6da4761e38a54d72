"""The five edits of a timetable. Each is a pure function: a new state and its changes, or a `Violation`.

A refused edit leaves the caller with the very same state: `Edited` is only made when every rule holds on the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from newagent.schedule.model import Actor, ScheduleState, Slot, Task, host_of
from newagent.schedule.rules import Violation, change_faults, first, fits_day, fixed, protection_faults


@dataclass(frozen=True)
class Change:
    """What an edit did to one task: its place before and after, None where it had or has none."""

    task_id: int
    before: Slot | None
    after: Slot | None

    def as_json(self) -> dict[str, Any]:
        """The change as a JSON document."""
        return {
            "task_id": self.task_id,
            "before": self.before.model_dump() if self.before else None,
            "after": self.after.model_dump() if self.after else None,
        }


@dataclass(frozen=True)
class Edited:
    """An edit that was carried out."""

    state: ScheduleState
    changes: tuple[Change, ...]


class Move(NamedTuple):
    """A wish to have a task start at a section of a day."""

    task_id: int
    day: int
    start: int


def place(state: ScheduleState, task_id: int, day: int, start: int, actor: Actor = "agent") -> Edited | Violation:
    """Puts a pending item somewhere."""
    return _put(state, [Move(task_id, day, start)], "pending", actor)


def move(state: ScheduleState, task_id: int, day: int, start: int, actor: Actor = "agent") -> Edited | Violation:
    """Moves a suggested item elsewhere."""
    return _put(state, [Move(task_id, day, start)], "suggested", actor)


def batch_move(state: ScheduleState, moves: Sequence[Move], actor: Actor = "agent") -> Edited | Violation:
    """Moves several suggested items at once; only the final state is judged, so two may trade places."""
    return _put(state, moves, "suggested", actor)


def swap(state: ScheduleState, a: int, b: int, actor: Actor = "agent") -> Edited | Violation:
    """Lets two suggested items of equal duration trade places."""
    if a == b:
        return Violation("invalid_args", "a task cannot be swapped with itself", (a,))
    refused = first(fault for task_id in (a, b) for fault in standing_faults(state, task_id, "suggested"))
    if refused:
        return refused
    one, other = state.by_id[a], state.by_id[b]
    if one.sections != other.sections:
        return Violation("duration_mismatch", f"「{one.name}」 and 「{other.name}」 differ in length", (a, b))
    assert one.slot is not None
    assert other.slot is not None
    moves = [Move(a, other.slot.day, other.slot.start), Move(b, one.slot.day, one.slot.start)]
    return _put(state, moves, "suggested", actor)


def unplace(state: ScheduleState, task_id: int, actor: Actor = "agent") -> Edited | Violation:
    """Takes a suggested item out of the timetable."""
    refused = first(standing_faults(state, task_id, "suggested"))
    if refused:
        return refused
    return finish(state, {task_id: None}, actor)


def standing_faults(state: ScheduleState, task_id: int, status: str) -> Iterable[Violation]:
    """Why a task cannot be changed where it stands: there is none, it is fixed, or it has another status."""
    task = state.by_id.get(task_id)
    if task is None:
        yield Violation("unknown_task", f"there is no task {task_id}", (task_id,))
    elif fixed(task):
        yield Violation("locked", f"「{task.name}」 is fixed and cannot be changed", (task_id,), task.slots)
    elif task.status != status:
        is_now = "already placed" if task.status == "suggested" else "not placed yet"
        yield Violation("wrong_status", f"「{task.name}」 is {is_now}", (task_id,), task.slots)


def _put(state: ScheduleState, moves: Sequence[Move], status: str, actor: Actor) -> Edited | Violation:
    ids = [wish.task_id for wish in moves]
    if not moves or len(set(ids)) != len(ids):
        return Violation("invalid_args", "each task must be named once, and at least one", tuple(ids))
    refused = first(fault for task_id in ids for fault in standing_faults(state, task_id, status))
    if refused:
        return refused
    targets: dict[int, Slot | None] = {}
    strays: list[Violation] = []
    days: dict[int, list[int | None]] = {}
    for wish in moves:
        task = state.by_id[wish.task_id]
        in_window = 1 <= wish.day <= len(state.window.days)
        days[task.id] = [task.slot and task.slot.day, wish.day if in_window else None]
        if not in_window or not fits_day(state.window, wish.start, task.sections):
            strays.append(_outside(state, task, wish))
            continue
        target = Slot(day=wish.day, start=wish.start, end=wish.start + task.sections - 1)
        if task.slot == target:
            return Violation("invalid_args", f"「{task.name}」 stands there already", (task.id,), (target,))
        targets[task.id] = target
    if strays:
        return [*protection_faults(state, days, actor), *strays][0]
    return finish(state, targets, actor)


def _outside(state: ScheduleState, task: Task, wish: Move) -> Violation:
    return Violation(
        "out_of_window",
        f"「{task.name}」 of {task.sections} section(s) cannot start on day {wish.day} at section {wish.start}: "
        "it would leave the window or the day, or cross the border of a period",
        (task.id,),
        legal={"days": [1, len(state.window.days)], "sections": [1, state.window.sections]},
    )


def placed(state: ScheduleState, task: Task, target: Slot | None) -> Task:
    """The task standing at `target` (None: pending), with its host; no rule is checked."""
    host = host_of(state.courses, target) if target else None
    changes: dict[str, Any] = {"status": "suggested" if target else "pending", "slots": (target,) if target else ()}
    if host is not None or "embed_host" in task.model_fields_set:
        changes["embed_host"] = host
    moved = task.evolve(**changes)
    if "embed_host" not in changes:
        moved.resolve(embed_host=None)
    return moved


def finish(state: ScheduleState, targets: Mapping[int, Slot | None], actor: Actor) -> Edited | Violation:
    """The state with the given items at their targets, if every rule holds on it.

    The items must exist and be changeable; this is the last step of every edit and placement.
    """
    after = state.with_tasks(placed(state, state.by_id[task_id], target) for task_id, target in targets.items())
    refused = first(change_faults(state, after, targets, actor))
    if refused:
        return refused
    changes = tuple(Change(task_id, state.by_id[task_id].slot, after.by_id[task_id].slot) for task_id in targets)
    return Edited(after, changes)
