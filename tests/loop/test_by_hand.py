"""The user's own hand on the preview: stash and undo, under the rules, also while a run waits or works."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from newagent.errors import NotFoundError, RefusedError
from newagent.loop.agent import Turn
from newagent.loop.preview import Placement
from newagent.schedule.model import ScheduleState
from newagent.state.store import Session
from tests.loop.bed import CONVERSATION, USER, Bed, call, done, make_bed, plan, reply, week_state


async def talked(**extra: Any) -> tuple[Bed, Session]:
    """A conversation with a preview, after a word."""
    bed = await make_bed([reply("好")], **extra)
    return bed, await bed.say("看看课表")


def at(schedule: ScheduleState, index: int, day: int, start: int, length: int = 2, **fields: Any) -> Placement:
    """An item by its place in the list, put somewhere."""
    shown = schedule.window.days[day - 1]
    item = schedule.items[index].source_id
    return Placement(item, shown.week, shown.day_of_week, start, start + length - 1, **fields)


def layout(session: Session) -> list[Placement]:
    """Everything that stands in the preview, as a page would send it."""
    state = session.schedule
    assert state is not None
    placed = [(index, task.slot) for index, task in enumerate(state.items)]
    return [at(state, index, slot.day, slot.start, slot.end - slot.start + 1) for index, slot in placed if slot]


async def test_a_stash_is_a_new_version_and_leaves_the_rest_pending() -> None:
    bed, session = await talked()
    assert session.schedule is not None
    stashed = await bed.agent.stash(
        USER, CONVERSATION, 1, [at(session.schedule, 0, 2, 3), at(session.schedule, 1, 3, 3)]
    )
    assert stashed.schedule is not None
    assert [task.slot and (task.slot.day, task.slot.start) for task in stashed.schedule.items[:3]] == [
        (2, 3),
        (3, 3),
        None,
    ]
    assert (stashed.schedule_version, stashed.version) == (2, session.version + 1)
    assert stashed.state == session.state.model_copy(update={"undo": (1,)})
    assert bed.kinds()[-1] == "schedule_updated"
    emptied = await bed.agent.stash(USER, CONVERSATION, 2, [at(session.schedule, 1, 3, 3)])
    assert emptied.schedule is not None
    assert [task.status for task in emptied.schedule.items[:2]] == ["pending", "suggested"]


async def test_the_same_layout_again_is_no_round() -> None:
    bed, session = await talked()
    assert session.schedule is not None
    stashed = await bed.agent.stash(USER, CONVERSATION, 1, [at(session.schedule, 0, 2, 3)])
    assert await bed.agent.stash(USER, CONVERSATION, 2, layout(stashed)) == stashed
    assert await bed.agent.undo(USER, CONVERSATION, 2) == stashed


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"task_item_id": 9999}, "unknown_item"),
        ({"week": 9}, "outside_window"),
        ({"start_section": 0}, "outside_window"),
        ({"end_section": 13}, "outside_window"),
        ({"end_section": 2}, "outside_window"),
        ({"end_section": 5}, "out_of_window"),
        ({"week": 1, "day_of_week": 1, "start_section": 1, "end_section": 2}, "conflict"),
        ({"embed_course_event_id": 101}, "unknown_host"),
    ],
    ids=str,
)
async def test_a_layout_that_cannot_be(changes: dict[str, int], code: str) -> None:
    bed, session = await talked()
    assert session.schedule is not None
    item = replace(at(session.schedule, 0, 2, 3), **changes)
    with pytest.raises(RefusedError) as caught:
        await bed.agent.stash(USER, CONVERSATION, 1, [item])
    assert caught.value.code == code
    assert await bed.session() == session


async def test_every_fault_of_a_layout_is_told_the_first_by_rank() -> None:
    bed, session = await talked()
    assert session.schedule is not None
    items = [at(session.schedule, 0, 5, 3), at(session.schedule, 1, 3, 3), at(session.schedule, 3, 1, 1)]
    with pytest.raises(RefusedError) as caught:
        await bed.agent.stash(USER, CONVERSATION, 1, items)
    codes = [one["code"] for one in caught.value.data["violations"]]
    assert caught.value.code == codes[0] == "conflict"
    assert "order_violation" in codes


async def test_an_item_named_twice_and_a_version_of_the_past() -> None:
    bed, session = await talked()
    assert session.schedule is not None
    item = at(session.schedule, 0, 2, 3)
    with pytest.raises(RefusedError) as caught:
        await bed.agent.stash(USER, CONVERSATION, 1, [item, item])
    assert caught.value.code == "duplicate_item"
    with pytest.raises(RefusedError) as caught:
        await bed.agent.stash(USER, CONVERSATION, 0, [item])
    assert (caught.value.code, caught.value.data) == ("version_conflict", {"version": 1})


async def test_without_a_preview_there_is_nothing_to_lay_out() -> None:
    bed, session = await talked()
    bed.store.sessions[USER, CONVERSATION] = replace(session, schedule=None, schedule_version=0)
    with pytest.raises(RefusedError) as caught:
        await bed.agent.stash(USER, CONVERSATION, 0, [])
    assert caught.value.code == "no_preview"
    with pytest.raises(NotFoundError):
        await bed.agent.undo(USER, CONVERSATION, 7)


async def test_what_stands_in_the_timetable_stays_there() -> None:
    facts = week_state()
    done_item = facts.items[0].evolve(status="existing", slots=({"day": 2, "start": 3, "end": 4},))
    document = facts.dump()
    document["tasks"] = [
        {**task, "status": "existing", "slots": [{"day": 2, "start": 3, "end": 4}]}
        if task["id"] == done_item.id
        else task
        for task in document["tasks"]
    ]
    bed, session = await talked(facts=ScheduleState.load(document))
    assert session.schedule is not None
    same = at(session.schedule, 0, 2, 3)
    assert await bed.agent.stash(USER, CONVERSATION, 1, [same]) == session
    with pytest.raises(RefusedError) as caught:
        await bed.agent.stash(USER, CONVERSATION, 1, [at(session.schedule, 0, 2, 5)])
    assert caught.value.code == "locked"


async def test_the_user_may_move_what_is_protected_from_the_agent() -> None:
    document = week_state().dump()
    document["protections"] = [{"kind": "class", "value": 10}]
    bed, session = await talked(facts=ScheduleState.load(document))
    assert session.schedule is not None
    stashed = await bed.agent.stash(USER, CONVERSATION, 1, [at(session.schedule, 0, 2, 3)])
    assert stashed.schedule_version == 2


async def test_a_course_that_holds_an_item_may_be_named() -> None:
    document = week_state(filler=True).dump()
    document["tasks"][0] = {**document["tasks"][0], "can_embed": True}
    bed, session = await talked(facts=ScheduleState.load(document))
    assert session.schedule is not None
    stashed = await bed.agent.stash(USER, CONVERSATION, 1, [at(session.schedule, 0, 1, 1, embed_course_event_id=101)])
    assert stashed.schedule is not None
    assert stashed.schedule.items[0].embed_host == 1


async def test_undo_brings_an_earlier_version_back_as_a_new_one() -> None:
    bed, session = await talked()
    assert session.schedule is not None
    await bed.agent.stash(USER, CONVERSATION, 1, [at(session.schedule, 0, 2, 3)])
    second = await bed.agent.stash(USER, CONVERSATION, 2, [at(session.schedule, 0, 2, 5)])
    assert second.state.undo == (1, 2)
    back = await bed.agent.undo(USER, CONVERSATION, 2)
    assert (back.schedule_version, back.state.undo) == (4, (1,))
    assert back.schedule == bed.store.schedules[CONVERSATION, 2]
    first = await bed.agent.undo(USER, CONVERSATION, 1)
    assert first.schedule == session.schedule
    forward = await bed.agent.undo(USER, CONVERSATION, 3)
    assert forward.schedule == second.schedule
    assert bed.kinds().count("schedule_updated") == 6


async def test_undo_does_not_come_back_over_what_was_applied() -> None:
    bed, session = await talked()
    assert session.schedule is not None
    await bed.agent.stash(USER, CONVERSATION, 1, [at(session.schedule, 0, 2, 3)])
    applied, _ = await bed.agent.apply(USER, CONVERSATION)
    for version in (1, 2):
        with pytest.raises(RefusedError) as caught:
            await bed.agent.undo(USER, CONVERSATION, version)
        assert caught.value.code == "version_conflict"
    assert await bed.session() == applied


async def test_a_stash_while_a_card_waits_leaves_it_open_and_the_card_is_judged_again() -> None:
    bed = await make_bed([plan("放"), call("place", task_id=2, day=2, start=3), done(), reply("好")])
    waiting = await bed.say("放第一章")
    assert waiting.state.interaction is not None
    assert waiting.schedule is not None
    stashed = await bed.agent.stash(USER, CONVERSATION, 1, [at(waiting.schedule, 3, 2, 3)])
    assert stashed.state.interaction == waiting.state.interaction
    ended = await bed.answer("approve")
    assert ("place", "stale_interaction") in bed.results(ended)
    assert ended.schedule == stashed.schedule


async def test_a_stash_while_the_model_thinks_leaves_the_run_to_its_owner() -> None:
    bed = await make_bed([reply("好")])
    started = await bed.agent.begin(USER, CONVERSATION, Turn("看看"))
    assert started.schedule is not None
    bed.runtime.time += bed.runtime.time.resolution * 1000
    stashed = await bed.agent.stash(USER, CONVERSATION, 1, [at(started.schedule, 0, 2, 3)])
    assert (stashed.token, stashed.lease_until, stashed.state.phase) == (started.token, started.lease_until, "planning")
    ended = await bed.agent.drive(started)
    assert ended.state.outcome is not None
    assert ended.state.outcome.kind == "completed"
    assert ended.schedule == stashed.schedule


async def test_the_agent_takes_back_a_stash_as_the_last_write() -> None:
    bed, session = await talked()
    assert session.schedule is not None
    await bed.agent.stash(USER, CONVERSATION, 1, [at(session.schedule, 0, 2, 3)])
    bed.mind.script += [plan("撤销"), call("undo_last"), done(), reply("好")]
    ended = await bed.say("撤销刚才的", always_execute=True)
    assert ("undo_last", "ok") in bed.results(ended)
    assert ended.schedule == session.schedule
