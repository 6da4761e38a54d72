"""A real agent whose model is the built-in rule model, over a store in memory; a student answers the cards."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from newagent.llm.model_mind import ModelMind, offline_mind
from newagent.loop.agent import Agent, Turn
from newagent.schedule.model import ScheduleState
from newagent.settings import Budgets, Settings
from newagent.state.documents import PendingInteraction, Resume
from newagent.state.store import Session
from tests.loop.bed import FakeRuntime, Recorder
from tests.loop.memory_store import MemoryStore

USER, CONVERSATION = "u1", "c1"
START = dt.date(2026, 3, 2)
MOST = 40
Answer = tuple[str, dict[str, Any]]
Student = Callable[[PendingInteraction], Answer]


def agreeing(_: PendingInteraction) -> Answer:
    return "approve", {}


@dataclass
class OfflineBed:
    """The agent and what a test looks at. `cards` are all cards that were shown."""

    agent: Agent
    store: MemoryStore
    mind: ModelMind
    cards: list[PendingInteraction]

    async def turn(self, text: str, student: Student = agreeing, **extra: Any) -> Session:
        """One turn, its cards answered by the student, up to its end; a question that nobody answers stays open."""
        session = await self.agent.drive(await self.agent.begin(USER, CONVERSATION, Turn(text, **extra)))
        for _ in range(MOST):
            card = session.state.interaction
            if card is None:
                return session
            self.cards.append(card)
            action, fields = student(card)
            if card.kind == "question" and action == "approve":
                return session
            resume = Resume.model_validate({"interaction_id": card.interaction_id, "action": action, **fields})
            session = await self.agent.drive((await self.agent.answer(USER, CONVERSATION, resume)).session)
        raise AssertionError("the run asks without end")

    def reply(self, session: Session) -> str:
        """The last words of the assistant."""
        return next(m.text for m in reversed(session.messages) if m.role == "assistant")

    def calls(self, session: Session) -> list[str]:
        """The tools and controls called in the latest run, in order."""
        return [m.tool or "" for m in session.messages if m.role == "call" and m.run_id == session.state.run_id]

    def codes(self, session: Session) -> list[str]:
        """The codes of the failed results of the latest run."""
        return [
            m.code or ""
            for m in session.messages
            if m.role == "result" and not m.ok and m.run_id == session.state.run_id
        ]

    @property
    def kinds(self) -> list[str]:
        """The cards shown, by tool or control, else kind."""
        return [card.tool or card.kind for card in self.cards]


@asynccontextmanager
async def offline_bed(facts: ScheduleState | None, locale: Any = "zh", **budgets: Any) -> AsyncIterator[OfflineBed]:
    """The bed on a timetable; the clock stands on its first day."""
    store, runtime = MemoryStore(facts), FakeRuntime()
    runtime.time = dt.datetime(2026, 3, 2, 1, tzinfo=dt.UTC)
    mind = offline_mind(Settings(_env_file=None))  # type: ignore[call-arg]
    agent = Agent(store, mind, Recorder(), runtime, budgets=Budgets(_env_file=None, **budgets), locale=locale)  # type: ignore[call-arg]
    await store.create_conversation(USER, CONVERSATION, runtime.now())
    try:
        yield OfflineBed(agent, store, mind, [])
    finally:
        await mind.aclose()


def small_term(
    *,
    items: int = 4,
    days: int = 14,
    free: int = 12,
    placed: bool = False,
    preferences: dict[str, Any] | None = None,
    **fields: Any,
) -> ScheduleState:
    """A lecture on Mondays and three classes of items; on each day only the first `free` sections are free.

    `placed` puts the items on every third day, badly: the two heavy classes side by side, one of them in the evening.
    """
    dates = [START + dt.timedelta(days=i) for i in range(days)]
    window = {
        "sections": 12,
        "periods": {"morning": [1, 4], "afternoon": [5, 8], "evening": [9, 12]},
        "days": [
            {"day": i, "week": (i - 1) // 7 + 1, "day_of_week": date.isoweekday(), "date": date.isoformat()}
            for i, date in enumerate(dates, 1)
        ],
    }
    lectures = [{"day": d, "start": 1, "end": 2} for d in range(1, days + 1, 7)]
    tasks: list[dict[str, Any]] = [_course(1, "高等数学", lectures)]
    if free < 12:
        tasks.append(_course(2, "实习", [{"day": d, "start": free + 1, "end": 12} for d in range(1, days + 1)]))
    classes: list[dict[str, Any]] = []
    for identity, name, intensity in ((10, "概率论", "high"), (11, "大学物理", "high"), (12, "六级词汇", "low")):
        classes.append(
            {
                "id": identity,
                "name": name,
                "start_date": dates[0].isoformat(),
                "end_date": dates[-1].isoformat(),
                "strategy": "rapid" if identity == 11 else "steady",
                "total_slots": items * 2,
                "subject_type": "quantitative",
                "difficulty_level": "high",
                "cognitive_intensity": intensity,
                **fields,
            }
        )
        for order in range(1, items + 1):
            number = len(tasks) + 1
            tasks.append(
                {
                    "id": number,
                    "source": "task_item",
                    "source_id": 200 + number,
                    "name": f"{name} 第{order}章",
                    "kind": "task",
                    "task_class_id": identity,
                    "order": order,
                    "duration": 2,
                    "status": "suggested" if placed else "pending",
                    "slots": [_bad_place(identity, order)] if placed else [],
                }
            )
    return ScheduleState.load(
        {
            "schema_version": 1,
            "window": window,
            "tasks": tasks,
            "task_classes": classes,
            "preferences": preferences or {},
            "protections": [],
        }
    )


def _bad_place(class_id: int, order: int) -> dict[str, int]:
    start = {10: 7, 11: 9, 12: 11}[class_id]
    return {"day": 3 * order - 1, "start": start, "end": start + 1}


def _course(identity: int, name: str, slots: list[dict[str, int]]) -> dict[str, Any]:
    return {
        "id": identity,
        "source": "event",
        "source_id": 100 + identity,
        "name": name,
        "kind": "course",
        "status": "existing",
        "locked": True,
        "slots": slots,
    }
