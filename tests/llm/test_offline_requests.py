"""Single requests to the rule model through the real loop: moving, swapping, asking back, telling, refusing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from newagent.schedule.model import ScheduleState, Slot
from newagent.state.documents import PendingInteraction
from newagent.state.store import Session
from tests.llm.offline_bed import Answer, OfflineBed, Student, agreeing, offline_bed, small_term


def replying(*replies: str) -> Student:
    """A student who answers questions in turn, agrees to plans and writes, and leaves further questions open."""
    left: Iterator[str] = iter(replies)

    def student(card: PendingInteraction) -> Answer:
        reply = next(left, None) if card.kind == "question" else None
        return ("reply", {"message": reply}) if reply else ("approve", {})

    return student


def refusing(tool: str, *reasons: str, then: Student = agreeing) -> Student:
    """A student who refuses a tool's cards with these reasons, one after the other."""
    left = iter(reasons)

    def student(card: PendingInteraction) -> Answer:
        if card.tool == tool:
            reason = next(left, None)
            if reason is not None:
                return "reject", {"message": reason} if reason else {}
        return then(card)

    return student


def place_of(session: Session, task_id: int) -> tuple[int, int] | None:
    assert session.schedule is not None
    slot = session.schedule.by_id[task_id].slot
    return (slot.day, slot.start) if slot else None


async def one_turn(text: str, student: Student = agreeing, **fields: Any) -> tuple[OfflineBed, Session]:
    async with offline_bed(small_term(placed=True, **fields)) as bed:
        return bed, await bed.turn(text, student)


async def test_a_named_task_goes_to_the_nearest_legal_place_of_that_time() -> None:
    bed, session = await one_turn("把概率论第3章挪到周三晚上")
    assert bed.kinds == ["move"]
    assert place_of(session, 4) == (10, 9)


async def test_a_section_that_is_named_is_kept_to() -> None:
    bed, session = await one_turn("把 #4 移到 D9 第3-4节")
    assert bed.kinds == ["move"]
    assert place_of(session, 4) == (9, 3)


async def test_the_same_in_english() -> None:
    bed, session = await one_turn("move #4 to Wednesday evening")
    assert place_of(session, 4) == (10, 9)
    assert "as you asked" in bed.reply(session)


async def test_which_of_several_is_asked() -> None:
    bed, session = await one_turn("把第3章挪到周三晚上", replying("#12「六级词汇 第3章」"))
    assert bed.cards[0].options == ("#4「概率论 第3章」", "#8「大学物理 第3章」", "#12「六级词汇 第3章」")
    assert place_of(session, 12) == (10, 9)


async def test_what_is_missing_is_asked_one_after_the_other() -> None:
    bed, session = await one_turn("挪一下", replying("概率论第1章", "周五上午"))
    assert bed.kinds == ["question", "question", "move"]
    assert place_of(session, 2) == (5, 1)


async def test_a_task_that_is_not_there_is_asked_about() -> None:
    bed, _ = await one_turn("把红烧肉挪到周三")
    assert "红烧肉" in bed.cards[0].summary
    assert "#2「概率论 第1章」" in bed.cards[0].options


async def test_a_time_without_a_legal_place_is_answered_with_the_nearest_ones() -> None:
    bed, session = await one_turn("把概率论第3章挪到周五上午", replying("D6 第1周 周六 2026-03-07 第1-2节"))
    assert bed.cards[0].kind == "question"
    assert "D6 第1周 周六 2026-03-07 第1-2节" in bed.cards[0].options
    assert place_of(session, 4) == (6, 1)


async def test_a_refused_place_is_followed_by_others_to_choose_from() -> None:
    student = refusing("move", "", then=replying("D10 第2周 周三 2026-03-11 第11-12节"))
    bed, session = await one_turn("把概率论第3章挪到周三晚上", student)
    assert bed.kinds == ["move", "question", "move"]
    assert "D10 第2周 周三 2026-03-11 第9-10节" not in bed.cards[1].options
    assert place_of(session, 4) == (10, 11)


async def test_a_refusal_with_another_time_is_tried_there() -> None:
    bed, session = await one_turn("把概率论第3章挪到周三晚上", refusing("move", "周二上午吧"))
    assert bed.kinds == ["move", "move"]
    assert place_of(session, 4) == (9, 1)


@pytest.mark.parametrize("word", ["算了", "就这样吧"])
async def test_a_refusal_may_end_the_matter(word: str) -> None:
    bed, session = await one_turn("把概率论第3章挪到周三晚上", refusing("move", word))
    assert bed.kinds == ["move"]
    assert place_of(session, 4) == (8, 7)


async def test_keeping_the_place_is_an_option() -> None:
    bed, session = await one_turn("把概率论第3章挪到周三晚上", refusing("move", "", then=replying("保持原位")))
    assert bed.kinds == ["move", "question"]
    assert place_of(session, 4) == (8, 7)
    assert session.state.phase == "idle"


async def test_a_pending_task_is_placed() -> None:
    async with offline_bed(small_term()) as bed:
        session = await bed.turn("把概率论第1章排到周三上午")
        assert bed.kinds == ["place"]
        assert place_of(session, 2) == (3, 1)


async def test_a_swap_of_two_named_tasks() -> None:
    bed, session = await one_turn("交换概率论第1章和六级词汇第1章")
    assert bed.kinds == ["swap"]
    assert (place_of(session, 2), place_of(session, 10)) == ((2, 11), (2, 7))


async def test_a_swap_that_the_order_forbids_is_told_and_changes_nothing() -> None:
    bed, session = await one_turn("交换概率论第1章和概率论第2章")
    assert bed.cards == []
    assert session.state.outcome is not None
    assert (session.state.outcome.kind, session.state.outcome.code) == ("aborted", "order_violation")
    assert "这件事做不了" in session.state.outcome.user_message


async def test_a_swap_with_an_unclear_partner_is_asked() -> None:
    bed, session = await one_turn("交换概率论第1章和六级词汇", replying("#10「六级词汇 第1章」"))
    assert bed.kinds == ["question", "swap"]
    assert place_of(session, 2) == (2, 11)


async def test_taking_out_and_undoing() -> None:
    async with offline_bed(small_term()) as bed:
        await bed.turn("只排概率论")
        taken = await bed.turn("把概率论第4章取出来")
        assert place_of(taken, 5) is None
        back = await bed.turn("撤销")
        assert bed.kinds[-2:] == ["unplace", "undo_last"]
        assert place_of(back, 5) is not None
        assert "撤销了上一步" in bed.reply(back)


async def test_nothing_to_undo_is_said() -> None:
    _bed, session = await one_turn("撤销")
    assert session.state.outcome is not None
    assert (session.state.outcome.kind, session.state.outcome.code) == ("aborted", "no_preview")


async def test_a_refused_taking_out_ends_the_run() -> None:
    bed, session = await one_turn("把概率论第2章取出来", refusing("unplace", ""))
    assert bed.kinds == ["unplace"]
    assert place_of(session, 3) == (5, 7)


async def test_applying_is_a_write_of_its_own() -> None:
    bed, session = await one_turn("写入课表")
    assert bed.kinds == ["apply_preview"]
    assert bed.cards[0].risk == "D"
    assert "写入课表" in bed.reply(session)


TOLD = [
    ("周三有什么", ["D3", "周三", "空"]),
    ("明天要学什么", ["D2", "概率论 第1章", "大学物理 第1章"]),
    ("明天晚上有什么", ["第9-10节：#6「大学物理 第1章」"]),
    ("这周有什么安排", ["D1 ", "D7 "]),
    ("3月9日有哪些任务", ["D8", "高等数学"]),
    ("what is on Tuesday?", ["D2", "概率论 第1章"]),
    ("下下周三有什么", ["不在可安排的时间范围里"]),
    ("5月1日有什么安排", ["2026-03-15"]),
    ("我什么时候有空", ["符合的位置"]),
    ("周五下午有空吗", ["D5 第1周 周五 2026-03-06 第5-6节"]),
    ("5月1日有空吗", ["不在可安排的时间范围里"]),
    ("概率论第3章排在哪天", ["D8", "2026-03-09"]),
    ("when is #12?", ["六级词汇 第3章"]),
    ("还有多少没排", ["未放 0"]),
    ("有什么问题吗", ["评分 76"]),
    ("any problems?", ["score 76"]),
    ("你好", ["不是语言模型", "3 个任务类"]),
    ("hello", ["not a language model"]),
    ("谢谢", ["不客气"]),
    ("你是谁", ["不是语言模型", "NEWAGENT_LLM_BASE_URL"]),
    ("你会做什么", ["优化一下"]),
    ("what can you do?", ["improve it"]),
    ("算了", ["什么都不改"]),
    ("好的", ["没有等你确认"]),
    ("写一首关于秋天的诗", ["规则模型，不是语言模型", "NEWAGENT_LLM_BASE_URL"]),
    ("write me a poem", ["I am a rule model, not a language model", "NEWAGENT_LLM_BASE_URL"]),
    ("帮我把这些任务排进日程", ["都排好了"]),
    ("排一下概率论", ["「概率论」已经都排好了"]),
]


@pytest.mark.parametrize(("text", "parts"), TOLD)
async def test_what_is_only_told_asks_for_nothing(text: str, parts: list[str]) -> None:
    bed, session = await one_turn(text)
    assert (bed.cards, bed.codes(session)) == ([], [])
    assert session.state.outcome is not None
    assert session.state.outcome.code == "replied"
    for part in parts:
        assert part in bed.reply(session)


async def test_a_full_day_has_no_free_places() -> None:
    async with offline_bed(small_term(free=1)) as bed:
        assert "没有两节连着的空位" in bed.reply(await bed.turn("周三有空吗"))


@pytest.mark.parametrize("text", ["帮我排一下任务", "把第1章挪到周三", "还有多少没排", "有什么问题吗"])
async def test_without_task_classes_it_says_what_is_missing(text: str) -> None:
    async with offline_bed(None) as bed:
        session = await bed.turn(text)
        assert "先导入课表" in bed.reply(session)
        assert bed.cards == []


@pytest.mark.parametrize("text", ["周三有什么", "我什么时候有空"])
async def test_without_a_timetable_it_says_so(text: str) -> None:
    async with offline_bed(None) as bed:
        assert "先导入课表" in bed.reply(await bed.turn(text))


async def test_without_anything_placed_a_wish_is_set_and_improving_means_placing() -> None:
    async with offline_bed(small_term()) as bed:
        wished = await bed.turn("每天最多学4节")
        assert wished.schedule is not None
        assert (bed.kinds, wished.schedule.preferences.daily_cap) == (["set_preferences"], 4)
        improved = await bed.turn("优化一下")
        assert improved.schedule is not None
        assert improved.schedule.pending == ()


async def test_wishes_for_periods_add_up_and_the_opposite_one_goes() -> None:
    async with offline_bed(small_term(placed=True)) as bed:
        await bed.turn("下午别排概率论")
        session = await bed.turn("早上不想学习")
        assert session.schedule is not None
        assert [(w.period, w.task_class_id) for w in session.schedule.preferences.avoid] == [
            ("afternoon", 10),
            ("morning", None),
        ]
        session = await bed.turn("喜欢上午学习")
        assert session.schedule is not None
        assert [w.period for w in session.schedule.preferences.avoid] == ["afternoon"]
        assert [w.period for w in session.schedule.preferences.prefer] == ["morning"]


async def test_part_of_a_sentence_that_is_left_out_is_named() -> None:
    bed, session = await one_turn("一天里少换几科，顺便讲个笑话给我听")
    assert any("讲个笑话" in m.text and "没有听懂" in m.text for m in session.messages if m.role == "assistant")
    assert bed.kinds[:2] == ["plan", "set_preferences"]


async def test_refused_preferences_with_another_wish_are_set_anew() -> None:
    bed, session = await one_turn("晚上不想学太费脑的", refusing("set_preferences", "晚上可以，但是每天轻松一点"))
    assert session.schedule is not None
    assert bed.kinds.count("set_preferences") == 2
    assert session.schedule.preferences.load == "light"


async def test_refused_preferences_without_a_reason_are_asked_about() -> None:
    student = refusing("set_preferences", "", then=replying("不改偏好，直接优化"))
    bed, session = await one_turn("晚上不想学太费脑的", student)
    assert "question" in bed.kinds
    assert "analyze_health" in bed.calls(session)
    assert session.schedule is not None
    assert session.schedule.preferences.evening_heavy == "mild"


async def test_refused_preferences_may_end_the_run() -> None:
    bed, session = await one_turn("晚上不想学太费脑的", refusing("set_preferences", "算了"))
    assert "analyze_health" not in bed.calls(session)
    assert session.state.phase == "idle"


async def test_a_missing_profile_is_mentioned() -> None:
    _bed, session = await one_turn("优化一下", subject_type=None)
    assert any("缺少学科画像" in m.text for m in session.messages if m.role == "assistant")


async def test_everything_is_placed_anew_on_demand() -> None:
    bed, session = await one_turn("全部重排")
    assert "rough_build" in bed.calls(session)
    assert bed.kinds[:2] == ["plan", "rough_build"]
    assert session.schedule is not None
    assert session.schedule.pending == ()


def blocked_term() -> ScheduleState:
    """The first item of a class stands at the very end, so that the others do not fit behind it."""
    facts = small_term()
    first = facts.items_of[11][0]
    end = Slot(day=14, start=11, end=12)
    return facts.with_tasks([first.evolve(status="suggested", slots=(end,))])


async def test_what_is_in_the_way_may_be_moved_if_the_student_agrees() -> None:
    async with offline_bed(blocked_term()) as bed:
        session = await bed.turn("帮我排一下大学物理", replying("允许重排"))
        assert session.schedule is not None
        assert bed.codes(session) == ["blocked"]
        assert "question" in bed.kinds
        assert all(task.slot for task in session.schedule.items_of[11])


async def test_what_is_in_the_way_stays_if_the_student_does_not_agree() -> None:
    async with offline_bed(blocked_term()) as bed:
        session = await bed.turn("帮我排一下大学物理", replying("先不弄了"))
        assert session.schedule is not None
        assert sum(task.slot is None for task in session.schedule.items_of[11]) == 3
        assert session.state.outcome is not None
        assert session.state.outcome.kind == "incomplete"


async def test_budgets_end_the_improving_in_order() -> None:
    async with offline_bed(small_term(placed=True), max_writes=2) as bed:
        session = await bed.turn("优化一下")
        assert bed.kinds.count("apply_candidate") == 1
        assert session.state.outcome is not None
        assert session.state.outcome.kind in ("completed", "exhausted")
