"""Who may be moved, what stands in the way, and each kind of relaxation."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from benchmarks.instances import window
from newagent.schedule.edits import Edited, place
from newagent.schedule.model import Protection, ScheduleState
from newagent.schedule.placement import PlacementReport, feasibility, relax, rough_build
from newagent.schedule.rules import Violation

MONDAY = dt.date(2026, 3, 2)


def klass(class_id: int, **fields: Any) -> dict[str, Any]:
    return {"id": class_id, "name": f"class {class_id}", "cognitive_intensity": "low", **fields}


def item(task_id: int, class_id: int, order: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": task_id,
        "source": "task_item",
        "source_id": task_id,
        "name": f"item {task_id}",
        "kind": "task",
        "task_class_id": class_id,
        "order": order,
        "duration": 2,
        "status": "pending",
        **fields,
    }


def course(task_id: int, slots: list[tuple[int, int, int]], **fields: Any) -> dict[str, Any]:
    return {
        "id": task_id,
        "source": "event",
        "source_id": task_id,
        "name": f"course {task_id}",
        "kind": "course",
        "status": "existing",
        "slots": [{"day": day, "start": start, "end": end} for day, start, end in slots],
        **fields,
    }


def state_of(days: int, *tasks: dict[str, Any], classes: list[dict[str, Any]]) -> ScheduleState:
    frame = window(1)
    frame["days"] = frame["days"][:days]
    return ScheduleState.load({"window": frame, "tasks": list(tasks), "task_classes": classes})


def at(state: ScheduleState, task_id: int, day: int, start: int) -> ScheduleState:
    outcome = place(state, task_id, day, start)
    assert isinstance(outcome, Edited)
    return outcome.state


def report(state: ScheduleState, ids: list[int], **options: Any) -> dict[str, Any]:
    outcome = rough_build(state, ids, **options)
    assert isinstance(outcome, PlacementReport)
    document = outcome.as_json()
    for relaxation in document["relaxations"]:
        if relaxation["kind"] == "rebuild":
            assert isinstance(rough_build(state, relaxation["task_class_ids"], rebuild=True), Edited)
        else:
            assert isinstance(rough_build(relax(state, relaxation), ids, **options), Edited)
    return document


def day_but(free: int, *days: int) -> list[tuple[int, int, int]]:
    """Meetings that leave only the first `free` sections of the days."""
    return [(day, free + 1, 12) for day in days]


def test_nothing_to_place_leaves_the_very_same_state() -> None:
    state = state_of(2, item(1, 10, 1), classes=[klass(10), klass(11)])
    for ids in ([], [11]):
        outcome = rough_build(state, ids)
        assert outcome == Edited(state, ())
        assert isinstance(outcome, Edited)
        assert outcome.state is state
        assert feasibility(state, ids) == (True, 0, "ok")


def test_an_unknown_class_is_a_violation() -> None:
    state = state_of(1, item(1, 10, 1), classes=[klass(10)])
    outcome = rough_build(state, [10, 99])
    assert isinstance(outcome, Violation)
    assert outcome.code == "invalid_args"


def test_only_the_classes_in_scope_are_placed_and_others_stay() -> None:
    state = state_of(2, item(1, 10, 1), item(2, 11, 1), item(3, 11, 2), classes=[klass(10), klass(11)])
    state = at(state, 3, 2, 6)
    outcome = rough_build(state, [10])
    assert isinstance(outcome, Edited)
    assert [change.task_id for change in outcome.changes] == [1]
    assert outcome.state.by_id[2] == state.by_id[2]
    assert outcome.state.by_id[3] == state.by_id[3]


def test_a_suggested_item_of_another_class_blocks_and_is_named() -> None:
    state = state_of(
        2,
        course(9, [*day_but(2, 1), *day_but(2, 2)]),
        item(1, 10, 1),
        item(2, 11, 1),
        classes=[klass(10, end_date=MONDAY.isoformat()), klass(11), klass(12)],
    )
    state = at(state, 2, 1, 1)
    assert feasibility(state, [10]) == (True, 2, "blocked")
    found = report(state, [10])
    assert (found["code"], found["capacity_gap"]) == ("blocked", 2)
    assert found["relaxations"][0] == {"kind": "rebuild", "task_class_ids": [10, 11]}
    assert report(state, [10], rebuild=True)["code"] == "blocked"
    outcome = rough_build(state, [10, 11], rebuild=True)
    assert isinstance(outcome, Edited)
    assert outcome.state.by_id[1].slots[0].day == 1
    assert outcome.state.by_id[2].slots[0].day == 2


def test_a_rebuild_is_named_even_if_others_of_its_classes_would_not_fit() -> None:
    state = state_of(
        2,
        course(9, [*day_but(2, 1), *day_but(2, 2)]),
        item(1, 10, 1),
        item(2, 11, 1),
        item(3, 11, 2),
        classes=[klass(10, end_date=MONDAY.isoformat()), klass(11)],
    )
    state = at(state, 2, 1, 1)
    outcome = rough_build(state, [10])
    assert isinstance(outcome, PlacementReport)
    assert outcome.as_json()["code"] == "blocked"
    assert outcome.as_json()["relaxations"][0] == {"kind": "rebuild", "task_class_ids": [10, 11]}


@pytest.mark.parametrize("kind", ["task", "class", "day", "weekday"])
def test_what_is_protected_neither_moves_nor_counts_as_movable(kind: str) -> None:
    state = state_of(
        2,
        course(9, [*day_but(2, 1), *day_but(2, 2)]),
        item(1, 10, 1),
        item(2, 11, 1),
        classes=[klass(10, end_date=MONDAY.isoformat()), klass(11)],
    )
    value = {"task": 2, "class": 11, "day": 1, "weekday": 1}[kind]
    state = at(state, 2, 1, 1).evolve(protections=(Protection.model_validate({"kind": kind, "value": value}),))
    assert feasibility(state, [10])[2] == "capacity"
    assert report(state, [10])["code"] == "infeasible"
    assert rough_build(state, [11], rebuild=True) == Edited(state, ())


@pytest.mark.parametrize("fields", [{"locked": True}, {}])
def test_an_item_that_may_not_be_placed_is_dropped_first(fields: dict[str, Any]) -> None:
    state = state_of(2, item(1, 10, 1, **fields), item(2, 10, 2), classes=[klass(10)])
    if not fields:
        state = state.evolve(protections=(Protection(kind="task", value=1),))
    found = report(state, [10])
    assert (found["code"], found["capacity_gap"]) == ("infeasible", 2)
    assert found["relaxations"] == [{"kind": "drop_items", "task_ids": [1]}]


def test_a_protected_day_takes_no_item() -> None:
    state = state_of(2, item(1, 10, 1), classes=[klass(10, strategy="rapid")])
    state = state.evolve(protections=(Protection(kind="day", value=1),))
    outcome = rough_build(state, [10])
    assert isinstance(outcome, Edited)
    assert outcome.state.by_id[1].slots[0].day == 2


def test_every_kind_of_relaxation() -> None:
    """One place too few; each relaxation opens just one."""
    state = state_of(
        2,
        course(8, [(1, 3, 10), (2, 3, 12)]),
        course(9, [(2, 1, 2)], can_embed=True),
        item(1, 10, 1),
        item(2, 10, 2),
        classes=[
            klass(10, end_date="2026-03-03", excluded_slots=[6, 3], excluded_days_of_week=[2]),
            klass(11, excluded_slots=[6]),
        ],
    )
    found = report(state, [10])
    assert found["code"] == "infeasible"
    assert (found["required_sections"], found["available_sections"], found["capacity_gap"]) == (4, 2, 2)
    assert found["classes"] == [{"task_class_id": 10, "required": 4, "available": 2, "unplaced": 2}]
    assert found["conflicts"] == [{"task_class_ids": [10], "required": 4, "available": 2}]
    assert found["relaxations"] == [
        {"kind": "extend_window", "days": 1, "task_class_ids": [10]},
        {"kind": "free_block", "task_class_id": 10, "block": 6},
        {"kind": "drop_items", "task_ids": [2]},
    ]
    open_tuesday = relax(state, {"kind": "free_weekday", "task_class_id": 10, "day_of_week": 2})
    assert report(open_tuesday, [10])["relaxations"][2] == {"kind": "allow_filler", "task_class_id": 10}
    filler = relax(state, {"kind": "allow_filler", "task_class_id": 10})
    assert report(filler, [10])["relaxations"][2] == {"kind": "free_weekday", "task_class_id": 10, "day_of_week": 2}


def test_an_extended_window_goes_on_day_by_day_and_says_what_it_assumes() -> None:
    state = state_of(7, item(1, 10, 1), classes=[klass(10, end_date="2026-03-05"), klass(11, end_date="2026-03-06")])
    longer = relax(state, {"kind": "extend_window", "days": 9, "task_class_ids": [10]})
    assert ScheduleState.load(longer.dump()) == longer
    assert [(day.week, day.day_of_week, day.assumed) for day in longer.window.days[6:10]] == [
        (1, 7, False),
        (2, 1, True),
        (2, 2, True),
        (2, 3, True),
    ]
    assert [one.end_date for one in longer.task_classes] == [dt.date(2026, 3, 14), dt.date(2026, 3, 6)]


def test_an_extension_that_never_helps_is_not_listed() -> None:
    state = state_of(1, item(1, 10, 1, duration=9), classes=[klass(10, excluded_slots=[2])])
    assert [relaxation["kind"] for relaxation in report(state, [10])["relaxations"]] == ["free_block", "drop_items"]


def test_a_granted_rebuild_makes_what_may_move_pending() -> None:
    state = state_of(3, item(1, 10, 1), item(2, 10, 2), item(3, 11, 1), classes=[klass(10), klass(11)])
    state = at(at(at(state, 1, 1, 1), 2, 2, 1), 3, 3, 1)
    state = state.evolve(protections=(Protection(kind="task", value=1),))
    freed = relax(state, {"kind": "rebuild", "task_class_ids": [10]})
    assert [task.id for task in freed.pending] == [2]
    assert isinstance(rough_build(freed, [10]), Edited)


def test_an_unknown_relaxation_is_a_mistake() -> None:
    state = state_of(1, item(1, 10, 1), classes=[klass(10)])
    with pytest.raises(ValueError, match="no relaxation"):
        relax(state, {"kind": "hope"})


def test_a_freed_item_may_stay_off_the_grid_where_that_is_the_only_way() -> None:
    """Day 1 is open at 2-3 only, the other days at 1-2; the item on day 2 gives way to one that must stand there."""
    state = state_of(
        3,
        course(8, [(1, 1, 1), *day_but(3, 1), *day_but(2, 2), *day_but(2, 3)]),
        item(1, 10, 1),
        item(2, 10, 2),
        item(3, 11, 1),
        classes=[klass(10), klass(11, start_date="2026-03-03", end_date="2026-03-03")],
    )
    state = at(at(state, 1, 1, 2), 2, 2, 1)
    assert feasibility(state, [11]) == (True, 2, "blocked")
    assert report(state, [11])["relaxations"][0] == {"kind": "rebuild", "task_class_ids": [10, 11]}
    outcome = rough_build(state, [10, 11], rebuild=True)
    assert isinstance(outcome, Edited)
    slots = [outcome.state.by_id[number].slots[0] for number in (1, 2, 3)]
    assert [(slot.day, slot.start) for slot in slots] == [(1, 2), (3, 1), (2, 1)]


def test_pending_items_between_placed_siblings_keep_the_order() -> None:
    tasks = [item(n, 10, n) for n in range(1, 9)]
    state = state_of(7, *tasks, classes=[klass(10, aggregation="interleave")])
    state = at(at(state, 3, 3, 3), 6, 5, 7)
    outcome = rough_build(state, [10])
    assert isinstance(outcome, Edited)
    slots = [outcome.state.by_id[n].slots[0] for n in range(1, 9)]
    assert [(slot.day, slot.start) for slot in slots] == sorted((slot.day, slot.start) for slot in slots)
    assert (slots[2].day, slots[2].start, slots[5].day, slots[5].start) == (3, 3, 5, 7)
    assert len({slot.day for slot in slots}) >= 6


def test_order_alone_can_make_a_placement_impossible() -> None:
    tasks = [item(n, 10, n) for n in range(1, 4)]
    state = state_of(3, *tasks, classes=[klass(10)])
    state = at(at(state, 1, 2, 1), 3, 2, 3)
    found = report(state, [10])
    assert found["code"] == "blocked"
    assert [relaxation["kind"] for relaxation in found["relaxations"]] == ["rebuild", "drop_items"]
