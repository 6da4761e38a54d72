"""What the judge tells: arguments, metrics, issues with their triggers, feasibility, and the decision for each case."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from newagent.schedule.edits import Edited, move, swap
from newagent.schedule.judge import analyze_health, judge_delta
from newagent.schedule.model import ScheduleState
from newagent.schedule.placement import relax, rough_build
from tests.schedule.base.made_states import made_state
from tests.schedule.base.oracle import day_terms
from tests.schedule.base.small_states import course, heavy, item, state_of, task_class


def day_of(classes: str, *, span: int = 2, **more: Any) -> ScheduleState:
    """A first day with an item for each letter from section 1 on; capital letters are heavy classes."""
    letters = sorted(set(classes))
    made = [(heavy if letter.isupper() else task_class)(10 + n, name=letter) for n, letter in enumerate(letters)]
    tasks = [item(k, 10 + letters.index(letter), k, (1, 2 * k - 1)) for k, letter in enumerate(classes, start=1)]
    return state_of(tasks, made, span=span, **more)


@pytest.mark.parametrize(
    "arguments",
    [
        {"dimensions": ["moon"]},
        {"dimensions": []},
        {"dimensions": "rhythm"},
        {"dimensions": 5},
        {"dimensions": ["rhythm", None]},
        {"threshold": "lax"},
        {"threshold": None},
        {"threshold": ["strict"]},
        {"detail": "all"},
        {"detail": 3},
        {"class_ids": [99]},
        {"class_ids": 10},
    ],
)
def test_bad_arguments_are_a_result(arguments: dict[str, Any]) -> None:
    envelope = analyze_health(day_of("ab"), **arguments)
    assert (envelope["tool"], envelope["success"], envelope["error_code"]) == ("analyze_health", False, "invalid_args")
    assert envelope["error"]


def test_every_metric_is_explained_and_the_same_each_time() -> None:
    state = day_of("aAbB")
    names = ["rhythm", "tightness", "profile", "feasibility", "preference", "load", "subjects", "context", "tolerance"]
    envelope = analyze_health(state, dimensions=names, detail="full")
    assert json.dumps(envelope) == json.dumps(analyze_health(state, dimensions=names, detail="full"))
    metrics, schema = envelope["metrics"], envelope["metric_schema"]
    for name in ("rhythm", "tightness", "profile", "preference"):
        explained = {key.removeprefix(f"{name}.") for key in schema if key.startswith(f"{name}.")}
        assert explained == {key for key in metrics[name] if not key.endswith("_facts")}
    for name in ("pending", "cost", "terms", "can_close"):
        assert name in schema
        assert name in metrics
    assert metrics["load"]["summary"]["total_used"] == 8
    assert "load.summary.total_used" in schema
    assert not {issue["dimension"] for issue in envelope["issues"]} & {"load", "subjects", "context", "tolerance"}
    assert set(analyze_health(state, dimensions=["load"])["metrics"]) == {
        "pending",
        "cost",
        "terms",
        "load",
        "can_close",
    }


def test_rhythm_metrics() -> None:
    tasks = [
        item(1, 10, 1, (1, 1)),
        item(2, 11, 1, (1, 3)),
        item(3, 10, 2, (1, 5)),
        item(4, 11, 2, (1, 7)),
        item(5, 10, 3, (2, 1), length=4),
        item(6, 12, 1, (2, 5)),
        item(7, 10, 4, (3, 1), length=4),
        item(8, 10, 5, (3, 5), length=4),
    ]
    classes = [heavy(10), heavy(11, subject_type="memory"), task_class(12, subject_type="memory")]
    envelope = analyze_health(state_of(tasks, classes, span=4), dimensions=["rhythm"])
    assert envelope["metrics"]["rhythm"] == {
        "avg_switches_per_day": round(4 / 3, 6),
        "max_switch_day": 1,
        "max_switch_day_facts": {"day": 1, "date": "2026-03-02", "weekday": "周一", "week": 1},
        "max_switch_count": 3,
        "avg_block_size": round(11 / 7, 6),
        "longest_same_subject_run": 4,
        "heavy_adjacent_days": 1,
        "high_intensity_days": 3,
        "long_high_intensity_days": 2,
        "fragmented_count": 1,
        "compressed_run_count": 2,
        "block_balance": -1,
        "same_type_transition_ratio": round(4 / 8, 6),
    }
    empty = analyze_health(state_of([], [task_class(10)]), dimensions=["rhythm"])["metrics"]["rhythm"]
    assert (empty["avg_switches_per_day"], empty["max_switch_day"], empty["avg_block_size"]) == (0.0, None, 0.0)


def test_preference_and_profile_metrics() -> None:
    wishes = {"avoid": [{"period": "morning"}], "load": "light", "daily_cap": 4, "tolerance": "high"}
    state = day_of("aAbBab", preferences=wishes)
    metrics = analyze_health(state)["metrics"]
    assert metrics["preference"] == {
        "avoided_entries": 2,
        "unpreferred_entries": 0,
        "evening_heavy_entries": 0,
        "days_over_load": 1,
        "days_over_cap": 1,
        "days_without_buffer": 1,
    }
    bare = state_of([], [{"id": 1, "name": "x"}, task_class(2, difficulty_level=None)])
    assert analyze_health(bare)["metrics"]["profile"] == {
        "missing_subject_type": 1,
        "missing_difficulty_level": 2,
        "missing_cognitive_intensity": 1,
    }


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (day_of("AB"), ("heavy_adjacent_d1", "warning", "heavy_adjacent", ">", 0, 1, [1, 2])),
        (day_of("AAAA"), ("heavy_run_d1", "warning", "max_heavy_run", ">", 3, 4, [1, 2, 3, 4])),
        (day_of("aaaaa"), ("long_block_d1", "warning", "max_block", ">", 4, 5, [1, 2, 3, 4, 5])),
        (day_of("abab"), ("switching_d1", "warning", "switch_count", ">", 2, 3, [1, 2, 3, 4])),
        (day_of("aaabbb"), ("overload_d1", "warning", "used_sections", ">", 10, 12, [1, 2, 3, 4, 5, 6])),
        (
            day_of("aA", preferences={"avoid": [{"period": "morning", "task_class_id": 10}]}),
            ("avoided_d1", "warning", "avoided_entries", ">", 0, 1, [2]),
        ),
        (
            day_of("ab", preferences={"prefer": [{"period": "evening", "task_class_id": 10}]}),
            ("unpreferred_d1", "warning", "unpreferred_entries", ">", 0, 1, [1]),
        ),
        (day_of("aaabA"), ("evening_heavy_d1", "info", "evening_heavy_entries", ">", 0, 1, [5])),
        (
            day_of("aaabbb", preferences={"load": "sprint", "tolerance": "high"}),
            ("buffer_d1", "warning", "pairs_of_free_sections", "<", 1, 0, [1, 2, 3, 4, 5, 6]),
        ),
        (day_of("ab", preferences={"daily_cap": 2}), ("cap_d1", "warning", "study_sections", ">", 2, 4, [1, 2])),
        (
            day_of("ababab", preferences={"load": "sprint"}),
            ("switching_d1", "critical", "switch_count", ">=", 5, 5, [1, 2, 3, 4, 5, 6]),
        ),
    ],
)
def test_issues_of_a_day(state: ScheduleState, expected: tuple[Any, ...]) -> None:
    (found,) = analyze_health(state)["issues"]
    trigger = found["trigger"]
    assert (
        found["issue_id"],
        found["severity"],
        trigger["metric"],
        trigger["operator"],
        trigger["threshold"],
        trigger["actual"],
        found["task_ids"],
    ) == expected
    assert (found["day"], found["date"], found["weekday"], found["week"]) == (1, "2026-03-02", "周一", 1)
    assert found["cost"] == day_terms(state.dump(), 1)[found["code"]] > 0


def test_issues_are_sorted_by_severity_cost_and_day() -> None:
    state = state_of(
        [
            *(item(k, 10 + k % 2, k, (1, 2 * k - 1)) for k in range(1, 7)),
            *(item(10 + k, 12 + k % 2, k, (2, 2 * k - 1)) for k in range(1, 3)),
            item(20, 12, 9, (3, 9)),
        ],
        [task_class(10), task_class(11), heavy(12), heavy(13), {"id": 14, "name": "bare"}],
    )
    envelope = analyze_health(state, class_ids=[10, 14])
    assert [issue["issue_id"] for issue in envelope["issues"]] == [
        "switching_d1",
        "profile_c14",
        "heavy_adjacent_d2",
        "overload_d1",
        "evening_heavy_d3",
    ]
    assert [issue["severity"] for issue in envelope["issues"]] == ["critical", *["warning"] * 3, "info"]
    assert "profile_c14" not in [issue["issue_id"] for issue in analyze_health(state, class_ids=[10])["issues"]]
    assert len(envelope["next_actions"]) == 3
    assert [action["intent_code"] for action in envelope["next_actions"]] == [
        "reduce_switch",
        "ask_profile",
        "separate_heavy",
    ]


def test_full_detail_lists_the_days_that_cost_something() -> None:
    days = analyze_health(day_of("ABab"), detail="full")["metrics"]["days"]
    assert [(day["day"], day["cost"], day["terms"]) for day in days] == [
        (1, 50, {"heavy_adjacent": 40, "switching": 10})
    ]


# the decision


def test_pending_items_are_placed() -> None:
    state = state_of([item(1, 10, 1), item(2, 20, 1, (4, 1))], [task_class(10), task_class(20)])
    envelope = analyze_health(state)
    decision = envelope["decision"]
    assert decision["recommended_operation"] == "rough_build"
    assert decision["recommended_arguments"] == {"task_class_ids": [10], "rebuild": False}
    assert decision["should_continue_optimize"]
    assert decision["primary_problem"]["code"] == "pending"
    assert decision["primary_problem"]["task_ids"] == [1]
    assert not envelope["metrics"]["can_close"]
    assert envelope["feasibility"] == {"is_feasible": True, "capacity_gap": 0, "reason_code": "ok"}
    assert envelope["next_actions"][0]["candidate_write_tools"] == ["rough_build", "place"]
    outside = analyze_health(state, class_ids=[20])
    assert outside["decision"]["recommended_operation"] == "close"


def blocked() -> ScheduleState:
    """Two days with room for two items; the class that may only stand on the first is shut out by the other."""
    tasks = [course(9, (1, 3, 12), (2, 3, 12)), item(1, 10, 1), item(2, 20, 1, (1, 1))]
    return state_of(tasks, [task_class(10, excluded_days_of_week=[2]), task_class(20)], span=2)


def test_what_stands_in_the_way_is_built_anew() -> None:
    scope = analyze_health(blocked())
    assert scope["feasibility"]["reason_code"] in ("blocked", "capacity")
    both = state_of([*blocked().dump()["tasks"], item(3, 20, 2)], blocked().dump()["task_classes"], span=2)
    assert not analyze_health(both)["feasibility"]["is_feasible"]
    free = state_of(
        [course(9, (1, 3, 12), (2, 3, 12)), item(1, 10, 1, (1, 1)), item(2, 10, 2)], [task_class(10)], span=2
    )
    assert analyze_health(free)["feasibility"]["reason_code"] == "ok"
    order = state_of(
        [course(9, (1, 3, 12), (2, 3, 12)), item(1, 10, 1), item(2, 10, 2, (1, 1))], [task_class(10)], span=2
    )
    envelope = analyze_health(order)
    assert envelope["feasibility"] == {"is_feasible": True, "capacity_gap": 2, "reason_code": "blocked"}
    assert envelope["decision"]["recommended_arguments"] == {"task_class_ids": [10], "rebuild": True}


def test_what_does_not_fit_is_negotiated() -> None:
    tasks = [course(9, (1, 3, 12), (2, 1, 12)), item(1, 10, 1), item(2, 10, 2)]
    classes = [task_class(10, excluded_days_of_week=[3], end_date="2026-03-04", excluded_slots=[2])]
    state = state_of(tasks, classes, span=3, preferences={"load": "sprint"})
    envelope = analyze_health(state)
    decision = envelope["decision"]
    assert envelope["feasibility"]["is_feasible"] is False
    assert envelope["feasibility"]["reason_code"] == "capacity"
    assert envelope["feasibility"]["capacity_gap"] == 2
    assert [issue["issue_id"] for issue in envelope["issues"]] == ["feasibility", "pending"]
    assert (decision["recommended_operation"], decision["should_continue_optimize"]) == ("ask_user", False)
    assert not envelope["metrics"]["can_close"]
    codes = [option["code"] for option in decision["options"]]
    assert codes[0] == "ask_expand_window"
    assert "ask_relax_constraints" in codes
    assert codes[-2:] == ["ask_reduce_scope_or_budget", "accept_risk_and_close"]
    for option in decision["options"]:
        assert option["summary"]
        if option["relaxation"] is not None:
            eased = relax(state, option["relaxation"])
            built = rough_build(eased, [10])
            assert isinstance(built, Edited), option
            assert len([task for task in built.state.items if task.slot]) == option["effect"]["placed"]
            assert option["effect"]["feasible"]
    assert decision["options"][-1]["effect"] == {"feasible": False, "placed": 0, "pending": 2}
    assert [action["intent_code"] for action in envelope["next_actions"]] == codes[:3]


def test_other_relaxations_are_told_in_words() -> None:
    host = course(9, (1, 1, 12), can_embed=True)
    embedding = state_of([host, item(1, 10, 1)], [task_class(10)], span=1)
    words = [option["summary"] for option in analyze_health(embedding)["decision"]["options"]]
    assert any("嵌入" in word for word in words)
    block = state_of([course(9, (1, 3, 12)), item(1, 10, 1)], [task_class(10, excluded_slots=[1])], span=1)
    assert any("第 1 大节" in o["summary"] for o in analyze_health(block)["decision"]["options"])
    weekday = state_of([item(1, 10, 1)], [task_class(10, excluded_days_of_week=[1])], span=1)
    assert any("周一" in option["summary"] for option in analyze_health(weekday)["decision"]["options"])


def test_a_class_without_profile_is_asked_for() -> None:
    state = state_of([item(1, 10, 1), item(2, 20, 1, (1, 1))], [{"id": 10, "name": "高数"}, task_class(20)])
    envelope = analyze_health(state)
    assert envelope["decision"]["recommended_operation"] == "ask_user"
    assert envelope["decision"]["recommended_arguments"] == {"task_class_ids": [10]}
    assert [a["intent_code"] for a in envelope["next_actions"]] == ["place_pending", "ask_profile"]
    placed = state_of([item(1, 10, 1, (2, 1))], [{"id": 10, "name": "高数"}])
    decision = analyze_health(placed)["decision"]
    assert decision["primary_problem"] == {
        "code": "profile",
        "summary": "任务类「高数」缺少学科画像",
        "day": None,
        "task_ids": [],
    }
    assert decision["problem_scope"] == {"days": [], "task_class_ids": [10], "task_ids": []}


def test_a_good_timetable_is_closed() -> None:
    decision = analyze_health(state_of([item(1, 10, 1, (4, 1))], [task_class(10)]))["decision"]
    assert decision["recommended_operation"] == "close"
    assert not decision["should_continue_optimize"]
    assert not decision["is_forced_imperfection"]
    assert decision["primary_problem"] is None
    assert decision["problem_scope"] is None
    assert [candidate["candidate_id"] for candidate in decision["candidates"]] == ["close"]
    close = decision["candidates"][0]
    assert (close["tool"], close["arguments"], close["benefit"]) == ("apply_candidate", {"candidate_id": "close"}, 0)
    assert close["before"] == close["after"]


def test_what_cannot_be_helped_is_closed_as_forced() -> None:
    tasks = [course(9, (1, 5, 12)), item(1, 10, 1, (1, 1)), item(2, 20, 1, (1, 3))]
    envelope = analyze_health(state_of(tasks, [heavy(10), heavy(20)], span=1))
    decision = envelope["decision"]
    assert [issue["issue_id"] for issue in envelope["issues"]] == ["heavy_adjacent_d1", "overload_d1"]
    assert (decision["recommended_operation"], decision["is_forced_imperfection"]) == ("close", True)
    assert envelope["metrics"]["can_close"]
    tight = envelope["metrics"]["tightness"]
    assert tight["forced_heavy_adjacent_days"] == 1
    assert tight["cross_class_swap_options"] == 1
    assert tight["tightness_level"] == "tight"


def test_going_on_is_worth_two_points_or_a_fiftieth_or_one_while_something_is_critical() -> None:
    from newagent.schedule.judge.decision import worthwhile

    assert worthwhile(2, 100, False, "normal")
    assert not worthwhile(1, 100, False, "normal")
    assert not worthwhile(1, 0, False, "normal")
    assert worthwhile(3, 150, False, "normal")
    assert not worthwhile(2, 101, False, "normal")
    assert worthwhile(1, 5000, True, "normal")
    assert not worthwhile(0, 0, True, "normal")
    assert worthwhile(9, 500, False, "strict")
    assert not worthwhile(10, 500, False, "relaxed")
    assert worthwhile(11, 500, False, "relaxed")


def test_the_signal_changes_with_pending_and_terms_only() -> None:
    def signal(state: ScheduleState) -> str:
        return analyze_health(state)["decision"]["improvement_signal"]

    one = state_of([item(1, 10, 1, (1, 1)), item(2, 10, 2, (5, 1))], [task_class(10)])
    same = state_of([item(1, 10, 1, (1, 3)), item(2, 10, 2, (5, 5))], [task_class(10)])
    other = state_of([item(1, 10, 1, (1, 1)), item(2, 10, 2, (6, 1))], [task_class(10)])
    pending = state_of([item(1, 10, 1, (1, 1)), item(2, 10, 2, (5, 1)), item(3, 10, 3)], [task_class(10)])
    assert signal(one) == signal(same)
    assert len({signal(one), signal(other), signal(pending)}) == 3


def test_an_edit_is_judged_before_and_after() -> None:
    before, after = day_of("AB"), day_of("Ab")
    delta = judge_delta(before, after)
    assert delta["before"]["terms"]["heavy_adjacent"] == 40
    assert delta["after"]["terms"]["heavy_adjacent"] == 0
    assert [issue["issue_id"] for issue in delta["issues_lost"]] == ["heavy_adjacent_d1"]
    assert delta["issues_gained"] == []
    assert (delta["before"]["issues"], delta["after"]["issues"]) == (1, 0)


# tightness, counted by brute force


@pytest.mark.parametrize("tens", range(0, 24, 8))
def test_tightness_is_counted_exactly(tens: int) -> None:
    for seed in range(tens, tens + 8):
        state = made_state(Random(3000 + seed), items=6, span=6)
        document = state.dump()
        terms = {day.day: day_terms(document, day.day) for day in state.window.days}
        days = {day for day, of in terms.items() if any(v for k, v in of.items() if k != "evening_heavy")}
        days = days or set(terms)
        adjacent = {day for day, of in terms.items() if of["heavy_adjacent"]}
        counts: list[int] = []
        swaps = 0
        parted: set[int] = set()

        def note(
            after: ScheduleState, parted: set[int] = parted, adjacent: set[int] = adjacent, terms: Any = terms
        ) -> None:
            told = after.dump()
            for day in adjacent - parted:
                if day_terms(told, day)["heavy_adjacent"] < terms[day]["heavy_adjacent"]:
                    parted.add(day)

        placed = [task for task in state.items if task.status == "suggested"]
        for task in placed:
            others = 0
            for day in terms:
                for start in range(1, state.window.sections + 1, 2 - task.sections % 2):
                    outcome = move(state, task.id, day, start)
                    if isinstance(outcome, Edited):
                        others += 1
                        note(outcome.state)
            if others and task.slots[0].day in days:
                counts.append(others)
            for other in placed:
                if other.id > task.id and other.task_class_id != task.task_class_id:
                    outcome = swap(state, task.id, other.id)
                    if isinstance(outcome, Edited):
                        swaps += bool({task.slots[0].day, other.slots[0].day} & days)
                        note(outcome.state)
        mean = sum(counts) / len(counts) if counts else 0.0
        level = "tight"
        if not counts and not swaps:
            level = "locked"
        elif len(counts) >= 4 and (mean >= 2 or swaps >= 2):
            level = "loose"
        assert analyze_health(state)["metrics"]["tightness"] == {
            "locally_movable_task_count": len(counts),
            "avg_local_alternative_slots": round(mean, 6),
            "cross_class_swap_options": swaps,
            "forced_heavy_adjacent_days": len(adjacent - parted),
            "tightness_level": level,
        }
