"""State documents: what is loaded is dumped again byte for byte, and what is no timetable is refused with its path."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from newagent.schedule.faults import StateFault
from newagent.schedule.model import ScheduleState
from tests.schedule.base.made_states import made_state
from tests.schedule.base.small_states import course, item, state_of, task_class, timetable

Document = dict[str, Any]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_a_document_comes_back_as_it_was(seed: int) -> None:
    document = made_state(Random(seed)).dump()
    text = json.dumps(document, sort_keys=True)
    state = ScheduleState.load(json.loads(text))
    assert json.dumps(state.dump(), sort_keys=True) == text
    assert state == ScheduleState.load(document)


def test_fields_that_were_absent_stay_absent() -> None:
    document = timetable([item(1, 10, 1, (1, 1))], [{"id": 10, "name": "x"}])
    del document["protections"]
    del document["tasks"][0]["duration"]
    assert ScheduleState.load(document).dump() == document


@pytest.mark.parametrize(
    ("total", "items", "expected"), [(32, 16, 2), (10, 4, 3), (9, 4, 2), (1, 5, 1), (None, 5, 2), (7, 2, 4)]
)
def test_the_length_of_an_item(total: int | None, items: int, expected: int) -> None:
    """Its own, else its share of the class's budget rounded half up, at least 1, else 2."""
    tasks = [item(k, 10, k) for k in range(1, items + 1)]
    for task in tasks:
        del task["duration"]
    tasks[0]["duration"] = 5
    state = state_of(tasks, [task_class(10, total_slots=total)])
    assert [task.sections for task in state.items] == [5, *[expected] * (items - 1)]


def test_a_host_that_a_document_leaves_out_is_found() -> None:
    tasks = [course(1, (1, 1, 4), can_embed=True), item(2, 10, 1, (1, 3)), item(3, 10, 2, (2, 3))]
    state = state_of(tasks, [task_class(10, allow_filler_course=True)])
    assert [task.embed_host for task in state.items] == [1, None]
    assert "embed_host" not in state.dump()["tasks"][1]


def test_what_a_state_knows_of_itself() -> None:
    tasks = [course(1, (2, 1, 2), (4, 1, 2)), item(5, 10, 7, (3, 1)), item(4, 10, 2), item(6, 20, 1, (2, 3))]
    state = state_of(tasks, [task_class(10), {"id": 20, "name": "y", "difficulty_level": "low"}])
    assert [task.id for task in state.pending] == [4]
    assert [task.id for task in state.courses] == [1]
    assert [task.id for task in state.items_of[10]] == [4, 5]
    assert {day: [task.id for task, _ in held] for day, held in state.meetings.items()} == {2: [1, 6], 3: [5], 4: [1]}
    assert state.class_by_id[20].missing_profile == ("subject_type", "cognitive_intensity")
    assert state.class_of(state.by_id[5]).id == 10
    earlier, later = state.order_bounds[4]
    assert earlier is None
    assert later == state.by_id[5].slot
    assert not state.class_by_id[20].is_heavy


def test_a_newer_schema_is_named() -> None:
    with pytest.raises(StateFault, match="schema 2") as caught:
        ScheduleState.load({"schema_version": 2, "whatever": True})
    assert caught.value.code == "snapshot_too_new"


@pytest.mark.parametrize("document", [None, [], "x", {}, {"schema_version": 1}, {"schema_version": "1"}])
def test_what_is_no_state_at_all(document: object) -> None:
    with pytest.raises(StateFault) as caught:
        ScheduleState.load(document)
    assert caught.value.code == "invalid_state"
    assert caught.value.faults


def _task(index: int, **fields: Any) -> Callable[[Document], None]:
    return lambda document: document["tasks"][index].update(fields)


def _class(**fields: Any) -> Callable[[Document], None]:
    return lambda document: document["task_classes"][0].update(fields)


def _day(index: int, **fields: Any) -> Callable[[Document], None]:
    return lambda document: document["window"]["days"][index].update(fields)


def _window(**fields: Any) -> Callable[[Document], None]:
    return lambda document: document["window"].update(fields)


SLOT = {"day": 1, "start": 1, "end": 2}


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_task(1, id=1), "id 1"),
        (_task(1, order=None), "order"),
        (_task(2, order=1), "order"),
        (_task(1, task_class_id=99), "99"),
        (_task(1, task_class_id=None), "None"),
        (_task(1, status="pending"), "pending if and only if"),
        (_task(2, status="suggested"), "pending if and only if"),
        (_task(1, slots=[SLOT, {"day": 2, "start": 1, "end": 2}]), "more than one slot"),
        (_task(1, slots=[{"day": 9, "start": 1, "end": 2}]), "outside the window"),
        (_task(1, slots=[{"day": 1, "start": 12, "end": 13}]), "outside the window"),
        (_task(1, slots=[{"day": 1, "start": 2, "end": 1}]), "end before it starts"),
        (_task(1, slots=[{"day": 1, "start": 1, "end": 3}]), "not 2 sections long"),
        (_task(1, duration=0), "duration"),
        (_task(1, can_embed=True), "only a course"),
        (_task(1, embed_host=77), "77"),
        (_task(1, priority=5), "priority"),
        (_task(1, colour="red"), "colour"),
        (_task(0, status="suggested"), "must be existing"),
        (_task(0, embed_host=1), "embedded"),
        (_class(start_date="2026-03-05", end_date="2026-03-04"), "ends before"),
        (_class(excluded_days_of_week=[8]), "weekdays"),
        (_class(excluded_slots=[0]), "blocks"),
        (_class(strategy="lazy"), "strategy"),
        (_class(time_of_day={"morning": 3}), "time_of_day"),
        (_day(0, day=2), "numbered"),
        (_day(1, date="2026-03-09"), "follow"),
        (_day(0, day_of_week=2), "weekday"),
        (_window(periods={"morning": [1, 4], "afternoon": [6, 12]}), "cover"),
        (_window(sections=11), "cover"),
        (_window(days=[]), "days"),
        (lambda document: document["task_classes"].append(document["task_classes"][0]), "same id"),
        (lambda document: document["preferences"].update(load="heavy"), "load"),
        (lambda document: document["protections"].append({"kind": "moon", "value": 1}), "kind"),
    ],
)
def test_a_spoiled_document_is_refused_with_its_fault(spoil: Callable[[Document], None], told: str) -> None:
    document = timetable(
        [course(1, (1, 3, 4), can_embed=True), item(2, 10, 1, (1, 1)), item(3, 10, 2)], [task_class(10)]
    )
    ScheduleState.load(copy.deepcopy(document))
    spoil(document)
    with pytest.raises(StateFault) as caught:
        ScheduleState.load(document)
    assert caught.value.code == "invalid_state"
    assert told in caught.value.message


def test_a_state_cannot_be_changed_in_place() -> None:
    state = state_of([item(1, 10, 1)], [task_class(10)])
    with pytest.raises(ValidationError):
        state.tasks = ()  # type: ignore[misc]
    changed = state.evolve(protections=())
    assert changed == state
    assert changed is not state
