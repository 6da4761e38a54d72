"""What nobody should send, and what must come of it: a result, a fault or a clear refusal, and a run that ends."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from newagent.errors import InputError, ModelError, NotFoundError, RefusedError
from newagent.llm.decision import Decision, DecisionFault, ToolCall
from newagent.llm.mind import Delta, Prompt, Thought
from newagent.loop.agent import Agent, Turn
from newagent.loop.draft import paired
from newagent.loop.sound import MOST_MESSAGE, sound_json, sound_text
from newagent.state.documents import Resume
from newagent.state.store import Session
from tests.loop.bed import CONVERSATION, USER, Bed, ask, call, done, make_bed, next_step, plan, reply

HALF = "\ud800"
PLACE = call("place", task_id=2, day=2, start=1)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def storable(bed: Bed) -> bool:
    """Whether everything that was stored is JSON in UTF-8."""
    kept = [
        [message.model_dump(mode="json") for message in bed.store.sessions[USER, CONVERSATION].messages],
        [[event.content, event.payload] for event in bed.store.timeline[CONVERSATION]],
        bed.store.journal,
    ]
    return bool(json.dumps(kept, ensure_ascii=False, allow_nan=False).encode())


@pytest.mark.parametrize(
    "answer",
    [
        reply("好" + HALF),
        Decision(action="continue", speak=HALF, tool_call=ToolCall(name="x" + HALF, arguments={HALF: HALF})),
        DecisionFault(message=HALF, raw=HALF),
        call("query_target_tasks", category=HALF),
        call("query_target_tasks", category=nested(3000)),
        call("place", task_id=float("nan"), day=float("inf"), start=1),
        call("place", task_id=10**5000, day=1, start=1),
        call("place", task_id=10**30, day=10**30, start=1),
        call("query_target_tasks", category="x" * 300_000),
        Decision(action="continue", tool_call=ToolCall(name="x" * 300_000)),
        Decision(action="continue", speak="x" * 300_000),
        call("batch_move", moves=5),
        call("batch_move", moves={"task_id": 1}),
        call("rough_build", task_class_ids="all"),
        call("undo_last", steps=10**30),
    ],
    ids=range(15),
)
async def test_a_model_can_write_anything_into_its_answer(answer: Decision | DecisionFault) -> None:
    bed = await make_bed([plan("做"), answer, Decision(action="abort")])
    session = await bed.say("开始")
    outcome = session.state.outcome
    assert outcome is not None
    assert outcome.code == "model_abort"
    assert paired(session.messages)
    assert storable(bed)
    assert max(len(message.model_dump_json()) for message in session.messages) < 50_000


def test_sound_text_joins_what_belongs_together_and_marks_what_does_not() -> None:
    assert sound_text("a\ud83d\ude00b\ud83dc") == "a😀b\ufffdc"
    assert sound_json({"n": [1, 1.5, True, None]}) == {"n": [1, 1.5, True, None]}


class Raising:
    """A mind that fails in a way that no mind should."""

    name = "raising"
    is_rule_model = False

    def __init__(self, error: BaseException | None) -> None:
        self.error = error
        self.closed = False

    async def think(self, prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        try:
            yield Delta("text", "我")
            if self.error is None:
                await asyncio.Event().wait()
            else:
                raise self.error
        finally:
            self.closed = True


@pytest.mark.parametrize(("error", "code"), [(ZeroDivisionError("x"), "model_failed"), (None, "model_timeout")])
async def test_a_mind_that_raises_anything_or_never_ends_is_a_model_fault(error: Exception | None, code: str) -> None:
    bed = await make_bed([], call_seconds=0.05)
    mind = Raising(error)
    agent = Agent(bed.store, mind, bed.seen, bed.runtime, budgets=bed.agent.budgets)
    session = await agent.drive(await agent.begin(USER, CONVERSATION, Turn("放")))
    assert session.state.outcome is not None
    assert (session.state.outcome.kind, session.state.outcome.code) == ("aborted", code)
    assert [message.text for message in session.messages] == ["放"]
    assert mind.closed


async def test_a_fault_of_ours_ends_the_run_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    bed = await make_bed([plan("放"), PLACE])
    monkeypatch.setattr("newagent.loop.gate.write_card", lambda *_: 1 / 0)
    session = await bed.say("放")
    assert session.state.outcome is not None
    assert (session.state.outcome.kind, session.state.outcome.code) == ("aborted", "internal_error")
    assert "ZeroDivisionError" in session.state.outcome.internal_reason
    assert paired(session.messages)


async def test_a_delivery_needs_no_model() -> None:
    bed = await make_bed([plan("看"), call("get_overview"), done()])
    think = bed.mind.think

    async def failing(prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        if not bed.mind.script:
            raise ModelError("model_unavailable", "gone")
        async for piece in think(prompt):
            yield piece

    bed.mind.think = failing  # type: ignore[method-assign]
    session = await bed.say("看")
    assert session.state.outcome is not None
    assert (session.state.outcome.stage, session.state.outcome.code) == ("delivering", "delivered")
    assert "未放任务 6 项" in session.messages[-1].text


async def test_what_was_refused_for_the_phase_or_the_tools_may_come_again_when_they_have_changed() -> None:
    script = [PLACE, call("get_overview"), call("context_tools_add", domain="schedule", packs=["mutation"])]
    script += [call("get_overview"), plan("放"), PLACE]
    bed = await make_bed(script)
    session = await bed.say("放")
    assert bed.results(session)[:2] == [("place", "phase_forbidden"), ("get_overview", "tool_not_active")]
    assert ("get_overview", "ok") in bed.results(session)
    assert session.state.interaction is not None
    assert session.state.interaction.tool == "place"


async def test_a_candidate_may_be_picked_after_the_judgement_that_it_was_refused_for() -> None:
    pick = call("apply_candidate", candidate_id="c1")
    places = [call("place", task_id=t, day=2, start=s) for t, s in ((2, 1), (5, 3))]
    bed = await make_bed([plan("调"), *places, pick, pick, call("analyze_health"), pick, done(), reply("完")])
    session = await bed.say("调", always_execute=True)
    picked = [code for tool, code in bed.results(session) if tool == "apply_candidate"]
    assert picked == ["stale_candidate", "call_repeated", "ok"]


@pytest.mark.parametrize("action", ["ask_user", "plan_done"])
async def test_three_empty_control_calls_in_a_row_end_the_run(action: Any) -> None:
    bed = await make_bed([Decision(action=action)] * 4)
    session = await bed.say("开始")
    assert session.state.outcome is not None
    assert session.state.outcome.code == "invalid_model_output"
    assert len(bed.mind.prompts) == 3


async def test_switching_tools_on_is_no_evidence() -> None:
    add = call("context_tools_add", domain="schedule", mode="merge")
    bed = await make_bed([plan("看"), add, done(), call("get_overview"), done(), reply("完")])
    session = await bed.say("看")
    assert [code for tool, code in bed.results(session) if tool == "done"] == ["evidence_missing", "ok"]


async def test_plain_text_counts_only_in_a_row() -> None:
    words = Decision(action="continue", speak="我在想")
    bad = call("place", task_id=2, day=1, start=1)
    bed = await make_bed([plan("看"), call("get_overview"), words, bad, words, call("query_target_tasks")])
    bed.mind.script += [done(), reply("完")]
    session = await bed.say("看")
    assert [tool for tool, _ in bed.results(session)] == [
        "plan_done",
        "get_overview",
        "place",
        "query_target_tasks",
        "done",
    ]


async def test_a_new_mode_ends_the_optimisation_of_the_old_one() -> None:
    build = call("rough_build", task_class_ids=[10, 11])
    bed = await make_bed([plan("排", mode="first_full"), build, plan("看"), call("get_overview"), done(), reply("完")])
    session = await bed.say("排", always_execute=True)
    assert ("get_overview", "ok") in bed.results(session)


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "empty_message"), (" \n\t", "empty_message"), ("x" * (MOST_MESSAGE + 1), "message_too_long")],
)
async def test_a_message_has_words_and_an_end(text: str, code: str) -> None:
    bed = await make_bed([])
    with pytest.raises(InputError) as refused:
        await bed.agent.begin(USER, None, Turn(text))
    assert refused.value.code == code
    assert list(bed.store.sessions) == [(USER, CONVERSATION)]


async def test_half_characters_of_a_user_are_stored_as_such() -> None:
    bed = await make_bed([ask("几点？"), reply("好")])
    await bed.say("好" + HALF)
    session = await bed.answer("reply", message="八点" + HALF)
    assert "八点\ufffd" in session.messages[-2].text
    assert storable(bed)


async def test_an_edit_beyond_measure_leaves_the_card_open() -> None:
    bed = await make_bed([plan("放"), PLACE])
    before = await bed.say("放")
    for arguments in (nested(100), {"task_id": float("nan")}, {"task_id": "x" * 100_000}):
        with pytest.raises(RefusedError) as refused:
            await bed.answer("edit", arguments=arguments)
        assert refused.value.code == "invalid_args"
    assert (await bed.session()) == before


async def test_a_card_of_a_conversation_that_is_not_the_users_is_not_found() -> None:
    bed = await make_bed([plan("放"), PLACE])
    card = (await bed.say("放")).state.interaction
    assert card is not None
    for user, conversation in (("u2", CONVERSATION), (USER, "c9")):
        with pytest.raises(NotFoundError) as unknown:
            await bed.agent.answer(user, conversation, Resume(interaction_id=card.interaction_id, action="approve"))
        assert unknown.value.code == "interaction_not_found"


async def test_a_message_that_was_meant_for_another_question_is_not_taken() -> None:
    bed = await make_bed([ask("删掉吗？"), reply("好")])
    load = bed.store.load
    raced = False

    async def overtaken(user: str, conversation: str) -> Session:
        """Between reading and writing, another tab's message starts a run that asks something."""
        nonlocal raced
        session = await load(user, conversation)
        if not raced:
            raced = True
            await bed.agent.drive(await bed.agent.begin(USER, CONVERSATION, Turn("一")))
        return session

    bed.store.load = overtaken  # type: ignore[method-assign]
    with pytest.raises(RefusedError) as refused:
        await bed.agent.begin(USER, CONVERSATION, Turn("好"))
    assert refused.value.code == "run_in_progress"
    session = await bed.session()
    assert session.state.phase == "waiting"
    assert [m.text for m in session.messages if m.role == "user"] == ["一"]


async def expired(bed: Bed) -> str:
    """Lets the open card pass its time; gives its id."""
    card = (await bed.session()).state.interaction
    assert card is not None
    bed.runtime.time = card.expires_at
    return card.interaction_id


@pytest.mark.parametrize("script", [[plan("看", "再看")], [plan("放"), PLACE], [ask("几点？")]])
async def test_every_kind_of_card_expires(script: list[Any]) -> None:
    for way in ("answer", "message", "cancel"):
        bed = await make_bed([*script, reply("新的一轮")])
        await bed.say("开始")
        identity = await expired(bed)
        resume = Resume(interaction_id=identity, action="cancel")
        if way == "answer":
            with pytest.raises(RefusedError) as late:
                await bed.agent.answer(USER, CONVERSATION, resume)
            assert late.value.code == "interaction_expired"
        elif way == "message":
            assert (await bed.say("好")).messages[-1].text == "新的一轮"
        else:
            await bed.agent.cancel(USER, CONVERSATION)
        session = await bed.session()
        told = [e.payload for e in bed.store.timeline[CONVERSATION] if e.kind == "confirm_result"]
        assert [(e["action"], e["source"]) for e in told] == [("expire", "expiry")]
        assert any(code == "interaction_expired" for _, code in bed.results(session))
        assert paired(session.messages)
        assert session.state.interaction is None
        with pytest.raises(RefusedError) as late:
            await bed.agent.answer(USER, CONVERSATION, resume)
        assert late.value.code == "interaction_expired"


async def abandoned() -> tuple[Bed, Session]:
    """A bench whose run was left after its plan by a process that died; and the session that process had."""
    bed = await make_bed([plan("看"), call("get_overview"), done(), reply("完")])
    started = await bed.agent.begin(USER, CONVERSATION, Turn("看"))
    return bed, await bed.agent._round(started)


async def test_a_run_is_taken_over_when_its_lease_is_over_and_not_before() -> None:
    bed, old = await abandoned()
    with pytest.raises(RefusedError) as refused:
        await bed.agent.take_over(await bed.session())
    assert refused.value.code == "run_in_progress"
    bed.runtime.time += dt.timedelta(minutes=2)
    taken = await bed.agent.take_over(await bed.session())
    assert taken.token == old.token + 1
    assert bed.store.journal[-1]["takeover"] == {"token": old.token}
    asked = len(bed.mind.prompts)
    left = await bed.agent.drive(old)
    assert left.state.phase == "executing", "the old owner has no right any more"
    assert len(bed.mind.prompts) == asked + 1
    bed.mind.script.insert(0, call("get_overview"))
    session = await bed.agent.drive(taken)
    assert session.state.phase == "idle"
    assert await bed.agent.take_over(session) == session


async def test_a_new_message_ends_a_run_whose_owner_has_gone_even_in_a_race() -> None:
    bed, _ = await abandoned()
    bed.runtime.time += dt.timedelta(minutes=2)
    bed.mind.script[:] = [reply("好")]
    outcomes = await asyncio.gather(
        *(bed.agent.begin(USER, CONVERSATION, Turn(text)) for text in ("一", "二")), return_exceptions=True
    )
    assert sum(isinstance(one, Session) for one in outcomes) == 1
    assert [one.code for one in outcomes if isinstance(one, RefusedError)] == ["run_in_progress"]
    codes = [e.payload["outcome"]["code"] for e in bed.store.timeline[CONVERSATION] if e.kind == "finish"]
    assert codes == ["abandoned"]


async def test_next_step_needs_its_own_evidence() -> None:
    bed = await make_bed([plan("看", "再看"), call("get_overview"), next_step(), next_step(), Decision(action="abort")])
    await bed.say("看")
    session = await bed.answer("approve")
    assert [code for tool, code in bed.results(session) if tool == "next_step"] == ["ok", "evidence_missing"]
