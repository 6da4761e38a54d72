"""Placement finds a full placement whenever one exists, and says rightly why there is none.

Existence is decided here on its own: places are tried with the edits, and assigned by augmenting paths item by item.
"""

from __future__ import annotations

import pytest

from benchmarks.instances import full, half_suggested
from newagent.schedule.edits import Edited, place, unplace
from newagent.schedule.model import ScheduleState
from newagent.schedule.placement import PlacementReport, feasibility, relax, rough_build
from newagent.schedule.rules import state_faults

Cell = tuple[int, int]


def everyone(state: ScheduleState) -> list[int]:
    return [task_class.id for task_class in state.task_classes]


def cells(state: ScheduleState) -> list[list[Cell]]:
    """The grid places of each pending item, by trying."""
    found: list[list[Cell]] = []
    known: dict[object, list[Cell]] = {}
    for task in state.pending:
        key = (task.task_class_id, state.order_bounds[task.id])
        if key not in known:
            known[key] = [
                (day.day, start)
                for day in state.window.days
                for start in range(1, state.window.sections, 2)
                if isinstance(place(state, task.id, day.day, start), Edited)
            ]
        found.append(known[key])
    return found


def most(state: ScheduleState) -> int:
    """How many pending items can be placed together."""
    reach = cells(state)
    owner: dict[Cell, int] = {}

    def settle(item: int, seen: set[Cell]) -> bool:
        for cell in reach[item]:
            if cell not in seen:
                seen.add(cell)
                if cell not in owner or settle(owner[cell], seen):
                    owner[cell] = item
                    return True
        return False

    return sum(settle(item, set()) for item in range(len(reach)))


def lifted(state: ScheduleState) -> ScheduleState:
    for task in state.items:
        if task.status == "suggested":
            outcome = unplace(state, task.id)
            assert isinstance(outcome, Edited)
            state = outcome.state
    return state


def assert_whole(before: ScheduleState, outcome: object, *, moved: bool = False) -> None:
    """Everything is placed, legally, on the grid, and nothing else changed."""
    assert isinstance(outcome, Edited)
    after = outcome.state
    assert not after.pending
    assert state_faults(after) == []
    changed = {change.task_id for change in outcome.changes}
    for old, new in zip(before.tasks, after.tasks, strict=True):
        if old.id not in changed:
            assert old == new
            continue
        assert old.status == "pending" or moved
        assert new.status == "suggested"
        assert new.slot is not None
        assert new.slot.start % 2 == 1
        assert new.evolve(status=old.status, slots=old.slots, embed_host=old.embed_host) == old


def check_full(seed: int) -> None:
    state = full(seed)
    assert feasibility(state, everyone(state)) == (True, 0, "ok")
    assert_whole(state, rough_build(state, everyone(state)))


def check_half(seed: int) -> str:
    state = half_suggested(full(seed, share=(1.0, 0.8, 0.5, 0.25)[seed % 4]), seed)
    ids = everyone(state)
    outcome = rough_build(state, ids)
    if isinstance(outcome, Edited):
        assert feasibility(state, ids) == (True, 0, "ok")
        assert_whole(state, outcome)
        return "ok"
    bare = lifted(state)
    assert most(bare) == len(bare.pending), "the instance was made from a placement"
    gap = 2 * (len(state.pending) - most(state))
    assert gap > 0
    assert feasibility(state, ids) == (True, gap, "blocked")
    assert isinstance(outcome, PlacementReport)
    report = outcome.as_json()
    assert (report["code"], report["capacity_gap"]) == ("blocked", gap)
    assert report["relaxations"][0] == {"kind": "rebuild", "task_class_ids": sorted(ids)}
    assert_whole(state, rough_build(state, ids, rebuild=True), moved=True)
    return "blocked"


def smaller(relaxation: dict[str, object]) -> list[dict[str, object]]:
    """The next smaller relaxations of the same kind."""
    match relaxation:
        case {"kind": "extend_window", "days": int(days)}:
            return [{**relaxation, "days": days - 1}] if days > 1 else []
        case {"kind": "drop_items", "task_ids": list(ids)}:
            return [{**relaxation, "task_ids": [*ids[:i], *ids[i + 1 :]]} for i in range(len(ids))]
        case _:
            return []


def check_short(seed: int) -> None:
    state = full(seed, extra=1 + seed % 2)
    before = state.model_dump_json()
    ids = everyone(state)
    gap = 2 * (len(state.pending) - most(state))
    assert gap > 0
    outcome = rough_build(state, ids)
    assert state.model_dump_json() == before
    assert isinstance(outcome, PlacementReport)
    report = outcome.as_json()
    assert report["code"] == "infeasible"
    assert feasibility(state, ids) == (False, gap, "capacity")
    assert report["capacity_gap"] == gap == sum(one["unplaced"] for one in report["classes"])
    assert report["required_sections"] == 2 * len(state.pending)
    assert [one["task_class_id"] for one in report["classes"]] == ids
    (conflict,) = report["conflicts"]
    assert conflict["required"] > conflict["available"]
    for left_out in conflict["task_class_ids"]:
        rest = [class_id for class_id in conflict["task_class_ids"] if class_id != left_out]
        assert not rest or isinstance(rough_build(state, rest), Edited)
    kinds = [relaxation["kind"] for relaxation in report["relaxations"]]
    assert kinds[-1] == "drop_items"
    for relaxation in report["relaxations"]:
        relaxed = relax(state, relaxation)
        assert most(relaxed) == len(relaxed.pending)
        assert isinstance(rough_build(relaxed, ids), Edited)
        for less in smaller(relaxation):
            reduced = relax(state, less)
            assert most(reduced) < len(reduced.pending)


@pytest.mark.parametrize("seed", range(12))
def test_an_exactly_full_timetable_is_filled(seed: int) -> None:
    check_full(seed)


def test_half_suggested_timetables_are_placed_or_blocked() -> None:
    assert {check_half(seed) for seed in (1, 2, 3, 5, 7, 8, 9)} == {"ok", "blocked"}


@pytest.mark.parametrize("seed", range(8))
def test_too_many_items_are_refused_with_minimal_relaxations(seed: int) -> None:
    check_short(seed)


@pytest.mark.soak
@pytest.mark.parametrize("block", range(10))
def test_500_full_timetables_are_filled(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        check_full(seed)


@pytest.mark.soak
@pytest.mark.parametrize("block", range(10))
def test_100_half_suggested_timetables(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        check_half(seed)


@pytest.mark.soak
@pytest.mark.parametrize("block", range(10))
def test_500_overfull_timetables_are_refused(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        check_short(seed)
