"""Writes that the user carries out without the agent: preferences, protections, the window, applying."""

from __future__ import annotations

import pytest

from newagent.errors import NotFoundError, RefusedError
from newagent.schedule.model import Preferences, Protection
from tests.loop.bed import CONVERSATION, USER, Bed, ask, make_bed, plan, reply


async def talked() -> Bed:
    """A conversation with a preview, after a word."""
    bed = await make_bed([reply("好")])
    await bed.say("看看课表")
    return bed


async def test_preferences_and_protections_are_set_at_once() -> None:
    bed = await talked()
    session, result = await bed.agent.act(USER, CONVERSATION, "set_preferences", {"load": "light"})
    assert result.ok
    assert session.schedule is not None
    assert session.schedule.preferences == Preferences(load="light")
    session, _ = await bed.agent.act(USER, CONVERSATION, "protect", {"kind": "weekday", "value": 3})
    assert session.schedule is not None
    assert session.schedule.protections == (Protection(kind="weekday", value=3),)
    assert (session.schedule_version, session.state.undo) == (3, (1, 2))
    assert bed.kinds()[-2:] == ["schedule_updated", "schedule_updated"]
    undone = await bed.agent.undo(USER, CONVERSATION, 1)
    assert undone.schedule is not None
    assert not undone.schedule.protections


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("move", {"task_id": 2, "day": 1, "start": 5}, "unknown_tool"),
        ("set_preferences", {}, "invalid_args"),
        ("set_preferences", {"load": "none"}, "invalid_args"),
        ("unprotect", {"kind": "weekday", "value": 3}, "invalid_args"),
        ("apply_preview", {}, "no_preview"),
    ],
)
async def test_what_is_refused_changes_nothing(name: str, arguments: dict[str, object], code: str) -> None:
    bed = await talked()
    before = await bed.session()
    with pytest.raises(RefusedError) as refused:
        await bed.agent.act(USER, CONVERSATION, name, arguments)
    assert refused.value.code == code
    assert await bed.session() == before


async def test_a_card_stays_open_and_another_user_finds_nothing() -> None:
    bed = await make_bed([plan("一", "二"), ask("哪天？")])
    waiting = await bed.say("排一下")
    session, _ = await bed.agent.act(USER, CONVERSATION, "protect", {"kind": "weekday", "value": 3})
    assert session.state.interaction == waiting.state.interaction
    with pytest.raises(NotFoundError):
        await bed.agent.act("u2", CONVERSATION, "protect", {"kind": "weekday", "value": 4})
