"""The observers on small weeks: every number worked out by hand, every limit at its edge, strict and relaxed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from newagent.schedule.envelope import SEVERITIES
from newagent.schedule.model import ScheduleState
from newagent.schedule.observers import (
    analyze_context,
    analyze_load,
    analyze_rhythm,
    analyze_subjects,
    analyze_tolerance,
)
from newagent.schedule.observers.subjects import concentration
from tests.schedule.base.made_states import made_state
from tests.schedule.base.small_states import course, heavy, item, state_of, task_class

Observer = Callable[..., dict[str, Any]]
ALL: tuple[Observer, ...] = (analyze_context, analyze_load, analyze_rhythm, analyze_subjects, analyze_tolerance)
ACTION = {
    "action_id",
    "priority",
    "intent_code",
    "target_filter",
    "slot_filter",
    "candidate_scope",
    "required_reads",
    "success_criteria",
    "candidate_write_tools",
}


def worst(envelope: dict[str, Any]) -> list[tuple[str, str]]:
    """(severity, id) of what was found."""
    assert envelope["success"], envelope["error"]
    return [(issue["severity"], issue["issue_id"]) for issue in envelope["issues"]]


@pytest.mark.parametrize("observer", ALL)
def test_the_envelope(observer: Observer) -> None:
    for seed in range(25):
        state = made_state(Random(seed))
        before = state.dump()
        for threshold in ("strict", "normal", "relaxed"):
            envelope = observer(state, threshold=threshold)
            assert envelope["tool"] == observer.__name__
            if not envelope["success"]:
                assert envelope["error_code"] == "insufficient_data"
                continue
            assert (envelope["error"], envelope["error_code"]) == ("", "")
            for told in envelope["metric_schema"].values():
                assert told.keys() == {"meaning", "unit", "direction"}
            for issue in envelope["issues"]:
                assert issue["severity"] in SEVERITIES
                assert issue["trigger"].keys() == {"metric", "operator", "threshold", "actual"}
                compared = issue["trigger"]["actual"], issue["trigger"]["threshold"]
                assert {
                    ">=": compared[0] >= compared[1] - 1e-6,
                    ">": compared[0] > compared[1],
                    "<": compared[0] < compared[1] + 1e-6,
                }[issue["trigger"]["operator"]]
            assert len(envelope["next_actions"]) <= 3
            for action in envelope["next_actions"]:
                assert action.keys() == ACTION
                assert action["candidate_scope"].keys() == {"day_range", "categories", "task_pool"}
        assert state.dump() == before


@pytest.mark.parametrize("observer", ALL)
@pytest.mark.parametrize(
    "arguments",
    [{"threshold": "lax"}, {"colour": "red"}, {"threshold": None}, {"threshold": ["strict"]}, {"detail": "much"}],
)
def test_bad_arguments_are_a_result(observer: Observer, arguments: dict[str, Any]) -> None:
    envelope = observer(made_state(Random(1)), **arguments)
    assert (envelope["success"], envelope["error_code"]) == (False, "invalid_args")
    assert envelope["error"]
    assert envelope["metrics"] == {}


# load


def loaded(*used: int, embedded: bool = False) -> ScheduleState:
    """Days with so many sections held, the first two by an item where there are any."""
    tasks: list[dict[str, Any]] = []
    order = 0
    for day, count in enumerate(used, start=1):
        if count >= 2:
            order += 1
            tasks.append(item(100 + day, 10, order, (day, 1)))
            if count > 2 or embedded:
                tasks.append(course(day, (day, 1 if embedded else 3, count), can_embed=embedded))
    return state_of(tasks, [task_class(10, allow_filler_course=True)], span=len(used))


def test_the_load_of_two_days() -> None:
    tasks = [course(1, (1, 1, 4), (2, 9, 10)), item(2, 10, 1, (1, 9)), item(3, 10, 2, (2, 5), length=3), item(4, 10, 3)]
    envelope = analyze_load(state_of(tasks, [task_class(10)], span=2), detail="full")
    metrics = envelope["metrics"]
    summary = metrics["summary"]
    assert {k: summary[k] for k in ("total_used", "course_used", "task_used", "embedded", "pending_count")} == {
        "total_used": 11,
        "course_used": 6,
        "task_used": 5,
        "embedded": 0,
        "pending_count": 1,
    }
    assert summary["utilization_rate"] == round(11 / 24, 6)
    assert summary["load_std_dev"] == round(0.5**0.5, 6)
    assert summary["load_range"] == 1
    assert (summary["peak"]["day"], summary["valley"]["day"]) == (1, 2)
    first, second = metrics["days"]
    assert first["by_period"] == {"morning": 4, "afternoon": 0, "evening": 2}
    assert (first["delta_from_prev"], second["delta_from_prev"]) == (None, -1)
    assert (first["weekday"], first["date"], first["level"]) == ("周一", "2026-03-02", "normal")
    assert metrics["weeks"] == [
        {
            "week": 1,
            "days": 2,
            "total_used": 11,
            "course_used": 6,
            "task_used": 5,
            "embedded": 0,
            "utilization": 0.458333,
        }
    ]
    assert [row["total_used"] for row in metrics["time_of_day"]] == [4, 3, 4]
    assert worst(envelope) == [("info", "load_std_dev")]


def test_an_embedded_item_counts_once() -> None:
    summary = analyze_load(loaded(4, embedded=True))["metrics"]["summary"]
    assert (summary["total_used"], summary["course_used"], summary["task_used"], summary["embedded"]) == (4, 4, 0, 2)
    assert (summary["load_std_dev"], summary["load_range"]) == (0.0, 0)


@pytest.mark.parametrize(
    ("used", "threshold", "expected"),
    [
        ((5, 5), "normal", []),
        ((9, 9), "normal", []),
        ((10, 10), "normal", [("warning", "load_d1"), ("warning", "load_d2")]),
        ((11, 11), "normal", [("critical", "load_d1"), ("critical", "load_d2")]),
        ((9, 9), "strict", [("warning", "load_d1"), ("warning", "load_d2")]),
        ((10, 10), "strict", [("critical", "load_d1"), ("critical", "load_d2")]),
        ((10, 10), "relaxed", []),
        ((11, 11), "relaxed", [("warning", "load_d1"), ("warning", "load_d2")]),
        ((12, 12), "relaxed", [("critical", "load_d1"), ("critical", "load_d2")]),
        ((4, 6), "normal", [("info", "load_std_dev")]),
        ((2, 5), "normal", [("warning", "load_std_dev")]),
        ((2, 5), "relaxed", [("info", "load_std_dev")]),
        ((2, 8), "normal", [("warning", "load_std_dev")]),
        ((2, 9), "normal", [("critical", "load_std_dev")]),
        ((2, 9), "relaxed", [("warning", "load_std_dev")]),
        ((0, 7, 0), "normal", [("critical", "load_std_dev")]),
    ],
)
def test_load_limits(used: tuple[int, ...], threshold: str, expected: list[tuple[str, str]]) -> None:
    assert worst(analyze_load(loaded(*used), threshold=threshold)) == expected


@pytest.mark.parametrize(("granularity", "shown"), [("day", "days"), ("week", "weeks"), ("time_of_day", "time_of_day")])
def test_the_grain(granularity: str, shown: str) -> None:
    metrics = analyze_load(loaded(5, 5), granularity=granularity)["metrics"]
    assert metrics.keys() == {"summary", shown}


def test_load_actions_speak_of_items_only() -> None:
    crowded = analyze_load(loaded(11, 2, 2))
    (first, second) = crowded["next_actions"]
    assert (first["intent_code"], first["target_filter"], first["slot_filter"]) == (
        "rebalance_load",
        {"days": [1]},
        {"days": [2, 3]},
    )
    assert second["success_criteria"]["metric"] == "load_std_dev"
    courses_only = state_of([course(1, (1, 1, 12))], [task_class(10)], span=3)
    assert analyze_load(courses_only)["next_actions"] == []


@pytest.mark.parametrize("observer", [analyze_load, analyze_tolerance])
@pytest.mark.parametrize(
    ("arguments", "days"),
    [
        ({}, 14),
        ({"scope": "week"}, 14),
        ({"scope": "week", "week_from": 2}, 7),
        ({"scope": "week", "week_to": 1}, 7),
        ({"scope": "day_range", "day_from": 3, "day_to": 5}, 3),
    ],
)
def test_spans(observer: Observer, arguments: dict[str, Any], days: int) -> None:
    state = state_of([item(1, 10, 1, (4, 1))], [task_class(10)], span=14)
    assert len(observer(state, **arguments)["metrics"]["days"]) == days


@pytest.mark.parametrize("observer", [analyze_load, analyze_tolerance])
@pytest.mark.parametrize(
    "arguments",
    [
        {"scope": "month"},
        {"scope": "day_range"},
        {"scope": "day_range", "day_from": 1},
        {"scope": "day_range", "day_from": 5, "day_to": 3},
        {"scope": "day_range", "day_from": 1, "day_to": 15},
        {"scope": "day_range", "day_from": 0, "day_to": 3},
        {"scope": "week", "week_from": 3},
        {"scope": "week", "week_from": 2, "week_to": 1},
        {"scope": "full", "day_from": 1},
        {"day_from": 1, "day_to": 2},
        {"week_from": 1},
        {"scope": "day_range", "day_from": "1", "day_to": 2},
        {"scope": "day_range", "day_from": True, "day_to": 2},
    ],
)
def test_spans_that_do_not_exist(observer: Observer, arguments: dict[str, Any]) -> None:
    state = state_of([item(1, 10, 1, (4, 1))], [task_class(10)], span=14)
    assert observer(state, **arguments)["error_code"] == "invalid_args"


# subjects


def spread(*days: int, total: int | None = None, pending: int = 0, **fields: Any) -> ScheduleState:
    """A class with one item on each of the days."""
    tasks = [item(k, 10, k, (day, 2 * k - 1 if days.count(day) > 1 else 1)) for k, day in enumerate(days, start=1)]
    tasks += [item(90 + k, 10, 90 + k) for k in range(pending)]
    return state_of(tasks, [task_class(10, total_slots=total, **fields)], span=14)


def subject(state: ScheduleState, **arguments: Any) -> dict[str, Any]:
    (row,) = analyze_subjects(state, **arguments)["metrics"]["subjects"]
    return row


def test_the_spread_of_a_class() -> None:
    row = subject(spread(1, 3, 8, total=10, pending=2, end_date="2026-03-12"), detail="full")
    assert row["present_days"] == [1, 3, 8]
    assert row["gaps"] == [1, 4]
    assert (row["avg_gap"], row["max_gap"], row["min_gap"]) == (2.5, 4, 1)
    assert row["std_gap"] == round(4.5**0.5, 6)
    assert (row["task_count"], row["placed"], row["pending"]) == (5, 3, 2)
    assert (row["used_slots"], row["budget_progress"], row["days_to_end"]) == (6, 0.6, 10)
    assert row["concentration"] == round((3 / 9 - 1 / 11) / (1 - 1 / 11), 6)
    assert row["sections_by_day"] == [{"day": day, "sections": 2} for day in (1, 3, 8)]
    assert row["items"][0] == {"task_id": 1, "order": 1, "day": 1}
    without = subject(spread(1, 3, pending=2), include_pending=False)
    assert (without["task_count"], without["pending"], without["budget_progress"]) == (2, None, None)


@pytest.mark.parametrize(
    ("parts", "days", "expected"),
    [
        ([], 5, 0.0),
        ([4], 1, 0.0),
        ([4], 0, 0.0),
        ([4], 5, 1.0),
        ([2, 2], 2, 0.0),
        ([2, 2], 4, 1 / 3),
        ([3, 1], 2, 0.25),
    ],
)
def test_concentration(parts: list[int], days: int, expected: float) -> None:
    assert concentration(parts, days) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("days", "threshold", "expected"),
    [
        ((1, 5, 9), "normal", []),
        ((1, 4, 9), "normal", [("warning", "max_gap_c10")]),
        ((1, 4, 9), "relaxed", [("info", "rhythm_c10")]),
        ((1, 5, 9), "strict", []),
        ((1, 8, 12), "normal", [("critical", "max_gap_c10")]),
        ((1, 8, 12), "relaxed", [("warning", "max_gap_c10")]),
        ((1, 7, 12), "normal", [("warning", "max_gap_c10")]),
        ((3, 3, 3), "normal", [("critical", "concentration_c10")]),
        ((3, 3, 3, 3, 3, 4), "normal", [("warning", "concentration_c10")]),
        ((3, 3, 3, 3, 3, 4), "relaxed", []),
    ],
)
def test_subject_limits(days: tuple[int, ...], threshold: str, expected: list[tuple[str, str]]) -> None:
    assert worst(analyze_subjects(spread(*days), threshold=threshold)) == expected


@pytest.mark.parametrize(
    ("total", "end", "threshold", "critical"),
    [
        (11, "2026-03-09", "normal", True),
        (10, "2026-03-09", "normal", False),
        (10, "2026-03-09", "strict", True),
        (11, "2026-03-09", "relaxed", False),
        (12, "2026-03-08", "relaxed", True),
        (12, "2026-03-09", "relaxed", False),
        (11, "2026-03-10", "normal", False),
        (11, None, "normal", False),
        (None, "2026-03-09", "normal", False),
    ],
)
def test_a_budget_that_is_behind(total: int | None, end: str | None, threshold: str, critical: bool) -> None:
    """Four sections are placed; the window starts on 2026-03-02."""
    envelope = analyze_subjects(spread(1, 3, total=total, pending=3, end_date=end), threshold=threshold)
    assert (("critical", "budget_c10") in worst(envelope)) == critical
    if critical:
        (action,) = [one for one in envelope["next_actions"] if one["intent_code"] == "catch_up"]
        assert action["candidate_scope"]["task_pool"] == "pending"


def test_a_category_that_does_not_exist_is_an_empty_success() -> None:
    envelope = analyze_subjects(spread(1), category="nothing")
    assert (envelope["success"], envelope["metrics"], envelope["issues"]) == (True, {"subjects": []}, [])
    assert len(analyze_subjects(spread(1), category="10")["metrics"]["subjects"]) == 1
    assert len(analyze_subjects(spread(1), category="class 10")["metrics"]["subjects"]) == 1
    assert analyze_subjects(state_of([], []))["error_code"] == "insufficient_data"


# context


def sequence(classes: str, **more: Any) -> ScheduleState:
    """A day with an item for each letter from section 1 on; capital letters are heavy."""
    letters = sorted(set(classes))
    made = [(heavy if letter.isupper() else task_class)(10 + n, name=letter) for n, letter in enumerate(letters)]
    tasks = [item(k, 10 + letters.index(letter), k, (1, 2 * k - 1)) for k, letter in enumerate(classes, start=1)]
    return state_of(tasks, made, **more)


def test_the_switches_of_a_day() -> None:
    envelope = analyze_context(sequence("aabAB"), detail="day_detail")
    overall, (day,) = envelope["metrics"]["overall"], envelope["metrics"]["days"]
    assert overall == {
        "total_switches": 3,
        "avg_switches_per_day": 3.0,
        "longest_block": 2,
        "avg_block_size": 1.25,
        "heavy_adjacent": 0,
    }
    assert (day["switch_count"], day["fragmentation"]) == (3, 0.75)
    assert day["blocks"] == [
        {"category": name, "entries": count} for name, count in (("a", 2), ("b", 1), ("A", 1), ("B", 1))
    ]
    assert [pair["task_ids"] for pair in day["adjacent_pairs"]] == [[2, 3], [3, 4], [4, 5]]
    assert [entry["task_id"] for entry in day["sequence"]] == [1, 2, 3, 4, 5]


def test_demanding_classes_may_be_named() -> None:
    assert analyze_context(sequence("ABab"))["metrics"]["overall"]["heavy_adjacent"] == 1
    named = analyze_context(sequence("ABab"), hard_categories=["a", "b"])
    assert named["metrics"]["overall"]["heavy_adjacent"] == 1
    assert [pair["heavy"] for pair in named["metrics"]["days"][0]["adjacent_pairs"]] == [False, False, True]
    assert analyze_context(sequence("ABab"), hard_categories=[])["metrics"]["overall"]["heavy_adjacent"] == 0
    assert analyze_context(sequence("ABab"), hard_categories=["x"])["error_code"] == "invalid_args"
    (torn, apart) = named["next_actions"]
    assert (torn["intent_code"], apart["target_filter"]["task_ids"]) == ("reduce_switch", [3, 4])
    assert "min_context_switch" not in torn["candidate_write_tools"]


@pytest.mark.parametrize(
    ("classes", "threshold", "expected"),
    [
        ("aabb", "normal", [("info", "total_switches")]),
        ("aa", "normal", []),
        ("ab", "normal", [("info", "total_switches")]),
        ("abc", "normal", [("warning", "context_d1")]),
        ("aabbc", "normal", [("info", "total_switches")]),
        ("aabbc", "strict", [("warning", "context_d1")]),
        ("abc", "relaxed", [("info", "total_switches")]),
        ("abca", "relaxed", [("warning", "context_d1")]),
        ("abca", "normal", [("warning", "context_d1")]),
        ("ababa", "normal", [("warning", "context_d1")]),
        ("ababa", "strict", [("warning", "context_d1")]),
        ("ababab", "normal", [("critical", "context_d1")]),
        ("ababab", "relaxed", [("warning", "context_d1")]),
        ("aababa", "normal", [("warning", "context_d1")]),
    ],
)
def test_context_limits(classes: str, threshold: str, expected: list[tuple[str, str]]) -> None:
    assert worst(analyze_context(sequence(classes), threshold=threshold)) == expected


def test_nothing_placed_is_an_empty_success() -> None:
    state = sequence("ab")
    assert analyze_context(state, day_from=2)["metrics"] == {}
    assert analyze_context(state, day_from=2)["success"]
    assert analyze_context(state, day_from=9)["error_code"] == "invalid_args"
    assert analyze_context(state, day_from=5, day_to=4)["error_code"] == "invalid_args"


# tolerance


def test_the_room_of_a_day() -> None:
    tasks = [course(1, (1, 1, 2)), item(2, 10, 1, (1, 4), length=1), item(3, 10, 2, (1, 9))]
    envelope = analyze_tolerance(state_of(tasks, [task_class(10)], span=1), detail="full")
    (day,) = envelope["metrics"]["days"]
    assert [(block["start"], block["end"], block["usable"]) for block in day["free_blocks"]] == [
        (3, 3, False),
        (5, 8, True),
        (11, 12, True),
    ]
    assert [(block["before"], block["after"]) for block in day["free_blocks"]] == [
        ("course", "task"),
        ("task", "task"),
        ("task", "edge"),
    ]
    assert day["free_blocks"][0]["task_ids"] == [1, 2]
    assert envelope["metrics"]["overall"] == {
        "total_free": 7,
        "usable": 6,
        "fragmented": 1,
        "fragmentation_rate": round(1 / 7, 6),
        "days_without_buffer": 0,
    }
    assert worst(envelope) == [("info", "fragmented")]
    assert (
        analyze_tolerance(state_of(tasks, [task_class(10)], span=1), min_usable_size=4)["metrics"]["overall"]["usable"]
        == 4
    )


def full_days(*gaps: tuple[int, ...]) -> ScheduleState:
    """Days held by courses but for the sections given."""
    tasks: list[dict[str, Any]] = []
    for day, free in enumerate(gaps, start=1):
        held = set(range(1, 13)) - set(free)
        tasks += [course(100 * day + section, (day, section, section)) for section in sorted(held)]
    return state_of(tasks, [task_class(10)], span=len(gaps))


@pytest.mark.parametrize(
    ("gaps", "threshold", "expected"),
    [
        (((1, 2), (1, 2)), "normal", []),
        (((1, 2), ()), "normal", [("warning", "days_without_buffer")]),
        (((1, 2), ()), "relaxed", []),
        (((1, 2), ()), "strict", [("warning", "days_without_buffer")]),
        (((), ()), "normal", [("critical", "days_without_buffer")]),
        (((), ()), "relaxed", [("warning", "days_without_buffer")]),
        (((), (), ()), "relaxed", [("critical", "days_without_buffer")]),
        (((1, 2, 4), (1, 2, 4)), "normal", [("info", "fragmented")]),
        (((1, 2, 4, 6),), "normal", [("warning", "fragmentation_rate")]),
        (((1, 2, 4, 6),), "relaxed", [("warning", "fragmentation_rate")]),
        (((1, 2, 4, 6, 8, 10),), "normal", [("critical", "fragmentation_rate")]),
        (((1, 2, 4, 6, 8, 10),), "relaxed", [("warning", "fragmentation_rate")]),
        (((1, 2, 4, 6, 8),), "normal", [("warning", "fragmentation_rate")]),
        (((1, 2, 4, 6, 8),), "strict", [("critical", "fragmentation_rate")]),
        (((1, 3),), "normal", [("warning", "days_without_buffer"), ("critical", "fragmentation_rate")]),
    ],
)
def test_tolerance_limits(gaps: tuple[tuple[int, ...], ...], threshold: str, expected: list[tuple[str, str]]) -> None:
    envelope = analyze_tolerance(full_days(*gaps), threshold=threshold)
    assert worst(envelope) == expected
    assert len(envelope["next_actions"]) == sum(severity != "info" for severity, _ in expected)


@pytest.mark.parametrize(
    "arguments", [{"min_usable_size": 0}, {"min_usable_size": -1}, {"min_daily_buffer": -1}, {"min_usable_size": 1.5}]
)
def test_sizes_that_make_no_sense(arguments: dict[str, Any]) -> None:
    assert analyze_tolerance(full_days((1, 2)), **arguments)["error_code"] == "invalid_args"


# rhythm


def test_why_a_day_is_torn() -> None:
    envelope = analyze_rhythm(sequence("ABaAb"), detail="full")
    (day,) = envelope["metrics"]["days"]
    assert day["sequence"] == ["A", "B", "a", "A", "b"]
    assert (day["switch_count"], day["fragmentation"], day["max_block"], day["max_heavy_run"]) == (4, 1.0, 1, 2)
    assert day["heavy_pairs"] == [[1, 2]]
    assert day["same_type_transitions"] == 4
    assert (day["fragmented"], day["compressed"]) == (True, False)
    assert [entry["task_id"] for entry in day["items"]] == [1, 2, 3, 4, 5]
    assert worst(envelope) == [("warning", "fragmented_d1"), ("warning", "heavy_pairs_d1")]
    assert [action["intent_code"] for action in envelope["next_actions"]] == ["reduce_switch", "separate_heavy"]
    assert envelope["metrics"]["overall"] == {
        "days_with_items": 1,
        "fragmented_count": 1,
        "compressed_count": 0,
        "heavy_pairs": 1,
        "same_type_transition_ratio": 1.0,
    }


@pytest.mark.parametrize(
    ("classes", "threshold", "fragmented", "compressed"),
    [
        ("ab", "normal", False, False),
        ("abc", "normal", True, False),
        ("aabbc", "normal", False, False),
        ("aabbc", "strict", True, False),
        ("aabbcc", "normal", False, False),
        ("abca", "relaxed", True, False),
        ("aabbab", "normal", True, False),
        ("aaaa", "normal", False, False),
        ("aaaaa", "normal", False, True),
        ("aaaaa", "relaxed", False, False),
        ("AAAA", "normal", False, True),
        ("AAAA", "relaxed", False, False),
        ("AAA", "strict", False, False),
        ("AABB", "normal", False, True),
    ],
)
def test_torn_and_crammed(classes: str, threshold: str, fragmented: bool, compressed: bool) -> None:
    (day,) = analyze_rhythm(sequence(classes), threshold=threshold)["metrics"]["days"]
    assert (day["fragmented"], day["compressed"]) == (fragmented, compressed)


def test_nothing_to_explain() -> None:
    assert analyze_rhythm(sequence("ab"), day_from=2)["error_code"] == "insufficient_data"
    assert analyze_rhythm(sequence("ab"), day_to=8)["error_code"] == "invalid_args"
