"""Every refusal code by example, and which is told when several apply."""

from __future__ import annotations

from typing import Any

import pytest

from newagent.schedule.edits import Edited, Move, batch_move, move, place, swap, unplace
from newagent.schedule.model import ScheduleState
from newagent.schedule.rules import CODES, Violation, first, state_faults
from tests.schedule.base.small_states import course, item, state_of, task_class

TASKS = [
    course(1, (1, 1, 2), (3, 5, 8)),
    course(2, (2, 5, 8), can_embed=True),
    course(3, (4, 1, 2), can_embed=True),
    course(4, (4, 3, 4), can_embed=True),
    item(10, 10, 1, (1, 3)),
    item(11, 10, 2, (3, 1)),
    item(12, 10, 3),
    item(13, 10, 4, (6, 1)),
    item(20, 20, 1, (2, 1)),
    item(21, 20, 2, length=4),
    item(22, 20, 3, (5, 1), locked=True),
    item(23, 20, 4, (7, 9), status="existing"),
    item(24, 20, 5, None, length=3),
    item(30, 30, 1, (5, 9)),
]
CLASSES = [
    task_class(10, excluded_slots=[6], excluded_days_of_week=[7], end_date="2026-03-07"),
    task_class(20, allow_filler_course=True),
    task_class(30, start_date="2026-03-05"),
]


def make(*protections: tuple[str, int]) -> ScheduleState:
    shields = [{"kind": kind, "value": value} for kind, value in protections]
    return state_of(TASKS, CLASSES, protections=shields)


def code(outcome: Edited | Violation) -> str:
    return outcome.code if isinstance(outcome, Violation) else "ok"


@pytest.mark.parametrize(
    ("task_id", "day", "start", "expected"),
    [
        (99, 1, 1, "unknown_task"),
        (1, 1, 3, "locked"),
        (22, 6, 1, "locked"),
        (23, 6, 1, "locked"),
        (12, 4, 5, "wrong_status"),
        (10, 1, 3, "invalid_args"),
        (10, 0, 1, "out_of_window"),
        (10, 8, 1, "out_of_window"),
        (10, 1, 0, "out_of_window"),
        (10, 1, 12, "out_of_window"),
        (10, 1, 4, "out_of_window"),
        (10, 1, 8, "out_of_window"),
        (13, 7, 1, "excluded"),
        (10, 1, 11, "excluded"),
        (10, 1, 10, "excluded"),
        (30, 3, 3, "excluded"),
        (10, 1, 1, "conflict"),
        (10, 1, 2, "conflict"),
        (10, 2, 2, "conflict"),
        (10, 2, 5, "embed_invalid"),
        (20, 4, 2, "embed_invalid"),
        (20, 2, 4, "out_of_window"),
        (20, 7, 11, "order_violation"),
        (10, 3, 3, "order_violation"),
        (13, 2, 9, "order_violation"),
        (10, 1, 5, "ok"),
        (10, 2, 3, "ok"),
        (20, 2, 6, "ok"),
        (20, 4, 1, "ok"),
        (11, 1, 7, "ok"),
        (13, 3, 3, "ok"),
        (30, 4, 9, "ok"),
    ],
)
def test_move(task_id: int, day: int, start: int, expected: str) -> None:
    assert code(move(make(), task_id, day, start)) == expected


@pytest.mark.parametrize(
    ("task_id", "day", "start", "expected"),
    [
        (10, 4, 1, "wrong_status"),
        (12, 2, 1, "conflict"),
        (12, 2, 3, "order_violation"),
        (12, 6, 3, "order_violation"),
        (12, 4, 5, "ok"),
        (21, 3, 1, "conflict"),
        (21, 2, 3, "out_of_window"),
        (21, 2, 5, "ok"),
        (21, 4, 1, "embed_invalid"),
        (24, 4, 6, "order_violation"),
    ],
)
def test_place(task_id: int, day: int, start: int, expected: str) -> None:
    """An item between two placed siblings with a pending one beside it is still bound by both."""
    assert code(place(make(), task_id, day, start)) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (10, 10, "invalid_args"),
        (10, 99, "unknown_task"),
        (10, 1, "locked"),
        (10, 12, "wrong_status"),
        (10, 21, "wrong_status"),
        (13, 20, "order_violation"),
        (30, 10, "excluded"),
        (10, 11, "order_violation"),
        (20, 10, "ok"),
    ],
)
def test_swap(a: int, b: int, expected: str) -> None:
    assert code(swap(make(), a, b)) == expected


def test_swapping_unequal_lengths() -> None:
    state = state_of(
        [item(10, 10, 1, (1, 1)), item(11, 10, 2, length=3), item(20, 20, 1, (2, 1), length=3)],
        [task_class(10), task_class(20)],
    )
    assert code(swap(state, 10, 20)) == "duration_mismatch"
    assert code(swap(state, 10, 11)) == "wrong_status"


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([], "invalid_args"),
        ([(10, 1, 5), (10, 1, 7)], "invalid_args"),
        ([(10, 1, 5), (20, 2, 1)], "invalid_args"),
        ([(99, 1, 1), (1, 1, 1)], "unknown_task"),
        ([(12, 4, 5), (22, 4, 5)], "locked"),
        ([(10, 9, 1), (13, 7, 1)], "out_of_window"),
        ([(10, 2, 1), (20, 1, 3)], "ok"),
        ([(10, 2, 1)], "conflict"),
        ([(11, 4, 9), (10, 4, 7)], "ok"),
        ([(11, 4, 7), (10, 4, 9)], "order_violation"),
        ([(13, 5, 9), (30, 6, 1)], "ok"),
    ],
)
def test_batch_move(moves: list[tuple[int, int, int]], expected: str) -> None:
    """Only the final state counts, so two items may trade places."""
    assert code(batch_move(make(), [Move(*one) for one in moves])) == expected


@pytest.mark.parametrize(
    ("task_id", "expected"), [(99, "unknown_task"), (2, "locked"), (23, "locked"), (12, "wrong_status"), (10, "ok")]
)
def test_unplace(task_id: int, expected: str) -> None:
    assert code(unplace(make(), task_id)) == expected


@pytest.mark.parametrize(
    "shield", [("task", 10), ("class", 10), ("day", 1), ("weekday", 1), ("day", 2), ("weekday", 2)]
)
def test_what_is_protected_only_the_user_writes(shield: tuple[str, int]) -> None:
    """Both the place that is left and the one that is entered count."""
    state = make(shield)
    assert code(move(state, 10, 2, 3)) == "protected"
    assert code(move(state, 10, 2, 3, "user")) == "ok"
    assert code(move(state, 10, 2, 1)) == "protected", "protected comes before conflict"
    assert code(move(state, 10, 2, 1, "user")) == "conflict"
    assert code(move(state, 13, 4, 5)) == ("protected" if shield == ("class", 10) else "ok")
    assert code(unplace(state, 10)) == ("protected" if shield[1] in (10, 1) else "ok")


def test_a_protected_task_outside_the_window_is_protected_first() -> None:
    assert code(move(make(("task", 10)), 10, 99, 1)) == "protected"
    assert code(move(make(("day", 5)), 10, 99, 1)) == "out_of_window"


def test_a_refusal_tells_the_legal_range() -> None:
    outcome = move(make(), 11, 1, 9)
    assert isinstance(outcome, Edited)
    refused = place(make(), 12, 6, 5)
    assert isinstance(refused, Violation)
    told: dict[str, Any] = refused.as_json()
    assert told["code"] == "order_violation"
    assert told["legal"] == {"after": {"day": 3, "section": 2}, "before": {"day": 6, "section": 1}}
    assert told["task_ids"] == [12]
    assert {"day": 6, "start": 5, "end": 6} in told["slots"]
    outside = move(make(), 10, 0, 1)
    assert isinstance(outside, Violation)
    assert outside.legal == {"days": [1, 7], "sections": [1, 12]}


def test_an_embedded_item_names_its_host_and_forgets_it_when_it_leaves() -> None:
    into = move(make(), 20, 2, 6)
    assert isinstance(into, Edited)
    assert into.state.by_id[20].embed_host == 2
    out = move(into.state, 20, 3, 9)
    assert isinstance(out, Edited)
    assert out.state.by_id[20].embed_host is None
    away = unplace(into.state, 20)
    assert isinstance(away, Edited)
    assert away.state.by_id[20].embed_host is None
    assert [change.as_json() for change in away.changes] == [
        {"task_id": 20, "before": {"day": 2, "start": 6, "end": 7}, "after": None}
    ]


def test_an_item_longer_than_its_period_may_cross_its_border() -> None:
    state = state_of([item(10, 10, 1, length=5), item(11, 10, 2, length=4)], [task_class(10)])
    assert code(place(state, 10, 1, 3)) == "ok"
    assert code(place(state, 10, 1, 9)) == "out_of_window"
    assert code(place(state, 11, 1, 3)) == "out_of_window"


def test_on_a_state_that_breaks_a_rule_only_what_puts_it_right_is_legal() -> None:
    tasks = [item(10, 10, 1, (1, 1)), item(20, 20, 1, (1, 2)), item(21, 20, 2, (2, 1))]
    state = state_of(tasks, [task_class(10), task_class(20)])
    assert {fault.code for fault in state_faults(state)} == {"conflict"}
    assert code(move(state, 21, 3, 1)) == "conflict"
    assert code(move(state, 10, 1, 5)) == "ok"


def test_a_host_that_an_item_does_not_stand_in_is_a_fault() -> None:
    embedded = {**item(20, 20, 1, (2, 5)), "embed_host": None}
    beside = {**item(21, 20, 2, (4, 1)), "embed_host": 2}
    state = state_of(
        [course(2, (2, 5, 8), can_embed=True), embedded, beside], [task_class(20, allow_filler_course=True)]
    )
    assert [fault.code for fault in state_faults(state)] == ["embed_invalid", "embed_invalid"]


def test_two_courses_of_an_import_may_overlap_and_so_may_facts() -> None:
    tasks = [course(1, (1, 1, 2)), course(2, (1, 2, 3)), item(10, 10, 1, (1, 1), status="existing")]
    state = state_of([*tasks, item(11, 10, 2)], [task_class(10)])
    assert state_faults(state) == []
    assert code(place(state, 11, 1, 3)) == "conflict"
    assert code(place(state, 11, 1, 5)) == "ok"


def test_the_code_that_is_told_is_the_first_of_the_list() -> None:
    violations = [Violation(name, name) for name in reversed(CODES)]
    told = first(violations)
    assert told is not None
    assert told.code == "invalid_args"
    assert first([]) is None
