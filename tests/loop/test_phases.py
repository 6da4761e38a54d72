"""Planning, executing, delivering: which actions a phase takes and how a run ends."""

from __future__ import annotations

import pytest

from newagent.llm.decision import Abort, Decision, DecisionFault
from newagent.loop.draft import paired
from newagent.tools.registry import load_catalogue
from tests.loop.bed import CONVERSATION, WRITES, ask, call, done, make_bed, next_step, plan, reply, week_state

ARGUMENTS = {
    "rough_build": {"task_class_ids": [10]},
    "place": {"task_id": 2, "day": 2, "start": 1},
    "move": {"task_id": 2, "day": 2, "start": 1},
    "swap": {"task_a": 2, "task_b": 5},
    "batch_move": {"moves": [{"task_id": 2, "day": 2, "start": 1}]},
    "unplace": {"task_id": 2},
    "apply_candidate": {"candidate_id": "c1"},
    "undo_last": {},
    "apply_preview": {},
    "set_preferences": {"load": "light"},
}


def test_the_table_of_writes_is_complete() -> None:
    assert {tool.name for tool in load_catalogue() if tool.write} >= WRITES
    assert set(ARGUMENTS) == WRITES


@pytest.mark.parametrize("tool", sorted(WRITES))
async def test_no_write_happens_while_planning(tool: str) -> None:
    bed = await make_bed([call("context_tools_add", domain="schedule", packs=["mutation", "preference"])])
    bed.mind.script += [call(tool, **ARGUMENTS[tool]), reply("不行")]
    session = await bed.say("试试")
    assert (tool, "phase_forbidden") in bed.results(session)
    assert session.schedule == week_state()
    assert bed.store.timetable.applied == []


@pytest.mark.parametrize("tool", sorted(WRITES))
async def test_no_write_happens_while_executing_without_approval(tool: str) -> None:
    bed = await make_bed([plan("做", packs=("mutation", "preference")), call(tool, **ARGUMENTS[tool])])
    bed.mind.script += [Decision(action="abort", abort=Abort(user_message="停"))]
    session = await bed.say("试试")
    assert session.schedule == week_state()
    assert bed.store.timetable.applied == []
    assert session.state.interaction is not None or session.state.outcome is not None


@pytest.mark.parametrize("tool", sorted(WRITES))
async def test_no_write_happens_while_delivering(tool: str) -> None:
    bed = await make_bed([plan("看"), call("get_overview"), done(), call(tool, **ARGUMENTS[tool])])
    session = await bed.say("试试")
    assert session.schedule == week_state()
    assert session.state.phase == "idle"
    assert session.state.outcome is not None


async def test_a_reply_ends_the_turn_and_keeps_the_words() -> None:
    bed = await make_bed([reply("我能排课表")])
    session = await bed.say("你是谁")
    assert session.state.phase == "idle"
    assert bed.kinds() == ["user_text", "schedule_updated", "assistant_text", "finish"]
    assert [m.text for m in session.messages] == ["你是谁", "我能排课表"]


async def test_a_plan_of_several_steps_is_confirmed_and_walked() -> None:
    bed = await make_bed(
        [plan("看", "再看"), call("get_overview"), next_step(), call("query_target_tasks"), done(), reply("完")]
    )
    session = await bed.say("看看")
    assert session.state.interaction is not None
    session = await bed.answer("approve")
    assert session.state.outcome is not None
    assert session.state.outcome.kind == "completed"
    assert session.state.active == {}
    assert paired(session.messages)
    assert bed.kinds()[-1] == "finish"
    assert session.state.outcome.stage == "delivering"


async def test_a_step_needs_a_check_and_evidence() -> None:
    bed = await make_bed([plan("看"), done(), call("get_overview"), done(""), done(), reply("完")])
    session = await bed.say("看看")
    codes = [code for tool, code in bed.results(session) if tool == "done"]
    assert codes == ["evidence_missing", "evidence_missing", "ok"]


async def test_plain_text_twice_counts_as_done_with_evidence_only() -> None:
    words = [Decision(action="continue", speak=f"我在想{i}") for i in range(4)]
    bed = await make_bed([plan("看"), words[0], words[1], call("get_overview"), words[2], words[3], reply("完")])
    session = await bed.say("看看")
    codes = [code for tool, code in bed.results(session) if tool == "done"]
    assert codes == ["evidence_missing", "ok"]


async def test_abort_tells_the_user_and_keeps_the_reason() -> None:
    abort = Abort(code="no_data", user_message="没有数据", internal_reason="nothing loaded")
    bed = await make_bed([Decision(action="abort", abort=abort)])
    session = await bed.say("开始")
    outcome = session.state.outcome
    assert outcome is not None
    assert (outcome.kind, outcome.code, outcome.internal_reason) == ("aborted", "no_data", "nothing loaded")


async def test_three_undecodable_answers_end_the_run() -> None:
    faults = [DecisionFault(message="不是 JSON", raw="x") for _ in range(3)]
    bed = await make_bed([*faults])
    session = await bed.say("开始")
    assert session.state.outcome is not None
    assert session.state.outcome.code == "invalid_model_output"
    assert paired(session.messages)


async def test_a_good_answer_clears_the_count_of_bad_ones() -> None:
    fault = DecisionFault(message="不是 JSON", raw="x")
    script = [fault, fault, call("get_overview"), fault, fault, reply("好")]
    bed = await make_bed(script)
    session = await bed.say("开始")
    assert session.state.outcome is not None
    assert session.state.outcome.code == "replied"


async def test_the_fault_is_shown_to_the_model() -> None:
    bed = await make_bed([DecisionFault(message="缺少字段 steps", raw="{}"), reply("好")])
    await bed.say("开始")
    assert "缺少字段 steps" in bed.mind.prompts[-1].brief


async def test_rounds_are_limited() -> None:
    bed = await make_bed([call("get_overview") for _ in range(9)], max_rounds=5)
    session = await bed.say("开始")
    assert session.state.outcome is not None
    assert (session.state.outcome.kind, session.state.outcome.code) == ("exhausted", "rounds_exhausted")
    assert len(bed.mind.prompts) == 5


async def test_writes_are_limited_and_the_repair_is_kept() -> None:
    moves = [call("move", task_id=2, day=2 + i % 2, start=1 + 2 * i) for i in range(4)]
    bed = await make_bed(
        [plan("放"), call("place", task_id=2, day=5, start=1), *moves, reply("完")], max_writes=3, max_task_writes=9
    )
    session = await bed.say("开始", always_execute=True)
    assert session.state.counters.writes == 2
    assert session.state.outcome is not None
    assert (session.state.outcome.kind, session.state.outcome.code) == ("exhausted", "writes_exhausted")


async def test_a_revised_plan_is_confirmed_again() -> None:
    bed = await make_bed([plan("看", "再看"), call("get_overview"), plan("换", "一种"), call("get_overview"), done()])
    await bed.say("看看")
    session = await bed.answer("approve")
    assert session.state.interaction is not None
    assert session.state.interaction.kind == "plan"
    assert session.state.interaction.plan is not None
    assert session.state.interaction.plan.steps[0].content == "换"
    bed.mind.script[:] = [call("query_target_tasks"), done(), reply("完")]
    assert (await bed.answer("approve")).state.phase == "idle"


async def test_several_calls_in_one_answer_are_answered() -> None:
    bed = await make_bed([call("get_overview"), reply("好")])
    think = bed.mind.think

    async def two_calls(prompt):  # type: ignore[no-untyped-def]
        async for piece in think(prompt):
            if hasattr(piece, "raw") and piece.result.tool_call:
                piece.raw["other_calls"] = [{"name": "query_target_tasks", "arguments": {}}]
            yield piece

    bed.mind.think = two_calls  # type: ignore[method-assign]
    session = await bed.say("看看")
    assert ("query_target_tasks", "one_call_a_round") in bed.results(session)
    assert paired(session.messages)


async def test_a_question_without_text_is_a_fault() -> None:
    bed = await make_bed([Decision(action="ask_user"), Decision(action="plan_done"), ask("几点？")])
    session = await bed.say("开始")
    assert [code for _, code in bed.results(session)] == ["invalid_args", "invalid_args"]
    assert session.state.phase == "waiting"


async def test_the_conversation_gets_a_title() -> None:
    bed = await make_bed([reply("好")])
    session = await bed.say("帮我把  这些任务\n排进日程")
    assert session.title == "帮我把 这些任务 排进日程"
    assert bed.store.sessions["u1", CONVERSATION].title == session.title
