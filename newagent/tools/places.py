"""Free and legal places of a timetable, as the query tools report them."""

from __future__ import annotations

from collections.abc import Iterator

from newagent.schedule.edits import Edited, move, place
from newagent.schedule.model import ScheduleState, Slot, Task, host_of
from newagent.schedule.rules import fits_day, overlaps


def free_places(state: ScheduleState, span: int) -> Iterator[tuple[Slot, int | None]]:
    """Every run of `span` sections that no item or closed course holds, with the course that would host it.

    Places that touch a course only in part are left out. Even spans start on odd sections, as placement does.
    """
    step = 2 if span % 2 == 0 else 1
    for day in state.window.days:
        taken = [slot for task in state.tasks if not task.can_embed for slot in task.slots if slot.day == day.day]
        hosts = [slot for task in state.courses if task.can_embed for slot in task.slots if slot.day == day.day]
        for start in range(1, state.window.sections - span + 2, step):
            if not fits_day(state.window, start, span):
                continue
            slot = Slot(day=day.day, start=start, end=start + span - 1)
            if any(overlaps(slot, other) for other in taken):
                continue
            if not any(overlaps(slot, other) for other in hosts):
                yield slot, None
            elif (host := host_of(state.courses, slot)) is not None:
                yield slot, host


def legal_places(state: ScheduleState, task: Task) -> Iterator[tuple[Slot, int | None]]:
    """The places where the agent may put or move an item, its own left out; every one has passed the rules."""
    edit = place if task.status == "pending" else move
    step = 2 if task.sections % 2 == 0 else 1
    for day in state.window.days:
        for start in range(1, state.window.sections - task.sections + 2, step):
            edited = edit(state, task.id, day.day, start)
            if isinstance(edited, Edited):
                moved = edited.state.by_id[task.id]
                assert moved.slot is not None
                yield moved.slot, moved.embed_host
