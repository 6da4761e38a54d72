"""The parts of the rule model: times, names, places, wishes in words, and branches that need an odd request."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import json_repair
import pytest

from newagent.llm.decode import json_object
from newagent.llm.offline.facts import Call, ClassFacts, Facts, View, read_view
from newagent.llm.offline.naming import TaskLine, find_tasks, identity_of, match, named_classes, plain, tasks_in
from newagent.llm.offline.places import nearest, spot_in, spots_in
from newagent.llm.offline.policy import decide
from newagent.llm.offline.texts import TEXTS, wish_words
from newagent.llm.offline.when import When, when_of, without_time
from newagent.llm.offline.wishes import merged

WINDOW = {
    "days": 14,
    "first": "2026-03-04",
    "last": "2026-03-17",
    "sections": 12,
    "weeks": [3, 5],
    "periods": {"morning": [1, 4], "afternoon": [5, 8], "evening": [9, 12]},
}
CLASSES = ({"id": 1, "name": "概率论"}, {"id": 2, "name": "Linear Algebra"})


def view(*calls: Call, tools: str = "", brief: str = "现在是 2026-03-04（UTC）。", **fields: Any) -> View:
    base = {"phase": "planning", "goal": "", "window": WINDOW, "classes": CLASSES, "placed": 3}
    return View(Facts.model_validate({**base, **fields}), brief, frozenset(tools.split()), calls)


TIMES: list[tuple[str, dict[str, Any], list[int]]] = [
    ("周三", {"weekdays": (3,)}, [1, 8]),
    ("星期日晚上", {"weekdays": (7,), "period": "evening"}, [5, 12]),
    ("礼拜天", {"weekdays": (7,)}, [5, 12]),
    ("周一、周三", {"weekdays": (1, 3)}, [1, 6, 8, 13]),
    ("周一三五", {"weekdays": (1, 3, 5)}, [1, 3, 6, 8, 10, 13]),
    ("周一到周三", {"weekdays": (1, 2, 3)}, [1, 6, 7, 8, 13, 14]),
    ("周末", {"weekdays": (6, 7)}, [4, 5, 11, 12]),
    ("工作日", {"weekdays": (1, 2, 3, 4, 5)}, [1, 2, 3, 6, 7, 8, 9, 10, 13, 14]),
    ("下周三", {"weekdays": (3,), "shift": 1}, [8]),
    ("这周", {"shift": 0}, [1, 2, 3, 4, 5]),
    ("下下周一", {"weekdays": (1,), "shift": 2}, [13]),
    ("第4周周二", {"weekdays": (2,), "week": 4}, [7]),
    ("今晚", {"offset": 0, "period": "evening"}, [1]),
    ("明早", {"offset": 1, "period": "morning"}, [2]),
    ("后天下午", {"offset": 2, "period": "afternoon"}, [3]),
    ("3月9日", {"month_day": (3, 9)}, [6]),
    ("2026-03-09", {"month_day": (3, 9)}, [6]),
    ("3/9", {"month_day": (3, 9)}, [6]),
    ("march 9th", {"month_day": (3, 9)}, [6]),
    ("9 march", {"month_day": (3, 9)}, [6]),
    ("d5", {"day": 5}, [5]),
    ("day 5", {"day": 5}, [5]),
    ("第3-4节", {"sections": (3, 4)}, list(range(1, 15))),
    ("第3节", {"sections": (3, 99)}, list(range(1, 15))),
    ("第2大节", {"sections": (3, 4)}, list(range(1, 15))),
    ("sections 3 to 4", {"sections": (3, 4)}, list(range(1, 15))),
    ("tuesday and thursday evenings", {"weekdays": (2, 4), "period": "evening"}, [2, 7, 9, 14]),
    ("next friday", {"weekdays": (5,), "shift": 1}, [10]),
    ("this week", {"shift": 0}, [1, 2, 3, 4, 5]),
    ("weekdays", {"weekdays": (1, 2, 3, 4, 5)}, [1, 2, 3, 6, 7, 8, 9, 10, 13, 14]),
    ("week 4", {"week": 4}, [6, 7, 8, 9, 10, 11, 12]),
    ("the day after tomorrow", {"offset": 2}, [3]),
    ("某个时候", {}, list(range(1, 15))),
    ("wednesday at 3 pm", {"weekdays": (3,), "period": "afternoon"}, [1, 8]),
    ("9:30", {"period": "morning"}, list(range(1, 15))),
    ("周三19点", {"weekdays": (3,), "period": "evening"}, [1, 8]),
    ("12 am", {"period": "morning"}, list(range(1, 15))),
]


@pytest.mark.parametrize(("text", "said", "days"), TIMES, ids=[case[0] for case in TIMES])
def test_times(text: str, said: dict[str, Any], days: list[int]) -> None:
    when = when_of(text)
    assert {name: value for name, value in vars(when).items() if value not in (None, ())} == said
    assert bool(when) == bool(said)
    assert when.days(view()) == days
    assert not set("周三末月日晚早午") & set(without_time(text))


def test_a_chapter_is_no_time() -> None:
    assert not when_of("概率论第3章")
    assert not when_of("两周")


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("周三晚上", {"day_of_week": [3], "after_section": 8, "before_section": 13}),
        ("明天", {"day": 2}),
        ("下周", {"day_from": 6, "day_to": 12}),
        ("下周末", {"day_of_week": [6, 7], "day_from": 11, "day_to": 12}),
        ("第3-4节", {"after_section": 2, "before_section": 5}),
        ("", {}),
    ],
)
def test_times_as_filters(text: str, filters: dict[str, Any]) -> None:
    assert when_of(text).filters(view()) == filters


def test_without_a_window_there_are_no_days_and_without_a_date_today_is_the_first() -> None:
    assert When(offset=0).days(view(window=None)) == []
    assert When(period="evening").bounds(view(window=None)) is None
    for brief in ("", "现在是 2026-13-99（UTC）。"):
        assert When(offset=0).days(view(brief=brief)) == [1]
    assert view().today == dt.date(2026, 3, 4)


LINES = """符合的任务共 4 个，列出 4 个：
#2「概率论 第1章」[概率论] 序1 2节 已放 D2 第1周 周二 2026-03-03 第7-8节
#12「概率论 第12章」[概率论] 序12 1节 已放 D3 第1周 周三 2026-03-04 第5节
#20「Chapter 3: Eigenvalues」[Linear Algebra] 序1 2节 未放
#1「高等数学」[课程] D1 第1周 周一 2026-03-02 第1-2节"""


def test_task_lines_are_read() -> None:
    one, twelve, chapter, course = tasks_in(LINES)
    assert (one.id, one.name, one.klass, one.day, one.start, one.end) == (2, "概率论 第1章", "概率论", 2, 7, 8)
    assert (twelve.start, twelve.end) == (5, 5)
    assert (chapter.pending, chapter.day, one.pending) == (True, 0, False)
    assert (course.is_course, course.pending) == (True, False)


FOUND = [
    ("概率论第1章", [2]),
    ("概率论第一章", [2]),
    ("概率论 第 十二 章", [12]),
    ("概率第12章", [12]),
    ("率论第1章", [2]),
    ("第12章", [12]),
    ("概率论", [2, 12]),
    ("#20", [20]),
    ("任务20", [20]),
    ("20号任务", [20]),
    ("#99", []),
    ("chapter 3", [20]),
    ("the eigenvalues chapter", [20]),
    ("algebra chapter 3", [20]),
    ("linear algebra eigen", [20]),
    ("topology chapter 3", []),
    ("高数", [1]),
    ("红烧肉", []),
    ("的", []),
    ("第7章", []),
]


@pytest.mark.parametrize(("phrase", "ids"), FOUND)
def test_tasks_by_what_they_are_called(phrase: str, ids: list[int]) -> None:
    assert [task.id for task in find_tasks(phrase, tasks_in(LINES))] == ids


def test_numerals_are_read_as_numbers() -> None:
    assert plain("第二十三章 第十讲 第两百") == "第23章 第10讲 第2百"
    assert (identity_of("任务 7"), identity_of("任务 第7章"), identity_of("x")) == (7, None, None)
    assert match("第３章", "第3章") == 5


def test_classes_by_a_telling_part_of_their_name() -> None:
    classes = [ClassFacts(id=1, name="概率论期中复习"), ClassFacts(id=2, name="Linear Algebra Review")]
    assert named_classes("概率论期中复习", classes) == (1,)
    assert named_classes("我的概率论", classes) == (1,)
    assert named_classes("schedule algebra", classes) == (2,)
    assert named_classes("review 复习 it", classes) == ()


def test_places_are_read_and_the_nearest_is_free_and_near() -> None:
    listed = "符合的位置共 3 个：\nD3 周四 第1-2节 可嵌入「物理」\nD3 周四 第3-4节\nD9 周三 第5节"
    spots = spots_in(listed)
    assert [(spot.day, spot.start, spot.end, spot.embedded) for spot in spots] == [
        (3, 1, 2, True),
        (3, 3, 4, False),
        (9, 5, 5, False),
    ]
    task = TaskLine(1, "a", "b", "", day=4)
    assert nearest(spots, task) == spots[1]
    assert nearest(spots, replace(task, day=0)) == spots[1]
    assert nearest([], task) is None
    assert spot_in("移动 #4 到 D10 第2周 周三 2026-03-11 第9-10节") is not None
    assert spot_in("移动 #4") is None


@pytest.mark.parametrize(
    ("wishes", "zh", "en"),
    [
        ({"load": None, "avoid": None}, "恢复默认", "back to the defaults"),
        ({"daily_cap": 4}, "每天最多 4 节", "at most 4 sections a day"),
        ({"switching": "low"}, "一天少换科", "fewer switches a day"),
        ({"load": "balanced"}, "load=balanced", "load=balanced"),
        ({"avoid": [{"period": "evening"}]}, "晚上避开学习", "avoid studying in the evening"),
        (
            {"prefer": [{"period": "morning", "intensity": "high"}]},
            "上午优先费脑的内容",
            "prefer heavy work in the morning",
        ),
        (
            {"avoid": [{"period": "afternoon", "task_class_id": 1}]},
            "下午避开「概率论」",
            "avoid “概率论” in the afternoon",
        ),
        ({"avoid": [{"period": "evening", "task_class_id": 9}]}, "晚上避开「9」", "avoid “9” in the evening"),
    ],
)
def test_wishes_in_words(wishes: dict[str, Any], zh: str, en: str) -> None:
    assert (wish_words("zh", wishes, {1: "概率论"}), wish_words("en", wishes, {1: "概率论"})) == (zh, en)


def test_lists_of_wishes_are_joined_with_what_stands() -> None:
    evening, morning = {"period": "evening"}, {"period": "morning"}
    standing = {"avoid": [{"period": "evening", "task_class_id": None}], "prefer": [morning]}
    assert merged({"avoid": [morning]}, standing) == {"avoid": [evening, morning], "prefer": []}
    assert merged({"avoid": [evening]}, standing) == {"avoid": [evening]}
    assert merged({"load": "light"}, standing) == {"load": "light"}


def test_both_languages_say_the_same_things_about_the_same_values() -> None:
    assert TEXTS["zh"].keys() == TEXTS["en"].keys()
    for key, text in TEXTS["zh"].items():
        assert sorted(_names(text)) == sorted(_names(TEXTS["en"][key])), key


def _names(template: str) -> set[str]:
    return {part.split("}")[0] for part in template.split("{")[1:]}


def test_the_language_is_that_of_the_words_else_the_locale() -> None:
    assert [view(goal=goal, locale="en").language for goal in ("优化", "improve", "?!")] == ["zh", "en", "en"]


def test_a_repair_that_breaks_is_no_object(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> Any:
        raise IndexError

    monkeypatch.setattr(json_repair, "loads", broken)
    assert json_object("{x") is None
    assert json_object("{" * 600) is None


QUERIED = Call("query_target_tasks", {"category": "task", "limit": 200}, LINES)


def test_a_class_whose_tasks_were_cut_off_the_list_is_listed() -> None:
    reply = decide(view(QUERIED, tools="query_target_tasks", goal="把概率论第9章挪到周三"))
    assert (reply.name, reply.arguments["category"]) == ("query_target_tasks", "1")
    more = Call("query_target_tasks", {"category": "1", "limit": 199}, "#30「概率论 第9章」[概率论] 序9 2节 未放")
    reply = decide(view(QUERIED, more, tools="query_target_tasks", goal="把概率论第9章挪到周三"))
    assert (reply.name, reply.arguments["for_task_id"]) == ("query_available_slots", 30)
    empty = replace(more, result="符合的任务共 0 个，列出 0 个：")
    reply = decide(view(QUERIED, empty, tools="query_target_tasks", goal="把概率论第9章挪到周三"))
    assert reply.arguments["options"] == ["#2「概率论 第1章」", "#12「概率论 第12章」"]
    reply = decide(view(QUERIED, tools="query_target_tasks", goal="概率论第9章排在哪天"))
    assert reply.name == "query_target_tasks"


def test_a_task_that_must_not_be_moved_is_said_to_be_so() -> None:
    last = {"tool": "query_available_slots", "ok": False, "code": "locked"}
    reply = decide(view(QUERIED, tools="query_target_tasks", goal="把高数挪到周三", last=last))
    assert (reply.name, "不能改动它" in reply.text) == ("", True)


def test_a_task_without_any_legal_place_is_said_to_have_none() -> None:
    none = "符合的位置共 0 个，列出 0 个："
    filters = {"for_task_id": 2, "limit": 200, "day_of_week": [3]}
    tried = [
        Call("query_available_slots", filters, none),
        Call("query_available_slots", {"for_task_id": 2, "limit": 199}, none),
    ]
    reply = decide(view(QUERIED, *tried, tools="query_target_tasks", goal="把#2挪到周三"))
    assert (reply.name, "没有任何合法的位置" in reply.text) == ("", True)


MOVING = {"phase": "executing", "goal": "把#2挪到周三", "steps": [{"content": "移动 #2 到 D8 周三 第1-2节"}]}


def test_a_move_that_was_refused_by_the_rules_is_followed_by_other_places() -> None:
    last = {"tool": "move", "ok": False, "code": "conflict"}
    brief = "最近的失败：\nmove conflict：D8 已被占用。\nFACTS"
    slots = Call("query_available_slots", {"for_task_id": 2, "limit": 198}, "D9 周四 第1-2节\nD2 周四 第1-2节")
    first = decide(view(tools="query_available_slots", brief=brief, last=last, **MOVING))
    assert first.name == "query_available_slots"
    reply = decide(view(slots, tools="query_available_slots", brief=brief, last=last, **MOVING))
    assert reply.arguments["options"] == ["D9 周四 第1-2节", "D2 周四 第1-2节", "保持原位"]
    assert "D8 已被占用" in reply.arguments["text"]
    none = replace(slots, result="共 0 个")
    refused = Call("move", {"task_id": 2, "day": 8, "start": 1}, "用户拒绝了，没有给理由。")
    reply = decide(view(refused, none, tools="query_available_slots", **MOVING))
    assert "没有别的合法位置" in reply.arguments["text"]
    failing = {"tool": "query_available_slots", "ok": False, "code": "locked"}
    reply = decide(view(refused, tools="query_available_slots", last=failing, **MOVING))
    assert (reply.name, reply.arguments["code"]) == ("abort", "no_place")


def test_a_refused_build_ends_the_run() -> None:
    step = {"phase": "executing", "goal": "排一下任务", "steps": [{"content": "把任务排进课表：「概率论」"}] * 2}
    refused = Call("rough_build", {"task_class_ids": [1]}, "用户拒绝了，没有给理由。")
    assert decide(view(refused, tools="rough_build", **step)).name == "done"
    undecided = {"tool": "rough_build", "ok": False, "code": "undecided"}
    reply = decide(view(tools="rough_build", last=undecided, **step))
    assert (reply.name, reply.arguments["options"]) == ("ask_user", ["允许重排", "先不弄了"])


def test_an_infeasible_timetable_is_negotiated_while_improving() -> None:
    judgement = {"current": True, "cost": 1, "should_continue": False, "feasible": False, "recommended": "ask_user"}
    options = [
        {"code": "ask_expand_window", "summary": "延后 2 天"},
        {"code": "accept_risk_and_close", "summary": "保持现状"},
    ]
    steps = [{"content": "体检，按给出的候选逐步改进"}]
    fields: dict[str, Any] = {"phase": "executing", "goal": "优化", "steps": steps}
    judged = {**judgement, "options": options}
    asked = decide(view(judgement=judged, **fields))
    assert asked.arguments["options"] == ["延后 2 天", "保持现状"]
    for answer, part in (("延后 2 天", "不能替你修改任务类"), ("保持现状", "保持现状"), ("随便", "保持现状")):
        reply = decide(view(Call("ask_user", {}, f"用户回答：{answer}"), judgement=judged, **fields))
        assert (reply.name, part in reply.text) == ("done", True)
    assert decide(view(judgement=judgement, **fields)).arguments["options"] == ["先不弄了"]


def test_nothing_to_place_and_nothing_to_improve() -> None:
    reply = decide(view(goal="优化一下", placed=0))
    assert (reply.name, "都排好了" in reply.text) == ("", True)


def test_a_judge_that_answers_otherwise_is_quoted() -> None:
    reply = decide(view(Call("analyze_health", {}, "{oops"), tools="analyze_health", goal="有什么问题吗"))
    assert reply.text == "{oops"


def test_hello_without_classes_has_nothing_to_tell_of_them() -> None:
    assert "个任务类" not in decide(view(goal="你好", classes=[])).text


def test_calls_that_are_none_are_passed_over_and_bad_arguments_are_empty() -> None:
    brief = 'FACTS {"phase": "planning", "goal": "x"}'
    made = [
        {"id": "a", "function": {"name": "look", "arguments": "{oops"}},
        {"id": 5, "function": {"name": "look"}},
        {"id": "c", "function": {"name": ["look"]}},
        {"id": "d", "function": {"name": "look", "arguments": {"day": 1}}},
    ]
    read = read_view({"messages": [{"role": "assistant", "tool_calls": made}, {"role": "user", "content": brief}]})
    assert read is not None
    assert read.calls == (Call("look", {}, ""), Call("look", {"day": 1}, ""))


def test_the_failures_of_the_brief_end_where_the_brief_goes_on() -> None:
    brief = "最近的失败：\nmove conflict：一。\nswap locked：二。"
    assert view(brief=brief).failures == ("move conflict：一。", "swap locked：二。")
    assert view(brief=f"{brief}\n这一步已连续失败三次").failures == view(brief=brief).failures
    assert (view(brief=brief).reason, view(brief="").reason) == ("二", "")


def test_only_refusals_in_a_row_pass_candidates_over() -> None:
    brief = "最近的失败：\napply_candidate conflict：x\nmove conflict：x\napply_candidate conflict：x"
    candidates = [{"candidate_id": f"c{i}", "tool": "move", "summary": "s", "benefit": 9} for i in (1, 2, 3)]
    judgement = {"current": True, "cost": 50, "should_continue": True, "feasible": True, "recommended": "move"}
    fields: dict[str, Any] = {
        "phase": "executing",
        "goal": "优化",
        "steps": [{"content": "体检，按给出的候选逐步改进"}],
        "last": {"tool": "apply_candidate", "ok": False, "code": "conflict"},
        "judgement": {**judgement, "candidates": candidates},
    }
    assert decide(view(brief=brief, tools="analyze_health", **fields)).arguments == {"candidate_id": "c2"}


def test_the_first_answer_tells_how_the_words_were_understood() -> None:
    first = decide(view(goal="周三有什么"))
    assert first.why == "按规则理解为：问某天的安排。"
    assert decide(view(Call("context_tools_add", {}, "ok"), goal="周三有什么")).why == ""
