"""A test bench of the loop: a function as model, a store in memory, a clock that stands."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from newagent.llm.decision import Decision, DecisionFault, Plan, PlanStep, Question, ToolCall
from newagent.llm.mind import Delta, Prompt, Thought
from newagent.loop.agent import Agent, Turn
from newagent.schedule.model import ScheduleState
from newagent.settings import Budgets
from newagent.state.documents import Resume
from newagent.state.store import Session
from newagent.stream.events import Ephemeral, Event
from tests.loop.memory_store import MemoryStore

USER, CONVERSATION = "u1", "c1"
Script = list[Decision | DecisionFault | Callable[[Prompt], Decision]]


class FakeRuntime:
    """A clock that stands until it is moved, and ids that count."""

    def __init__(self) -> None:
        self.time = dt.datetime(2026, 3, 1, 8, tzinfo=dt.UTC)
        self.count = 0

    def now(self) -> dt.datetime:
        return self.time

    def new_id(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}_{self.count}"


@dataclass
class FunctionMind:
    """A function as model: takes the next decision of a script, or calls it with the prompt."""

    script: Script
    prompts: list[Prompt] = field(default_factory=list)
    is_rule_model: bool = False
    name: str = "function"

    async def think(self, prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        self.prompts.append(prompt)
        step = self.script.pop(0)
        decision = step(prompt) if callable(step) else step
        text = decision.speak if isinstance(decision, Decision) else ""
        if text:
            yield Delta("text", text)
        yield Thought(decision, text=text)


@dataclass
class Recorder:
    """A publisher that keeps everything."""

    events: list[Event | Ephemeral] = field(default_factory=list)

    async def publish(self, conversation_id: str, events: list[Event | Ephemeral]) -> None:
        self.events.extend(events)


def week_state(items: int = 3, *, filler: bool = False, load: int = 2) -> ScheduleState:
    """Two weeks, a lecture on Mondays, two heavy classes with pending items."""
    start = dt.date(2026, 3, 2)
    days = [
        {
            "day": i + 1,
            "week": i // 7 + 1,
            "day_of_week": i % 7 + 1,
            "date": (start + dt.timedelta(days=i)).isoformat(),
        }
        for i in range(14)
    ]
    tasks: list[dict[str, Any]] = [
        {
            "id": 1,
            "source": "event",
            "source_id": 101,
            "name": "高等数学",
            "kind": "course",
            "status": "existing",
            "locked": True,
            "slots": [{"day": 1, "start": 1, "end": 2}, {"day": 8, "start": 1, "end": 2}],
        }
    ]
    classes: list[dict[str, Any]] = []
    for c, name in ((10, "概率论"), (11, "大学物理")):
        classes.append(
            {
                "id": c,
                "name": name,
                "start_date": "2026-03-02",
                "end_date": "2026-03-15",
                "strategy": "steady",
                "total_slots": items * load,
                "allow_filler_course": filler,
                "subject_type": "quantitative",
                "difficulty_level": "high",
                "cognitive_intensity": "high",
            }
        )
        for k in range(items):
            identity = len(tasks) + 1
            tasks.append(
                {
                    "id": identity,
                    "source": "task_item",
                    "source_id": 200 + identity,
                    "name": f"{name} 第{k + 1}章",
                    "kind": "task",
                    "task_class_id": c,
                    "order": k + 1,
                    "duration": load,
                    "status": "pending",
                    "slots": [],
                }
            )
    return ScheduleState.load(
        {
            "schema_version": 1,
            "window": {
                "sections": 12,
                "periods": {"morning": [1, 4], "afternoon": [5, 8], "evening": [9, 12]},
                "days": days,
            },
            "tasks": tasks,
            "task_classes": classes,
            "preferences": {},
            "protections": [],
        }
    )


@dataclass
class Bed:
    """An agent on a memory store, with what a test wants to look at."""

    agent: Agent
    store: MemoryStore
    mind: FunctionMind
    seen: Recorder
    runtime: FakeRuntime

    async def say(self, text: str, conversation: str | None = CONVERSATION, **extra: Any) -> Session:
        return await self.agent.drive(await self.agent.begin(USER, conversation, Turn(text, **extra)))

    async def answer(self, action: str, **fields: Any) -> Session:
        session = await self.session()
        card = session.state.interaction
        assert card is not None
        resume = Resume.model_validate({"interaction_id": card.interaction_id, "action": action, **fields})
        answered = await self.agent.answer(USER, CONVERSATION, resume)
        return await self.agent.drive(answered.session)

    async def session(self) -> Session:
        return await self.store.load(USER, CONVERSATION)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.store.timeline.get(CONVERSATION, [])]

    def results(self, session: Session) -> list[tuple[str | None, str | None]]:
        return [(m.tool, m.code) for m in session.messages if m.role == "result"]


made: list[Bed] = []
"""The beds of the present test, whose conversations are replayed at its end."""


async def make_bed(script: Script, facts: ScheduleState | None = None, **budgets: Any) -> Bed:
    """A bench whose model follows a script, on the timetable given (two weeks with pending items by default)."""
    store = MemoryStore(week_state() if facts is None else facts)
    mind, seen, runtime = FunctionMind(list(script)), Recorder(), FakeRuntime()
    agent = Agent(store, mind, seen, runtime, budgets=Budgets(**budgets))
    await store.create_conversation(USER, CONVERSATION, runtime.now())
    made.append(bed := Bed(agent, store, mind, seen, runtime))
    return bed


def call(name: str, /, speak: str = "", **arguments: Any) -> Decision:
    write = name in WRITES
    return Decision(
        action="write" if write else "continue", speak=speak, tool_call=ToolCall(name=name, arguments=arguments)
    )


WRITES = {
    "rough_build",
    "place",
    "move",
    "swap",
    "batch_move",
    "unplace",
    "apply_candidate",
    "undo_last",
    "apply_preview",
    "set_preferences",
}


def plan(*steps: str, mode: str = "local_adjust", covers: Any = (), packs: Any = ("mutation", "analyze")) -> Decision:
    made = [PlanStep(content=step, covers=covers if i == 0 else ()) for i, step in enumerate(steps)]
    hook = {"domain": "schedule", "packs": packs}
    return Decision(action="plan_done", plan=Plan.model_validate({"steps": made, "mode": mode, "context_hook": hook}))


def ask(text: str, *options: str) -> Decision:
    return Decision(action="ask_user", question=Question(text=text, options=options))


def done(check: str = "目标达成") -> Decision:
    return Decision(action="done", goal_check=check)


def next_step(check: str = "这一步完成") -> Decision:
    return Decision(action="next_step", goal_check=check)


def reply(text: str) -> Decision:
    return Decision(action="reply", speak=text)
