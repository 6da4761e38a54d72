"""The terms of the cost on timetables whose numbers can be worked out by hand."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newagent.schedule.cost import TERMS, CostModel, entries_by_day, evaluate, revalue
from newagent.schedule.edits import Edited, move
from newagent.schedule.model import ScheduleState
from tests.schedule.base.made_states import made_state
from tests.schedule.base.oracle import cost_terms
from tests.schedule.base.small_states import course, heavy, item, state_of, task_class

CLUSTER: dict[str, Any] = {"aggregation": "cluster"}


def terms(state: ScheduleState) -> dict[str, int]:
    """The terms of a state that are not 0, the spread left out: it has tests of its own."""
    value = evaluate(state)
    assert tuple(value.terms) == TERMS
    assert sum(value.terms.values()) == value.cost
    return {name: number for name, number in value.terms.items() if number and name != "spread"}


def one_day(classes: str, starts: tuple[int, ...], *more_tasks: dict[str, Any], **dials: Any) -> dict[str, int]:
    """The terms of a day with one item for each letter: capital letters are heavy classes."""
    letters = sorted(set(classes))
    made = [(heavy if letter.isupper() else task_class)(10 + n, **CLUSTER) for n, letter in enumerate(letters)]
    counts = dict.fromkeys(letters, 0)
    tasks = list(more_tasks)
    for number, (letter, start) in enumerate(zip(classes, starts, strict=True), start=100):
        counts[letter] += 1
        tasks.append(item(number, 10 + letters.index(letter), counts[letter], (1, start)))
    return terms(state_of(tasks, made, preferences=dials))


@pytest.mark.parametrize(
    ("classes", "starts", "expected"),
    [
        ("AB", (1, 3), {"heavy_adjacent": 40}),
        ("AB", (5, 8), {"heavy_adjacent": 40}),
        ("AB", (1, 5), {}),
        ("AB", (3, 5), {}),
        ("AA", (1, 3), {}),
        ("Ab", (1, 3), {}),
        ("AbC", (1, 3, 5), {}),
        ("ABC", (1, 3, 5), {"heavy_adjacent": 40}),
        ("ABCA", (1, 3, 5, 7), {"heavy_adjacent": 80, "heavy_run": 25, "switching": 10}),
        ("AAAA", (1, 3, 5, 7), {"heavy_run": 25}),
        ("AAAAA", (1, 3, 5, 7, 9), {"heavy_run": 50, "long_block": 15, "evening_heavy": 4}),
        ("aaaaa", (1, 3, 5, 7, 9), {"long_block": 15}),
        ("aaaaaa", (1, 3, 5, 7, 9, 11), {"long_block": 30, "overload": 10}),
        ("abab", (1, 3, 5, 7), {"switching": 10}),
        ("abc", (1, 3, 5), {}),
        ("ababa", (1, 3, 5, 7, 9), {"switching": 20}),
        ("ababab", (1, 3, 5, 7, 9, 11), {"switching": 30, "overload": 10}),
        ("A", (9,), {"evening_heavy": 4}),
        ("a", (9,), {}),
    ],
)
def test_a_day(classes: str, starts: tuple[int, ...], expected: dict[str, int]) -> None:
    assert one_day(classes, starts) == expected


@pytest.mark.parametrize(
    ("dials", "expected"),
    [
        ({}, {"switching": 10, "overload": 10}),
        ({"switching": "low"}, {"switching": 20, "overload": 10}),
        ({"switching": "high"}, {"overload": 10}),
        ({"load": "light"}, {"switching": 10, "overload": 20}),
        ({"load": "sprint"}, {"switching": 10}),
        ({"tolerance": "high"}, {"switching": 10, "overload": 10, "buffer": 10}),
        ({"tolerance": "low"}, {"switching": 10, "overload": 10}),
        ({"daily_cap": 8}, {"switching": 10, "overload": 10, "cap": 80}),
        ({"daily_cap": 0}, {"switching": 10, "overload": 10, "cap": 240}),
        ({"evening_heavy": "avoid"}, {"switching": 10, "overload": 10}),
    ],
)
def test_the_dials(dials: dict[str, Any], expected: dict[str, int]) -> None:
    """A full day of six items with three switches."""
    assert one_day("aababb", (1, 3, 5, 7, 9, 11), **dials) == expected


@pytest.mark.parametrize(("dial", "expected"), [(3, 15), (4, 0), (6, 0)])
def test_long_blocks(dial: int, expected: int) -> None:
    assert one_day("aaaa", (1, 3, 5, 7), long_blocks=dial).get("long_block", 0) == expected


@pytest.mark.parametrize(("dial", "expected"), [("ok", 0), ("mild", 8), ("avoid", 40)])
def test_heavy_evenings(dial: str, expected: int) -> None:
    assert one_day("AA", (9, 11), evening_heavy=dial).get("evening_heavy", 0) == expected


def test_a_course_counts_as_load_but_not_as_study() -> None:
    lesson = course(1, (1, 1, 8), can_embed=True)
    assert one_day("a", (9,), lesson, load="light", daily_cap=2) == {"overload": 10}
    assert one_day("a", (9,), lesson, load="light", daily_cap=1) == {"overload": 10, "cap": 20}


def test_sections_that_a_course_and_an_item_hold_together_count_once() -> None:
    tasks = [course(1, (1, 1, 12), can_embed=True), item(10, 10, 1, (1, 1))]
    assert terms(state_of(tasks, [task_class(10, allow_filler_course=True)])) == {"overload": 10}


@pytest.mark.parametrize(
    ("held", "expected"),
    [(((1, 1, 10),), {}), (((1, 1, 10), (1, 12, 12)), {"buffer": 10}), (((1, 2, 11),), {"buffer": 10})],
)
def test_the_buffer_is_two_free_sections_in_a_row(
    held: tuple[tuple[int, int, int], ...], expected: dict[str, int]
) -> None:
    state = state_of([course(1, *held)], [task_class(10)], preferences={"tolerance": "high", "load": "sprint"})
    assert terms(state) == expected


def test_entries_of_odd_lengths_start_every_second_section() -> None:
    """Five sections are three entries: at 5, 7 and 9; only the last stands in the evening."""
    state = state_of([item(10, 10, 1, (1, 5), length=5)], [heavy(10)])
    assert terms(state) == {"evening_heavy": 4}


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ({"avoid": [{"period": "morning"}]}, {"avoided": 40}),
        ({"avoid": [{"period": "morning", "task_class_id": 11}]}, {"avoided": 20}),
        ({"avoid": [{"period": "morning", "intensity": "high"}]}, {"avoided": 20}),
        ({"avoid": [{"period": "morning", "intensity": "high", "task_class_id": 11}]}, {}),
        ({"avoid": [{"period": "morning"}, {"period": "morning"}]}, {"avoided": 40}),
        ({"prefer": [{"period": "afternoon"}]}, {"unpreferred": 20}),
        ({"prefer": [{"period": "morning"}]}, {}),
        ({"prefer": [{"period": "afternoon"}, {"period": "morning"}]}, {}),
        ({"prefer": [{"period": "afternoon"}], "avoid": [{"period": "morning"}]}, {"avoided": 40}),
        ({"prefer": [{"period": "evening", "intensity": "low"}]}, {"unpreferred": 10}),
    ],
)
def test_wishes(wishes: dict[str, Any], expected: dict[str, int]) -> None:
    tasks = [item(1, 10, 1, (1, 1)), item(2, 11, 1, (1, 3))]
    assert terms(state_of(tasks, [heavy(10), task_class(11)], preferences=wishes)) == expected


def test_the_times_of_day_of_a_class_are_wishes_too() -> None:
    classes = [task_class(10, time_of_day={"morning": 0}), task_class(11, time_of_day={"evening": 2, "morning": 1})]
    assert terms(state_of([item(1, 10, 1, (1, 1)), item(2, 11, 1, (1, 3))], classes)) == {
        "avoided": 20,
        "unpreferred": 10,
    }


@pytest.mark.parametrize(
    ("placed", "expected"),
    [
        ((1,), 2 * 3),
        ((4,), 0),
        ((2, 6), 2 * (0 + 0)),
        ((1, 2), 2 * (1 + 4)),
        ((2, 4, 6), 2 * 0),
        ((1, 1, 1), 2 * (1 + 3 + 5)),
    ],
)
def test_steady_spread(placed: tuple[int, ...], expected: int) -> None:
    """Seven eligible days; the wanted ranks of m items are floor((2k − 1) · 7 / 2m)."""
    tasks = [item(k, 10, k, (day, 2 * k - 1)) for k, day in enumerate(placed, start=1)]
    assert evaluate(state_of(tasks, [task_class(10, **CLUSTER)])).terms["spread"] == expected


def test_rapid_spread_counts_the_eligible_days_before() -> None:
    tasks = [item(k, 10, k, (day, 2 * k - 1)) for k, day in enumerate((1, 3, 5), start=1)]
    rapid = task_class(10, strategy="rapid", excluded_days_of_week=[2])
    assert evaluate(state_of(tasks, [rapid])).terms["spread"] == 2 * (0 + 1 + 3)
    assert terms(state_of([item(1, 10, 1, (1, 1)), item(2, 10, 2, (1, 3))], [rapid])) == {}


def test_pending_items_do_not_count_for_the_spread() -> None:
    tasks = [item(1, 10, 1), item(2, 10, 2, (4, 1)), item(3, 10, 3)]
    value = evaluate(state_of(tasks, [task_class(10)]))
    assert (value.pending, value.cost) == (2, 0)
    assert value.key == (2, 0)


@pytest.mark.parametrize(
    ("aggregation", "expected"), [(None, 36), ("cluster", 0), ("balanced", 36), ("interleave", 72)]
)
def test_pairs_on_one_day(aggregation: str | None, expected: int) -> None:
    tasks = [item(k, 10, k, (4, 2 * k - 1)) for k in (1, 2, 3)]
    value = evaluate(state_of(tasks, [task_class(10, aggregation=aggregation)]))
    assert value.terms["same_day"] == expected


def test_existing_items_count_and_courses_do_not_make_a_sequence() -> None:
    tasks = [course(1, (1, 3, 4)), item(1_0, 10, 1, (1, 1), status="existing"), item(11, 11, 1, (1, 5))]
    value = evaluate(state_of(tasks, [heavy(10, **CLUSTER), heavy(11, **CLUSTER)]))
    assert value.looks[0].switch_count == 1
    assert value.looks[0].entries == 2
    assert value.looks[0].fragmentation == 1.0
    assert value.looks[1].fragmentation == 0.0


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_the_cost_is_what_the_oracle_says(seed: int) -> None:
    state = made_state(Random(seed))
    model, value = CostModel(state), evaluate(state)
    assert value.terms == cost_terms(state.dump())
    for day, entries in enumerate(entries_by_day(state, model)[1:], start=1):
        assert model.day_cost(day, sorted(entries)) == sum(model.day_terms(model.look(day, entries)))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_a_state_valued_from_its_neighbour(seed: int, pick: int, day: int, start: int) -> None:
    state = made_state(Random(seed))
    placed = [task for task in state.items if task.status == "suggested"]
    if not placed:
        return
    target = 1 + day % len(state.window.days), 1 + start % state.window.sections
    outcome = move(state, placed[pick % len(placed)].id, *target, "user")
    if isinstance(outcome, Edited):
        model = CostModel(state)
        targets = {change.task_id: change.after for change in outcome.changes if change.after}
        assert revalue(state, evaluate(state), targets, model) == evaluate(outcome.state)
