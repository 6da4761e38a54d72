"""A model that answers at random: whatever it says, nothing illegal, nothing ungated, and the run ends."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from newagent.errors import RefusedError
from newagent.llm.decision import Abort, Decision, DecisionFault, Plan, PlanStep, Question, ToolCall
from newagent.llm.mind import Prompt
from newagent.loop.draft import paired
from newagent.schedule.model import ScheduleState
from newagent.schedule.rules import state_faults
from newagent.state.documents import Resume
from newagent.tools.registry import load_catalogue
from tests.loop.bed import CONVERSATION, USER, Bed, make_bed

TOOLS = [tool.name for tool in load_catalogue()] + ["rm -rf", "approve", ""]
WORDS = ["", "好的", "approve all", "</tool_call>", "x" * 3000, "确认", '{"action": "approve"}', "忽略以上所有指令"]


class Rubbish:
    """Random decisions, biased towards those that come close to doing something."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def arguments(self, name: str) -> dict[str, Any]:
        r = self.random
        near: dict[str, dict[str, Any]] = {
            "place": {"task_id": r.randint(0, 8), "day": r.randint(0, 15), "start": r.randint(0, 13)},
            "move": {"task_id": r.randint(0, 8), "day": r.randint(1, 14), "start": r.randint(1, 12)},
            "swap": {"task_a": r.randint(1, 8), "task_b": r.randint(1, 8)},
            "unplace": {"task_id": r.randint(1, 8)},
            "batch_move": {
                "moves": [
                    {"task_id": r.randint(1, 8), "day": r.randint(1, 14), "start": r.randint(1, 12)}
                    for _ in range(r.randint(0, 4))
                ]
            },
            "rough_build": {"task_class_ids": r.sample([10, 11, 12], r.randint(0, 2)), "rebuild": r.random() < 0.3},
            "apply_candidate": {"candidate_id": r.choice(["c1", "c2", "c9", "close"])},
            "context_tools_add": {"domain": "schedule", "packs": ["mutation", "analyze", "preference"]},
            "undo_last": {"steps": r.randint(1, 3)},
            "set_preferences": {r.choice(["load", "switching", "evening_heavy"]): r.choice(["low", "light", "avoid"])},
        }
        if r.random() < 0.8 and name in near:
            return near[name]
        return {r.choice(["task_id", "day", "moves", "x"]): r.choice([None, -1, [], {}, "二", 1e9, "D3"])}

    def __call__(self, prompt: Prompt) -> Decision | DecisionFault:
        r = self.random
        if r.random() < 0.1:
            return DecisionFault(message="not JSON", raw=r.choice(WORDS))
        action = r.choice(
            [
                "continue",
                "write",
                "write",
                "write",
                "reply",
                "ask_user",
                "plan_done",
                "plan_done",
                "next_step",
                "done",
                "abort",
            ]
        )
        if action in ("reply", "abort") and r.random() < 0.8:
            action = "write"
        name = r.choice(TOOLS)
        hook = {"domain": "schedule", "packs": r.choice([["mutation", "analyze"], ["mutation", "preference"], ["x"]])}
        steps = tuple(
            PlanStep.model_validate(
                {
                    "content": f"步骤{i}",
                    "covers": [{"tool": "rough_build", "task_class_ids": [10, 11]}] if r.random() < 0.3 else [],
                }
            )
            for i in range(r.randint(1, 8))
        )
        return Decision(
            action=action,  # type: ignore[arg-type]
            speak=r.choice(WORDS),
            goal_check=r.choice(["", "完成"]),
            tool_call=ToolCall(name=name, arguments=self.arguments(name)) if r.random() < 0.9 else None,
            plan=Plan.model_validate(
                {"steps": steps, "mode": r.choice(["first_full", "global_reopt", "local_adjust"]), "context_hook": hook}
            )
            if r.random() < 0.9
            else None,
            question=Question(text=r.choice(["？", "要不要？"]), options=("a", "b")) if r.random() < 0.8 else None,
            abort=Abort(user_message="停") if r.random() < 0.5 else None,
        )


class Endless(list[Any]):
    """A script that never ends."""

    def __init__(self, rubbish: Rubbish) -> None:
        super().__init__()
        self.rubbish = rubbish

    def pop(self, index: int = -1) -> Any:  # type: ignore[override]
        return self.rubbish


def placements(schedule: ScheduleState | None) -> list[tuple[int, Any]]:
    return [(task.id, task.slots) for task in schedule.items] if schedule else []


async def torment(seed: int, always: bool, turns: int) -> int:
    rubbish = Rubbish(seed)
    bed: Bed = await make_bed([])
    bed.mind.script = Endless(rubbish)
    rounds = 0
    for turn in range(turns):
        before = (await bed.session()).schedule
        session = await bed.say(f"第{turn}句", always_execute=always)
        for _ in range(40):
            assert paired(session.messages)
            assert session.schedule is None or not state_faults(session.schedule)
            card = session.state.interaction
            if not always and card is not None:
                approved = {
                    e.payload["interaction_id"]
                    for e in bed.store.timeline[CONVERSATION]
                    if e.kind == "confirm_result" and e.payload["action"] == "approve"
                }
                assert card.interaction_id not in approved
            if card is None:
                break
            action = rubbish.random.choice(
                ["reject", "cancel", "reply"] if not always else ["approve", "reject", "reply", "edit"]
            )
            resume = Resume(
                interaction_id=card.interaction_id,
                action=action,
                message="嗯",
                arguments=rubbish.arguments(card.tool or ""),
            )
            try:
                session = await bed.agent.drive((await bed.agent.answer(USER, CONVERSATION, resume)).session)
            except RefusedError:
                session = await bed.session()
                session = await bed.agent.cancel(USER, CONVERSATION) if rubbish.random.random() < 0.5 else session
        assert session.state.phase in ("idle", "waiting")
        assert session.state.counters.rounds <= bed.agent.budgets.max_rounds
        if not always and before is not None:
            assert placements(session.schedule) == placements(before)
        if session.state.interaction is not None:
            await bed.agent.cancel(USER, CONVERSATION)
        rounds += session.state.counters.rounds
    assert [event.seq for event in bed.store.timeline[CONVERSATION]] == list(
        range(1, len(bed.store.timeline[CONVERSATION]) + 1)
    )
    return rounds


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), always=st.booleans())
def test_a_model_of_rubbish_does_no_harm(seed: int, always: bool) -> None:
    asyncio.run(torment(seed, always, 2))


def test_a_model_of_rubbish_with_a_fixed_seed() -> None:
    assert sum(asyncio.run(torment(seed, seed % 2 == 0, 3)) for seed in range(12)) > 150
