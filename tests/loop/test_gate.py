"""The table of answers: each row once, and the effect happened once or not at all."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from newagent.errors import NotFoundError, RefusedError
from newagent.loop.agent import Turn
from newagent.loop.draft import paired
from newagent.schedule import edits
from newagent.schedule.edits import Edited
from newagent.state.documents import Resume
from newagent.state.store import Round, Session
from tests.loop.bed import CONVERSATION, USER, Bed, ask, call, done, make_bed, plan, reply

PLACE = call("place", task_id=2, day=2, start=1)


async def waiting(*after: object) -> tuple[Bed, Session]:
    """A bench whose write card is open: item 2 to day 2, section 1."""
    bed = await make_bed([plan("放第一章"), PLACE, *after, done(), reply("好了")])  # type: ignore[list-item]
    session = await bed.say("把概率论第一章放到周二早上")
    assert session.state.phase == "waiting"
    assert session.state.interaction is not None
    return bed, session


def placed(session: Session, task_id: int = 2) -> bool:
    assert session.schedule is not None
    return session.schedule.by_id[task_id].slot is not None


async def test_nothing_is_written_while_the_card_is_open() -> None:
    bed, session = await waiting()
    card = session.state.interaction
    assert card is not None
    assert not placed(session)
    assert card.kind == "write"
    assert card.risk == "A"
    assert card.changes[0]["name"] == "概率论 第1章"
    assert "周二" in card.changes[0]["text"]
    assert card.before is not None
    assert card.after is not None
    assert card.after["pending"] == card.before["pending"] - 1
    assert bed.kinds()[-1] == "confirm_request"


async def test_approve_carries_out_and_goes_on() -> None:
    bed, _ = await waiting()
    session = await bed.answer("approve")
    assert placed(session)
    assert session.state.outcome is not None
    assert session.state.outcome.kind == "completed"
    assert bed.kinds().count("schedule_updated") == 2  # the load, and the write
    assert paired(session.messages)


async def test_reject_gives_the_message_to_the_model() -> None:
    bed, _ = await waiting()
    session = await bed.answer("reject", message="周二早上有事")
    assert not placed(session)
    assert ("place", "rejected") in bed.results(session)
    assert any("周二早上有事" in prompt.brief for prompt in bed.mind.prompts)


async def test_edit_is_judged_and_carried_out() -> None:
    bed, _ = await waiting()
    session = await bed.answer("edit", arguments={"task_id": 2, "day": 3, "start": 5})
    assert session.schedule is not None
    slot = session.schedule.by_id[2].slot
    assert slot is not None
    assert (slot.day, slot.start) == (3, 5)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"task_id": 2, "day": 1, "start": 1}, "conflict"),
        ({"task_id": 2, "day": 0, "start": 1}, "invalid_args"),
        ({"task_id": 2, "day": 3}, "invalid_args"),
        ({"task_id": 99, "day": 3, "start": 1}, "unknown_task"),
        ({"anything": 1}, "invalid_args"),
    ],
)
async def test_a_bad_edit_leaves_the_card_open_and_commits_nothing(arguments: dict[str, int], code: str) -> None:
    bed, before = await waiting()
    commits = bed.store.commits
    with pytest.raises(RefusedError) as refused:
        await bed.answer("edit", arguments=arguments)
    assert refused.value.code == code
    assert bed.store.commits == commits
    assert (await bed.session()) == before
    assert placed(await bed.answer("approve"))


async def test_cancel_ends_the_run_without_effect() -> None:
    bed, _ = await waiting()
    session = await bed.answer("cancel")
    assert not placed(session)
    assert session.state.outcome is not None
    assert session.state.outcome.kind == "cancelled"
    assert session.state.phase == "idle"
    assert paired(session.messages)


async def test_approve_twice_gives_the_recorded_result() -> None:
    bed, session = await waiting()
    card = session.state.interaction
    assert card is not None
    resume = Resume(interaction_id=card.interaction_id, action="approve")
    first = await bed.agent.answer(USER, CONVERSATION, resume)
    second = await bed.agent.answer(USER, CONVERSATION, resume)
    assert second.repeated
    assert second.result == first.result
    assert (await bed.session()).state.counters.writes == 1


async def test_approve_then_reject_is_closed() -> None:
    bed, session = await waiting()
    card = session.state.interaction
    assert card is not None
    await bed.answer("approve")
    with pytest.raises(RefusedError) as refused:
        await bed.agent.answer(USER, CONVERSATION, Resume(interaction_id=card.interaction_id, action="reject"))
    assert refused.value.code == "interaction_closed"
    assert placed(await bed.session())


@pytest.mark.parametrize("others", ["approve", "reject", "cancel"])
async def test_answers_that_arrive_together(others: str) -> None:
    bed, session = await waiting()
    card = session.state.interaction
    assert card is not None
    actions = ["approve", others, "approve", others]
    gathered = await asyncio.gather(
        *(
            bed.agent.answer(
                USER, CONVERSATION, Resume.model_validate({"interaction_id": card.interaction_id, "action": a})
            )
            for a in actions
        ),
        return_exceptions=True,
    )
    winners = [g for g in gathered if not isinstance(g, BaseException) and not g.repeated]
    assert len(winners) == 1
    for outcome in gathered:
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, RefusedError)
            assert outcome.code == "interaction_closed"
        else:
            assert outcome.result == winners[0].result
    assert (await bed.session()).state.counters.writes <= 1


async def test_a_race_inside_the_transaction_has_one_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two approvals both read the open card before either commits."""
    bed, session = await waiting()
    card = session.state.interaction
    assert card is not None
    resume = Resume(interaction_id=card.interaction_id, action="approve")
    gate, arrived = asyncio.Event(), 0
    from tests.loop import memory_store

    save = memory_store.MemoryRound.save

    async def slow_save(self: memory_store.MemoryRound, written: Round) -> object:
        nonlocal arrived
        arrived += 1
        if arrived == 2:
            gate.set()
        await gate.wait()
        return await save(self, written)

    monkeypatch.setattr(memory_store.MemoryRound, "save", slow_save)
    both = await asyncio.gather(*(bed.agent.answer(USER, CONVERSATION, resume) for _ in range(2)))
    assert sorted(answered.repeated for answered in both) == [False, True]
    assert both[0].result == both[1].result
    assert (await bed.session()).state.counters.writes == 1


async def test_approve_after_the_user_changed_something_else_still_works() -> None:
    bed, session = await waiting()
    assert session.schedule is not None
    edited = edits.place(session.schedule, 5, 4, 1, "user")
    assert isinstance(edited, Edited)
    await stash(bed, session, edited)
    after = await bed.answer("approve")
    assert placed(after, 2)
    assert placed(after, 5)


async def test_approve_after_the_place_was_taken_is_stale() -> None:
    bed, session = await waiting(call("get_overview"))
    assert session.schedule is not None
    edited = edits.place(session.schedule, 5, 2, 1, "user")
    assert isinstance(edited, Edited)
    await stash(bed, session, edited)
    after = await bed.answer("approve")
    assert not placed(after, 2)
    assert ("place", "stale_interaction") in bed.results(after)
    assert paired(after.messages)


async def stash(bed: Bed, session: Session, edited: Edited) -> None:
    async with bed.store.round(session, bed.runtime.now(), fenced=False) as transaction:
        await transaction.save(Round("user", session.state, schedule=edited.state))


@pytest.mark.parametrize("word", ["确认", "同意", "可以", "好", "是", "yes", "ok", " OK ", "好。", "ＯＫ"])
async def test_a_word_of_yes_is_an_approval(word: str) -> None:
    bed, _ = await waiting()
    assert placed(await bed.say(word))


@pytest.mark.parametrize("word", ["拒绝", "取消", "不", "不要", "no", "No!"])
async def test_a_word_of_no_is_a_rejection(word: str) -> None:
    bed, _ = await waiting()
    session = await bed.say(word)
    assert not placed(session)
    assert ("place", "rejected") in bed.results(session)


@pytest.mark.parametrize("words", ["好像不太合适", "可以换到晚上吗", "不是这个任务", "yes but later", "同意吗？"])
async def test_any_other_message_is_a_rejection_with_it(words: str) -> None:
    bed, _ = await waiting()
    session = await bed.say(words)
    assert not placed(session)
    result = next(m for m in session.messages if m.role == "result" and m.code == "rejected")
    assert words in result.text
    assert paired(session.messages)


async def test_a_question_takes_any_message_as_its_answer() -> None:
    bed = await make_bed([ask("上午还是晚上？", "上午", "晚上"), reply("记下了")])
    session = await bed.say("帮我安排")
    assert session.state.interaction is not None
    assert bed.kinds()[-1] == "interrupt"
    session = await bed.say("不要晚上")
    assert ("ask_user", "ok") in bed.results(session)
    assert "不要晚上" in bed.mind.prompts[-1].brief
    assert session.state.phase == "idle"


@pytest.mark.parametrize(
    ("opened", "action", "fields"),
    [
        ("write", "reply", {"message": "好"}),
        ("write", "edit", {}),
        ("plan", "edit", {"arguments": {}}),
        ("plan", "reply", {"message": "好"}),
        ("question", "approve", {}),
        ("question", "reject", {}),
        ("question", "reply", {"message": "  "}),
        ("question", "reply", {}),
    ],
)
async def test_an_action_of_another_kind_leaves_the_card_open(opened: str, action: str, fields: dict[str, str]) -> None:
    scripts = {
        "write": [plan("放"), PLACE],
        "plan": [plan("放", "查")],
        "question": [ask("几点？")],
    }
    bed = await make_bed(list(scripts[opened]))
    before = await bed.say("开始")
    with pytest.raises(RefusedError) as refused:
        await bed.answer(action, **fields)
    assert refused.value.code == "invalid_args"
    assert await bed.session() == before


async def test_expiry_wins_over_a_late_answer() -> None:
    bed, session = await waiting()
    card = session.state.interaction
    assert card is not None
    bed.runtime.time = card.expires_at
    with pytest.raises(RefusedError) as refused:
        await bed.answer("approve")
    assert refused.value.code == "interaction_expired"
    ended = await bed.session()
    assert not placed(ended)
    assert ended.state.phase == "idle"
    assert paired(ended.messages)
    with pytest.raises(RefusedError) as again:
        await bed.agent.answer(USER, CONVERSATION, Resume(interaction_id=card.interaction_id, action="approve"))
    assert again.value.code == "interaction_expired"


async def test_an_approval_before_expiry_wins() -> None:
    bed, session = await waiting()
    card = session.state.interaction
    assert card is not None
    bed.runtime.time = card.expires_at - dt.timedelta(seconds=1)
    assert placed(await bed.answer("approve"))
    bed.runtime.time = card.expires_at + dt.timedelta(days=1)
    late = await bed.agent.answer(USER, CONVERSATION, Resume(interaction_id=card.interaction_id, action="approve"))
    assert late.repeated


async def test_a_message_after_expiry_is_a_new_turn() -> None:
    bed, session = await waiting()
    card = session.state.interaction
    assert card is not None
    bed.mind.script[:] = [reply("你好")]
    bed.runtime.time = card.expires_at + dt.timedelta(hours=1)
    after = await bed.say("确认")
    assert not placed(after)
    assert after.state.goal == "确认"
    assert after.state.run_id != session.state.run_id


async def test_unknown_interactions_and_other_users_are_not_found() -> None:
    bed, _ = await waiting()
    with pytest.raises(NotFoundError) as unknown:
        await bed.agent.answer(USER, CONVERSATION, Resume(interaction_id="act_none", action="approve"))
    assert unknown.value.code == "interaction_not_found"
    with pytest.raises(NotFoundError):
        await bed.agent.answer("u2", CONVERSATION, Resume(interaction_id="act_none", action="approve"))


async def test_a_second_turn_while_a_run_works_is_refused() -> None:
    bed = await make_bed([plan("放"), PLACE, done(), reply("好")])
    await bed.agent.begin(USER, CONVERSATION, Turn("开始"))
    with pytest.raises(RefusedError) as refused:
        await bed.agent.begin(USER, CONVERSATION, Turn("再来"))
    assert refused.value.code == "run_in_progress"
    assert [m.text for m in (await bed.session()).messages if m.role == "user"] == ["开始"]


async def test_a_run_whose_lease_is_over_gives_way_to_a_new_turn() -> None:
    bed = await make_bed([reply("第二个")])
    await bed.agent.begin(USER, CONVERSATION, Turn("第一个"))
    bed.runtime.time += dt.timedelta(minutes=10)
    session = await bed.say("第二个")
    assert session.state.goal == "第二个"
    assert bed.kinds().count("finish") == 2


async def test_always_allow_permits_the_tool_for_the_conversation() -> None:
    bed, _ = await waiting(call("place", task_id=5, day=3, start=1))
    session = await bed.answer("approve", always_allow=True)
    assert placed(session, 5)
    assert session.state.grants.tools == ("place",)
    sources = [e.payload["source"] for e in bed.store.timeline[CONVERSATION] if e.kind == "confirm_result"]
    assert sources == ["user", "standing"]


async def test_always_execute_is_for_one_run_and_never_for_preferences() -> None:
    bed = await make_bed(
        [
            plan("放", packs=("mutation", "preference")),
            PLACE,
            call("set_preferences", load="light"),
        ]
    )
    session = await bed.say("直接做", always_execute=True)
    assert placed(session)
    card = session.state.interaction
    assert card is not None
    assert card.tool == "set_preferences"
    assert card.risk == "B"
    bed.mind.script[:] = [reply("好")]
    await bed.answer("cancel")
    assert not (await bed.say("再见")).state.grants.run


async def test_a_covered_build_is_permitted_once_by_its_plan() -> None:
    covers = ({"tool": "rough_build", "task_class_ids": (10,)},)
    bed = await make_bed(
        [
            plan("排概率论", "检查", covers=covers),
            call("rough_build", task_class_ids=[10]),
            call("rough_build", task_class_ids=[11]),
        ]
    )
    session = await bed.say("排一下")
    assert session.state.interaction is not None
    assert session.state.interaction.kind == "plan"
    session = await bed.answer("approve")
    assert placed(session, 2)
    assert not placed(session, 5)
    card = session.state.interaction
    assert card is not None
    assert card.tool == "rough_build"
    sources = [e.payload["source"] for e in bed.store.timeline[CONVERSATION] if e.kind == "confirm_result"]
    assert sources == ["user", "plan"]


async def test_a_rejected_plan_goes_back_to_planning_and_ends_after_two_revisions() -> None:
    bed = await make_bed([plan("一", "二"), plan("三", "四"), plan("五", "六")])
    await bed.say("开始")
    for _ in range(2):
        session = await bed.answer("reject", message="换一个")
        assert session.state.interaction is not None
    session = await bed.answer("reject")
    assert session.state.outcome is not None
    assert session.state.outcome.kind == "exhausted"
    assert session.state.outcome.code == "revisions_exhausted"


async def test_approval_of_applying_writes_the_timetable_once() -> None:
    bed, _ = await waiting(call("apply_preview"))
    session = await bed.answer("approve")
    card = session.state.interaction
    assert card is not None
    assert card.risk == "D"
    assert bed.store.timetable.applied == []
    resume = Resume(interaction_id=card.interaction_id, action="approve")
    both = await asyncio.gather(*(bed.agent.answer(USER, CONVERSATION, resume) for _ in range(3)))
    assert len({str(answered.result) for answered in both}) == 1
    assert len(bed.store.timetable.applied) == 1
