"""Replay: made again it is the same; one byte tampered with shows, and where; forked it goes another way."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newagent.errors import InputError, NotFoundError, RefusedError
from newagent.llm.decision import DecisionFault
from newagent.loop.preview import Placement
from newagent.loop.replay import fork, redacted, verify
from newagent.loop.replay.compare import first_difference
from newagent.state.documents import Resume
from newagent.state.recording import RecordedRound, Recording, read_recording
from tests.loop.bed import CONVERSATION, USER, Bed, ask, call, done, make_bed, next_step, plan, reply

PARTS = ("version", "round_id", "kind", "state_hash", "message_hash", "schedule_hash", "previous_hash")


async def story() -> Bed:
    """A conversation with every kind of round: turns, plans, cards, edits, hands, a cancel, an expiry."""
    bed = await make_bed(
        [
            plan("排", "看"),
            call("rough_build", task_class_ids=[10]),
            next_step(),
            call("get_overview"),
            ask("还要什么？", "够了"),
            done(),
            reply("排好了"),
        ]
    )
    await bed.say("帮我排概率论")
    await bed.answer("approve")
    await bed.answer("approve")
    await bed.answer("reply", message="够了")
    session = await bed.session()
    assert session.schedule is not None
    item = session.schedule.items[3].source_id
    items = [
        Placement(
            task.source_id,
            session.schedule.window.days[slot.day - 1].week,
            session.schedule.window.days[slot.day - 1].day_of_week,
            slot.start,
            slot.end,
        )
        for task in session.schedule.items
        if (slot := task.slot)
    ]
    await bed.agent.stash(USER, CONVERSATION, session.schedule_version, [*items, Placement(item, 2, 3, 9, 10)])
    await bed.agent.undo(USER, CONVERSATION, session.schedule_version)
    bed.mind.script += [plan("移"), DecisionFault(message="不是 JSON"), ask("移到哪天？")]
    await bed.say("把第一章移到后面")
    await bed.agent.cancel(USER, CONVERSATION)
    bed.mind.script[:] = [ask("哪一科？")]
    await bed.say("再看看")
    bed.runtime.time = bed.runtime.time.replace(year=2027)
    await bed.agent.look_after(USER, CONVERSATION)
    await bed.agent.apply(USER, CONVERSATION)
    return bed


async def recorded() -> Recording:
    return await (await story()).store.recording(USER, CONVERSATION)


async def test_a_whole_conversation_is_the_same_when_it_is_made_again() -> None:
    recording = await recorded()
    verdict = await verify(recording)
    assert verdict.as_json() == {
        "ok": True,
        "conversation_id": CONVERSATION,
        "rounds": len(recording.rounds),
        "difference": None,
        "reworded": [],
    }
    kinds = {one.entry.kind for one in recording.rounds}
    assert kinds == {"turn", "model", "resume", "user", "system"}


async def test_a_recording_is_a_file_of_its_own() -> None:
    recording = await recorded()
    again = read_recording(json.loads(json.dumps(recording.as_json())))
    assert again == recording
    assert (await verify(again)).ok


@pytest.mark.parametrize("document", [None, [], {}, {"format": "x", "format_version": 1}, {"format": 1}])
def test_what_is_no_recording(document: Any) -> None:
    with pytest.raises(InputError) as caught:
        read_recording(document)
    assert caught.value.code == "invalid_recording"


async def test_a_redacted_recording_has_nobody_s_words_and_verifies() -> None:
    bed = await story()
    recording = await bed.store.recording(USER, CONVERSATION)
    bare = await redacted(recording, bed.agent.catalogue)
    assert (await verify(bare)).as_json()["ok"]
    text = json.dumps(bare.as_json(), ensure_ascii=False)
    for words in ("帮我排概率论", "概率论", "高等数学", "还要什么", "排好了", '"u1"'):
        assert words in json.dumps(recording.as_json(), ensure_ascii=False)
        assert words not in text
    assert [one.entry.kind for one in bare.rounds] == [one.entry.kind for one in recording.rounds]


async def test_a_recording_that_differs_cannot_be_redacted() -> None:
    bed = await story()
    recording = await bed.store.recording(USER, CONVERSATION)
    broken = with_round(recording, 1, body={**recording.rounds[1].entry.body, "drawn": []})
    with pytest.raises(RefusedError) as caught:
        await redacted(broken, bed.agent.catalogue)
    assert caught.value.code == "not_redactable"


def with_round(recording: Recording, index: int, **changes: Any) -> Recording:
    """The recording with fields of one row changed, its chain made good again from there on."""
    rounds = list(recording.rounds)
    previous = rounds[index].entry.previous_hash
    for at in range(index, len(rounds)):
        entry = replace(rounds[at].entry, previous_hash=previous, **(changes if at == index else {}))
        rounds[at] = replace(rounds[at], entry=entry, hash=entry.hash)
        previous = entry.hash
    return replace(recording, rounds=tuple(rounds), head_hash=previous)


@pytest.fixture(scope="module")
def kept() -> Recording:
    import asyncio

    return asyncio.run(recorded())


@settings(max_examples=60, deadline=None)
@given(data=st.data())
async def test_one_byte_of_the_journal_tampered_with_shows_and_where(kept: Recording, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(kept.rounds) - 1))
    row = kept.rounds[index]
    part = data.draw(st.sampled_from((*PARTS, "body", "hash")))
    if part == "hash":
        broken = replace(row, hash=other_character(row.hash, data))
    elif part == "body":
        text = json.dumps(row.entry.body, ensure_ascii=False)
        spot = data.draw(st.sampled_from([at for at, mark in enumerate(text) if mark.isalnum()]))
        try:
            body = json.loads(text[:spot] + ("1" if text[spot] != "1" else "2") + text[spot + 1 :])
        except ValueError:
            return
        broken = replace(row, entry=replace(row.entry, body=body))
    else:
        value = getattr(row.entry, part)
        changed = value + 1 if isinstance(value, int) else other_character(value, data) if value else "x"
        broken = replace(row, entry=replace(row.entry, **{part: changed}))
    rounds = (*kept.rounds[:index], broken, *kept.rounds[index + 1 :])
    difference = (await verify(replace(kept, rounds=rounds))).difference
    assert difference is not None
    assert (difference.version, difference.part) == (index + 1, "journal")


def other_character(text: str, data: st.DataObject) -> str:
    at = data.draw(st.integers(0, len(text) - 1))
    return text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1 :]


def index_of(recording: Recording, wanted: Any) -> int:
    return next(index for index, one in enumerate(recording.rounds) if wanted(one))


async def differs(recording: Recording) -> tuple[int, str, str, Any, Any]:
    found = (await verify(recording)).difference
    assert found is not None
    return found.version, found.part, found.path, found.recorded, found.replayed


def edited(recording: Recording, index: int, **changes: Any) -> Recording:
    rounds = list(recording.rounds)
    rounds[index] = replace(rounds[index], **changes)
    return replace(recording, rounds=tuple(rounds))


async def test_a_stored_message_that_was_changed_is_named_with_both_values(kept: Recording) -> None:
    row = kept.rounds[0]
    broken = edited(kept, 0, messages=({**row.messages[0], "text": "帮我排物理"},))
    assert await differs(broken) == (1, "messages", "$[0].text", "帮我排物理", "帮我排概率论")
    assert await differs(edited(kept, 0, messages=())) == (1, "messages", "$[0]", None, row.messages[0])


async def test_a_stored_schedule_that_was_changed_is_named_with_both_values(kept: Recording) -> None:
    index = index_of(kept, lambda one: one.schedule is not None and one.entry.kind == "resume")
    schedule = json.loads(json.dumps(kept.rounds[index].schedule))
    day = schedule["tasks"][1]["slots"][0]["day"]
    schedule["tasks"][1]["slots"][0]["day"] = day + 1
    assert await differs(edited(kept, index, schedule=schedule)) == (
        index + 1,
        "schedule",
        "$.tasks[1].slots[0].day",
        day + 1,
        day,
    )


async def test_a_state_that_the_round_does_not_lead_to_is_named_with_both_values(kept: Recording) -> None:
    body = json.loads(json.dumps(kept.rounds[1].entry.body))
    body["state"]["counters"]["rounds"] = 7
    assert await differs(with_round(kept, 1, body=body)) == (2, "state", "$.counters.rounds", 7, 1)
    forged = with_round(kept, 1, state_hash="0" * 64)
    assert (await differs(forged))[:4] == (2, "state", "$", "0" * 64)


@pytest.mark.parametrize(
    ("index", "changes"),
    [
        (0, {"world": []}),
        (0, {"world": [{"load": {}}]}),
        (1, {"drawn": []}),
        (1, {"drawn": ["run_9"]}),
        (1, {"now": "yesterday"}),
        (2, {"resume": {}}),
    ],
    ids=str,
)
async def test_a_round_that_cannot_be_made_again(kept: Recording, index: int, changes: dict[str, Any]) -> None:
    body = {**kept.rounds[index].entry.body, **changes}
    version, part, _, _, fault = await differs(with_round(kept, index, body=body))
    assert (version, part) == (index + 1, "round")
    assert fault


async def test_the_end_of_the_journal_is_what_the_head_says(kept: Recording) -> None:
    cut = replace(kept, rounds=kept.rounds[:-1])
    assert (await differs(cut))[:3] == (len(kept.rounds), "head", "$.version")
    assert (await differs(replace(kept, head_hash="x")))[1:3] == ("head", "$.journal_hash")
    other = replace(kept, agent_state={**kept.agent_state, "goal": "另一个"})
    assert (await differs(other))[1:4] == ("head", "$.agent_state.goal", "另一个")
    gone = replace(kept, rounds=(*kept.rounds[:2], *kept.rounds[3:]))
    assert (await differs(gone))[:3] == (3, "journal", "$.version")


async def test_a_prompt_that_is_worded_otherwise_today_is_told_and_no_fault(kept: Recording) -> None:
    body = {**kept.rounds[1].entry.body, "prompt_hash": "x"}
    verdict = await verify(with_round(kept, 1, body=body))
    assert (verdict.ok, verdict.reworded) == (True, (2,))


def test_the_first_difference() -> None:
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}) is None
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == ("$.a[1].b", 2, 3)
    assert first_difference({"a": None}, {}) == ("$.a", None, None)
    assert first_difference([1], [1, None]) == ("$", 1, 2)
    assert first_difference(True, 1) == ("$", True, 1)
    assert first_difference({"a": 1}, [1]) == ("$", {"a": 1}, [1])


def card_of(recorded: RecordedRound) -> dict[str, Any]:
    return recorded.entry.body["state"].get("interaction") or {}


async def test_a_fork_answers_otherwise_and_leaves_the_original_alone() -> None:
    bed = await story()
    recording = await bed.store.recording(USER, CONVERSATION)
    version = index_of(recording, lambda one: one.entry.kind == "resume") + 1
    waits = index_of(recording, lambda one: card_of(one).get("kind") == "write") + 1
    bed.mind.script[:] = [done(), reply("不放了")]
    session = await fork(bed.agent, recording, waits, USER)
    card = session.state.interaction
    assert card is not None
    assert session.state.conversation_id != CONVERSATION
    assert session.state.judgement is None
    answered = await bed.agent.answer(
        USER, session.state.conversation_id, Resume(interaction_id=card.interaction_id, action="reject")
    )
    ended = await bed.agent.drive(answered.session)
    assert ended.schedule is not None
    assert len(ended.schedule.pending) == 6
    assert await bed.store.recording(USER, CONVERSATION) == recording
    bed.mind.script[:] = [call("rough_build", task_class_ids=[11])]
    live = await bed.agent.drive(await fork(bed.agent, recording, version, USER))
    assert live.state.interaction is not None
    assert live.state.interaction.arguments == {"task_class_ids": [11]}


async def test_what_cannot_be_forked() -> None:
    bed = await story()
    recording = await bed.store.recording(USER, CONVERSATION)
    for version in (0, len(recording.rounds) + 1):
        with pytest.raises(NotFoundError) as caught:
            await fork(bed.agent, recording, version, USER)
        assert caught.value.code == "round_not_found"
    broken = edited(recording, 1, hash="x")
    with pytest.raises(RefusedError) as refused:
        await fork(bed.agent, broken, 3, USER)
    assert refused.value.code == "replay_differs"


async def test_a_question_and_an_empty_conversation_are_forked_too() -> None:
    bed = await make_bed([ask("哪一科？", "物理")])
    await bed.say("排课")
    recording = await bed.store.recording(USER, CONVERSATION)
    session = await fork(bed.agent, recording, 2, USER)
    events = await bed.store.events(USER, session.state.conversation_id)
    assert [event.kind for event in events] == ["schedule_updated", "interrupt"]
    assert session.title == "排课"
    empty = replace(recording, rounds=(), version=0, head_hash="")
    assert (await verify(replace(empty, agent_state={}))).difference is not None
