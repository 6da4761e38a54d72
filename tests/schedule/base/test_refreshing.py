"""A preview on facts that were loaded anew: what is still legal is kept."""

from __future__ import annotations

from typing import Any

from newagent.schedule.model import ScheduleState
from newagent.schedule.refresh import lost, refreshed
from newagent.schedule.rules import state_faults
from tests.schedule.base.made_states import MONDAY, days
from tests.schedule.base.small_states import course, item, state_of, task_class

CLASSES = [task_class(10)]
PREVIEW = [course(1, (1, 1, 2)), item(2, 10, 1, (2, 1)), item(3, 10, 2, (3, 1)), item(4, 10, 3)]


def facts(*tasks: dict[str, Any], **more: Any) -> ScheduleState:
    """The same timetable as the store has it: nothing suggested."""
    bare = [{**task, "status": "pending", "slots": []} if task["status"] == "suggested" else task for task in tasks]
    return state_of(bare, CLASSES, **more)


def test_the_same_facts_give_the_very_same_state() -> None:
    old = state_of(PREVIEW, CLASSES, preferences={"load": "light"})
    assert refreshed(old, facts(*PREVIEW)) is old


def test_a_new_course_pushes_out_only_what_it_hits() -> None:
    old = state_of(PREVIEW, CLASSES)
    new = refreshed(old, facts(*PREVIEW, course(9, (2, 2, 3))))
    assert new.by_id[2].status == "pending"
    assert new.by_id[3].slot == old.by_id[3].slot
    assert [(task.id, slot.day) for task, slot in lost(old, new)] == [(2, 2)]
    assert not state_faults(new)


def test_tasks_are_known_by_their_row_and_days_by_their_date() -> None:
    """The first day has gone by, and the ids are counted anew."""
    shields = [{"kind": "day", "value": 3}, {"kind": "task", "value": 3}, {"kind": "day", "value": 1}]
    shields.append({"kind": "weekday", "value": 5})
    old = state_of(PREVIEW, CLASSES, protections=shields)
    renumbered = [{**task, "id": task["id"] + 50} for task in PREVIEW[1:]]
    later = {"sections": 12, "periods": old.window.periods, "days": days(MONDAY, 7)[1:]}
    for number, day in enumerate(later["days"], start=1):
        day["day"] = number
    new = refreshed(old, facts(*renumbered, window=later))
    assert [(task.id, task.slot and task.slot.day) for task in new.items] == [(52, 1), (53, 2), (54, None)]
    assert [(shield.kind, shield.value) for shield in new.protections] == [("day", 2), ("task", 53), ("weekday", 5)]


def test_what_was_applied_vanished_or_changed_its_length_is_not_placed_again() -> None:
    old = state_of([*PREVIEW, item(5, 10, 4, (5, 1))], CLASSES)
    applied = item(2, 10, 1, (2, 5), status="existing")
    longer = {**item(3, 10, 2), "duration": 3}
    new = refreshed(old, facts(PREVIEW[0], applied, longer, PREVIEW[3]))
    assert new.by_id[2].status == "existing"
    assert new.by_id[3].status == "pending"
    assert [task.id for task, _ in lost(old, new)] == [3, 5]


def test_a_shorter_day_and_a_day_that_is_gone() -> None:
    old = state_of([item(2, 10, 1, (1, 11)), item(3, 10, 2, (7, 1))], CLASSES)
    short = {"sections": 10, "periods": {"morning": [1, 4], "evening": [5, 10]}, "days": days(MONDAY, 5)}
    new = refreshed(old, facts(item(2, 10, 1), item(3, 10, 2), window=short))
    assert len(new.pending) == 2
