"""The main job with the built-in rule model: the real loop, gate, tools and judge; only the store is in memory."""

from __future__ import annotations

from newagent.schedule.cost import evaluate
from newagent.schedule.rules import state_faults
from newagent.state.documents import PendingInteraction
from tests.llm.offline_bed import Answer, offline_bed, small_term


async def test_two_turns_place_everything_then_follow_a_wish() -> None:
    async with offline_bed(small_term()) as bed:
        assert bed.mind.is_rule_model
        first = await bed.turn("帮我把这些任务排进日程")
        assert first.schedule is not None
        assert first.state.outcome is not None
        assert (first.state.outcome.kind, first.schedule.pending) == ("completed", ())
        assert state_faults(first.schedule) == []
        calls = bed.calls(first)
        assert calls[:3] == ["context_tools_add", "get_overview", "plan_done"]
        assert calls.index("rough_build") < calls.index("analyze_health")
        assert calls[-1] == "done"
        assert bed.kinds[0] == "plan"
        assert "rough_build" not in bed.kinds, "the approved plan covers it"
        bed.cards.clear()

        second = await bed.turn("晚上不想学太费脑的，一天里少换几科")
        assert second.schedule is not None
        assert bed.kinds[:2] == ["plan", "set_preferences"]
        assert (second.schedule.preferences.evening_heavy, second.schedule.preferences.switching) == ("avoid", "low")
        wished = first.schedule.evolve(preferences=second.schedule.preferences)
        assert evaluate(second.schedule).cost <= evaluate(wished).cost
        assert second.state.outcome is not None
        assert second.state.outcome.kind == "completed"
        assert bed.codes(second) == []


async def test_the_same_job_in_english() -> None:
    async with offline_bed(small_term(), locale="en") as bed:
        first = await bed.turn("Please schedule all my tasks")
        assert first.schedule is not None
        assert first.schedule.pending == ()
        assert "I placed your tasks" in bed.reply(first)
        second = await bed.turn("nothing heavy in the evening and fewer switches")
        assert second.schedule is not None
        assert second.schedule.preferences.evening_heavy == "avoid"
        assert "I set the preferences" in bed.reply(second)


async def test_only_the_named_class_is_placed_and_without_improving() -> None:
    async with offline_bed(small_term()) as bed:
        session = await bed.turn("只排概率论")
        assert session.schedule is not None
        placed = {task.task_class_id for task in session.schedule.items if task.slot}
        assert placed == {10}
        assert "analyze_health" not in bed.calls(session)
        assert bed.kinds == ["rough_build"], "a single step needs no plan card, its write does"


async def test_a_wish_in_the_order_to_place_is_set_before_placing() -> None:
    async with offline_bed(small_term()) as bed:
        session = await bed.turn("帮我把任务排进课表，晚上别排难的")
        assert session.schedule is not None
        calls = bed.calls(session)
        assert calls.index("set_preferences") < calls.index("rough_build") < calls.index("analyze_health")
        assert session.schedule.pending == ()
        assert session.state.outcome is not None
        assert session.state.outcome.kind == "completed"


async def test_standing_permission_lets_the_job_run_through() -> None:
    async with offline_bed(small_term()) as bed:
        session = await bed.turn("帮我把这些任务排进日程", always_execute=True)
        assert session.schedule is not None
        assert (bed.cards, session.schedule.pending) == ([], ())


async def test_a_refused_candidate_is_followed_by_another_then_by_a_question() -> None:
    def student(card: PendingInteraction) -> Answer:
        if card.kind == "question":
            return "reply", {"message": card.options[-1]}
        if card.tool == "apply_candidate":
            return "reject", {}
        return "approve", {}

    async with offline_bed(small_term(placed=True)) as bed:
        session = await bed.turn("晚上不想学太费脑的，每天轻松一点", student)
        offered = [(card.arguments or {})["candidate_id"] for card in bed.cards if card.tool == "apply_candidate"]
        assert offered == ["c1", "c2"]
        assert bed.kinds[-1] == "question"
        assert session.state.outcome is not None
        assert session.state.outcome.kind in ("completed", "incomplete")
        assert "没有同意的改动都没有执行" in bed.reply(session)


async def test_the_reason_of_a_refusal_can_end_the_improving() -> None:
    def student(card: PendingInteraction) -> Answer:
        return ("reject", {"message": "够了"}) if card.tool == "apply_candidate" else ("approve", {})

    async with offline_bed(small_term(placed=True)) as bed:
        await bed.turn("优化一下", student)
        assert bed.kinds.count("apply_candidate") == 1


async def test_what_does_not_fit_is_told_with_the_ways_out() -> None:
    crowded = small_term(items=8, days=7, free=4)

    def student(card: PendingInteraction) -> Answer:
        if card.kind == "question":
            chosen = next(option for option in card.options if "保持现状" in option)
            return "reply", {"message": chosen}
        return "approve", {}

    async with offline_bed(crowded) as bed:
        session = await bed.turn("帮我把这些任务排进日程", student)
        assert session.schedule is not None
        assert len(session.schedule.pending) == 24
        question = next(card for card in bed.cards if card.kind == "question")
        assert any("这次先不排" in option or "截止日期" in option for option in question.options)
        assert session.state.outcome is not None
        assert (session.state.outcome.kind, session.state.outcome.code) == ("incomplete", "risk_accepted")


async def test_a_way_out_that_only_the_student_can_take_is_said_to_be_so() -> None:
    crowded = small_term(items=8, days=7, free=4)

    def student(card: PendingInteraction) -> Answer:
        return ("reply", {"message": card.options[0]}) if card.kind == "question" else ("approve", {})

    async with offline_bed(crowded) as bed:
        session = await bed.turn("帮我把这些任务排进日程", student)
        assert any("我不能替你修改任务类" in m.text for m in session.messages if m.role == "assistant")


async def test_a_plan_refused_with_another_wish_is_made_anew() -> None:
    asked = iter([("reject", {"message": "先排概率论"})])

    def student(card: PendingInteraction) -> Answer:
        return next(asked, ("approve", {})) if card.kind == "plan" else ("approve", {})

    async with offline_bed(small_term()) as bed:
        session = await bed.turn("帮我把这些任务排进日程", student)
        assert session.schedule is not None
        assert {task.task_class_id for task in session.schedule.items if task.slot} == {10}
        assert bed.kinds.count("plan") == 2


async def test_a_plan_refused_without_a_reason_is_asked_about() -> None:
    refusals = iter([("reject", {})])

    def student(card: PendingInteraction) -> Answer:
        if card.kind == "question":
            return "reply", {"message": card.options[-1]}
        return next(refusals, ("approve", {}))

    async with offline_bed(small_term()) as bed:
        session = await bed.turn("帮我把这些任务排进日程", student)
        assert bed.kinds == ["plan", "question"]
        assert session.state.outcome is not None
        assert session.state.outcome.code == "replied"
        assert session.schedule is not None
        assert len(session.schedule.pending) == 12
