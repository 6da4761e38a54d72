"""Every guard has its code, and gives way when it should."""

from __future__ import annotations

from typing import Any

import pytest

from newagent.llm.decision import Decision, ToolCall
from newagent.state.documents import Judgement
from tests.loop.bed import call, done, made, make_bed, plan, reply, week_state

OVERVIEW = call("get_overview")


async def codes(*script: Any, always: bool = True, **budgets: Any) -> list[tuple[str | None, str | None]]:
    bed = await make_bed([*script], **budgets)
    try:
        session = await bed.say("开始", always_execute=always)
    except IndexError:  # the script is over
        session = await bed.session()
    return bed.results(session)


async def test_an_unknown_tool() -> None:
    call_it = Decision(action="continue", tool_call=ToolCall(name="fly_to_moon", arguments={"x": 1}))
    assert ("fly_to_moon", "unknown_tool") in await codes(call_it, reply("好"))


async def test_a_tool_that_is_not_active_names_its_pack() -> None:
    bed = await make_bed([OVERVIEW, reply("好")])
    session = await bed.say("开始")
    assert ("get_overview", "tool_not_active") in bed.results(session)
    text = next(m.text for m in session.messages if m.code == "tool_not_active")
    assert "schedule" in text
    assert "core" in text
    assert OVERVIEW.tool_call is not None
    shown = {tool.name for prompt in bed.mind.prompts for tool in prompt.tools}
    assert shown == {"context_tools_add", "context_tools_remove"}


async def test_context_tools_switch_the_next_round() -> None:
    add = call("context_tools_add", domain="schedule", packs=["detail_read"])
    bed = await make_bed([add, OVERVIEW, call("get_day_summary", day=1), reply("好")])
    session = await bed.say("开始")
    assert [code for _, code in bed.results(session)] == ["ok", "ok", "ok"]
    assert session.state.active == {}
    shown = {tool.name for tool in bed.mind.prompts[-1].tools}
    assert "get_day_summary" in shown
    assert "move" not in shown


async def test_the_same_read_on_the_same_schedule_is_redundant() -> None:
    script = [plan("看"), OVERVIEW, OVERVIEW, call("place", task_id=2, day=2, start=1), OVERVIEW, done(), reply("完")]
    assert [c for t, c in await codes(*script) if t == "get_overview"] == ["ok", "query_redundant", "ok"]


async def test_a_refused_call_is_not_tried_again_unchanged() -> None:
    bad = call("place", task_id=2, day=1, start=1)
    other = call("place", task_id=2, day=1, start=3)
    script = [plan("放"), bad, bad, other, bad, done(), reply("完")]
    assert [c for t, c in await codes(*script) if t == "place"] == ["conflict", "call_repeated", "ok", "wrong_status"]


async def test_invalid_arguments_name_their_paths() -> None:
    bed = await make_bed([plan("放"), call("place", task_id="二", day=0), OVERVIEW, done(), reply("完")])
    session = await bed.say("开始")
    text = next(m.text for m in session.messages if m.code == "invalid_args")
    assert "$.task_id" in text
    assert "$.day" in text
    assert "start" in text


async def test_a_task_is_written_four_times_in_a_run_at_most() -> None:
    moves = [call("move", task_id=2, day=3 + i, start=1) for i in range(5)]
    script = [plan("放"), call("place", task_id=2, day=2, start=1), *moves, done(), reply("完")]
    seen = [c for t, c in await codes(*script) if t in ("place", "move")]
    assert seen == ["ok"] * 4 + ["task_budget_exhausted"] * 2


async def test_a_free_hand_batch_needs_a_covering_step() -> None:
    places = [call("place", task_id=t, day=d, start=1) for t, d in ((2, 2), (3, 3), (4, 4))]
    batch = call("batch_move", moves=[{"task_id": t, "day": d, "start": 5} for t, d in ((2, 2), (3, 3), (4, 4))])
    small = call("batch_move", moves=[{"task_id": t, "day": d, "start": 5} for t, d in ((2, 2), (3, 3))])
    seen = await codes(plan("放"), *places, batch, small, done(), reply("完"))
    assert [c for t, c in seen if t == "batch_move"] == ["batch_move_disabled", "ok"]
    covered = plan("放", "看", covers=({"tool": "batch_move"},))
    seen = await codes(covered, *places, batch, done(), reply("完"))
    assert [c for t, c in seen if t == "batch_move"] == ["ok"]


async def test_a_candidate_of_another_state_is_stale() -> None:
    places = [call("place", task_id=t, day=2, start=s) for t, s in ((2, 1), (5, 3))]
    health = call("analyze_health")
    pick = call("apply_candidate", candidate_id="c1")
    script = [plan("放"), *places, health, call("place", task_id=3, day=9, start=1), pick, health, done(), reply("完")]
    assert [c for t, c in await codes(*script) if t == "apply_candidate"] == ["stale_candidate"]


async def test_candidates_are_an_enum_and_only_while_they_are_current() -> None:
    places = [call("place", task_id=t, day=2, start=s) for t, s in ((2, 1), (5, 3))]
    bed = await make_bed(
        [plan("放"), *places, call("analyze_health"), call("apply_candidate", candidate_id="c1"), done()]
    )
    bed.mind.script.append(reply("完"))
    session = await bed.say("开始", always_execute=True)
    assert ("apply_candidate", "ok") in bed.results(session)
    offered = [
        tool.parameters["properties"]["candidate_id"]["enum"]
        for prompt in bed.mind.prompts
        for tool in prompt.tools
        if tool.name == "apply_candidate"
    ]
    assert offered
    assert all(ids[0] == "c1" for ids in offered)


async def test_an_unknown_candidate_is_an_invalid_argument() -> None:
    places = [call("place", task_id=t, day=2, start=s) for t, s in ((2, 1), (5, 3))]
    script = [
        plan("放"),
        *places,
        call("analyze_health"),
        call("apply_candidate", candidate_id="c99"),
        done(),
        reply("完"),
    ]
    assert ("apply_candidate", "invalid_args") in await codes(*script)


async def test_closing_needs_no_card() -> None:
    places = [call("place", task_id=t, day=2, start=s) for t, s in ((2, 1), (5, 3))]
    bed = await make_bed([plan("放"), *places, call("analyze_health")])
    bed.mind.script += [lambda prompt: call("apply_candidate", candidate_id=closing(prompt)), done(), reply("完")]
    session = await bed.say("开始", always_execute=True)
    assert ("apply_candidate", "ok") in bed.results(session)
    assert session.state.counters.writes == 2


def closing(prompt: Any) -> str:
    for tool in prompt.tools:
        if tool.name == "apply_candidate":
            return tool.parameters["properties"]["candidate_id"]["enum"][-1]
    raise AssertionError("apply_candidate is not offered")


@pytest.mark.parametrize("tool", ["move", "swap", "batch_move"])
async def test_an_infeasible_state_is_negotiated_not_tuned(tool: str) -> None:
    arguments: dict[str, Any] = {
        "move": {"task_id": 2, "day": 4, "start": 1},
        "swap": {"task_a": 2, "task_b": 5},
        "batch_move": {"moves": [{"task_id": 2, "day": 4, "start": 1}]},
    }[tool]
    bed = await make_bed([plan("调"), call("place", task_id=2, day=2, start=1), call(tool, **arguments), done()])
    bed.mind.script.append(reply("完"))
    session = await bed.agent.begin("u1", "c1", turn())
    decide = bed.agent.drive

    # The judgement is set by hand: that the judge says infeasible is the judge's own test. No journal knows of it.
    made.clear()
    judged = Judgement(state_version=2, pending=1, cost=0, feasible=False)
    round_ = bed.agent._round

    async def with_judgement(session: Any) -> Any:
        session = await round_(session)
        if session.schedule_version == 2 and session.state.judgement is None:
            state = session.state.model_copy(update={"judgement": judged})
            from dataclasses import replace

            session = replace(session, state=state)
            bed.store.sessions["u1", "c1"] = session
        return session

    bed.agent._round = with_judgement  # type: ignore[method-assign]
    session = await decide(session)
    assert (tool, "infeasible_negotiate") in bed.results(session)


def turn() -> Any:
    from newagent.loop.agent import Turn

    return Turn("开始", always_execute=True)


async def test_a_plan_with_an_unknown_hook_is_told() -> None:
    bad_domain = Decision.model_validate(
        {"action": "plan_done", "plan": {"steps": [{"content": "x"}], "context_hook": {"domain": "moon"}}}
    )
    seen = await codes(
        bad_domain, plan("看", packs=("core",)), plan("看", packs=("nothing",)), plan("看"), OVERVIEW, done()
    )
    assert [c for t, c in seen if t == "plan_done"] == ["invalid_domain", "invalid_pack", "invalid_pack", "ok"]


async def test_a_tool_that_raises_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    from newagent.tools.schedule import overview

    def broken(*_: object) -> list[tuple[int, int]]:
        raise RuntimeError("boom")

    monkeypatch.setattr(overview, "_per_day", broken)
    seen = await codes(plan("看"), OVERVIEW, call("query_target_tasks"), done(), reply("完"))
    assert ("get_overview", "tool_failed") in seen


async def test_three_failures_in_a_row_advise_a_new_plan() -> None:
    bad = [
        call("place", task_id=2, day=1, start=1),
        call("move", task_id=2, day=2, start=1),
        call("unplace", task_id=2),
    ]
    bed = await make_bed([plan("放"), *bad, OVERVIEW, done(), reply("完")])
    await bed.say("开始")
    assert "plan_done 修改" in bed.mind.prompts[4].brief
    assert "plan_done 修改" not in bed.mind.prompts[5].brief


async def test_without_a_timetable_the_agent_can_talk_and_says_what_is_missing() -> None:
    bed = await make_bed([plan("看"), OVERVIEW, reply("完")])
    bed.store.timetable.facts = None
    bed.mind.script.insert(0, reply("请先导入课表"))
    session = await bed.say("开始")
    assert session.schedule is None
    assert session.state.phase == "idle"
    bed.mind.script[:] = [plan("看"), OVERVIEW, call("context_tools_remove", all=True), done(), reply("完")]
    session = await bed.say("再来")
    assert ("get_overview", "no_schedule") in bed.results(session)


async def test_a_changed_timetable_keeps_what_is_still_legal() -> None:
    bed = await make_bed(
        [plan("放"), call("place", task_id=2, day=2, start=1), call("place", task_id=5, day=3, start=1)]
    )
    bed.mind.script += [done(), reply("完"), reply("好")]
    await bed.say("开始", always_execute=True)
    facts = week_state()
    course = facts.tasks[0].evolve(id=99, source_id=199, slots=(facts.tasks[0].slots[0].evolve(day=3),))
    bed.store.timetable.facts = facts.evolve(tasks=(*facts.tasks, course))
    session = await bed.say("现在呢")
    assert session.schedule is not None
    assert session.schedule.by_id[2].slot is not None
    assert session.schedule.by_id[5].slot is None
    event = [e for e in bed.store.timeline["c1"] if e.kind == "schedule_updated"][-1]
    assert event.payload["dropped"] == ["大学物理 第1章"]
