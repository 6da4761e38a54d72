"""A conversation's preview on facts that were loaded anew: what is still legal is kept, the rest becomes pending."""

from __future__ import annotations

from newagent.schedule.edits import placed
from newagent.schedule.model import Protection, ScheduleState, Slot, Task
from newagent.schedule.rules import fixed, place_faults


def refreshed(old: ScheduleState, fresh: ScheduleState) -> ScheduleState:
    """`fresh` with the preferences, protections and suggested places of `old`.

    Tasks are matched by their stored row, days by date. The very same `old` is returned when the facts are the same.
    """
    facts = fresh.evolve(preferences=old.preferences, protections=_protections(old, fresh))
    if without_preview(old) == facts:
        return old
    day_of = {day.date: day.day for day in fresh.window.days}
    wishes = {(task.source, task.source_id): task for task in old.items if task.status == "suggested"}
    state = facts
    for task in facts.items:
        wish = wishes.get((task.source, task.source_id))
        if wish is None or wish.slot is None or task.status != "pending" or wish.sections != task.sections:
            continue
        day = day_of.get(old.window.days[wish.slot.day - 1].date)
        if day is None or wish.slot.end > fresh.window.sections:
            continue
        trial = state.with_tasks([placed(state, task, wish.slot.evolve(day=day))])
        if not place_faults(trial, trial.by_id[task.id]):
            state = trial
    return state


def without_preview(state: ScheduleState) -> ScheduleState:
    """The state with every suggested item pending again: the facts that it stands on."""
    return state.with_tasks(placed(state, task, None) for task in state.items if task.status == "suggested")


def same_facts(one: ScheduleState, other: ScheduleState) -> bool:
    """Whether two previews stand on the same facts: the same tasks, those that are no preview at the same places.

    Days may have been added at the end, and classes may end later: that is a wish, not a fact.
    """

    def known(task: Task) -> Task:
        return task if fixed(task) else task.evolve(status="pending", slots=(), embed_host=None)

    shorter, longer = sorted((one.window.days, other.window.days), key=len)
    return longer[: len(shorter)] == shorter and [*map(known, one.tasks)] == [*map(known, other.tasks)]


def lost(old: ScheduleState, new: ScheduleState) -> list[tuple[Task, Slot]]:
    """The suggested items of `old` that are no longer placed in `new`, with the place they had."""
    still = {(task.source, task.source_id) for task in new.items if task.slot is not None}
    return [
        (task, task.slot)
        for task in old.items
        if task.status == "suggested" and task.slot is not None and (task.source, task.source_id) not in still
    ]


def _protections(old: ScheduleState, fresh: ScheduleState) -> tuple[Protection, ...]:
    new_id = {(task.source, task.source_id): task.id for task in fresh.tasks}
    new_day = {day.date: day.day for day in fresh.window.days}
    kept: list[Protection] = []
    for protection in old.protections:
        value: int | None = protection.value
        if protection.kind == "task" and protection.value in old.by_id:
            task = old.by_id[protection.value]
            value = new_id.get((task.source, task.source_id))
        elif protection.kind == "day" and protection.value <= len(old.window.days):
            value = new_day.get(old.window.days[protection.value - 1].date)
        if value is not None:
            kept.append(protection if value == protection.value else protection.evolve(value=value))
    return tuple(kept)
