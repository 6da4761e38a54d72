"""`newagent demo`: the main job from a timetable file to an applied plan, as a person would follow it.

It runs on a database of its own in a temporary folder, with the clock set to the first day of the sample term, and
never touches the user's data. The confirmations are approved automatically, which is said.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.rule import Rule

from newagent.calendars.importer import read_timetable
from newagent.calendars.sample import sample_term
from newagent.cli.output import Json, Output
from newagent.cli.timeline import TimelineView
from newagent.cli.weeks import show_before_after
from newagent.cli.wiring import LOCAL_USER, Service, open_service
from newagent.errors import RefusedError
from newagent.loop.agent import Turn
from newagent.runtime import ShiftedRuntime
from newagent.schedule.cost import evaluate
from newagent.settings import Settings, load_settings
from newagent.state.documents import Resume
from newagent.state.store import Session
from newagent.texts import Locale, say

MOST_CARDS = 60


def demo(as_json: Json = False) -> None:
    """Show the main job on a made-up term: import, place, confirm, improve, apply."""
    output = Output(as_json)
    with tempfile.TemporaryDirectory(prefix="newagent-demo-") as folder:
        settings = load_settings(data_dir=Path(folder), database_url=None)
        document = asyncio.run(_run(settings, output.out))
    output.done(document, lambda console: console.print(_closing(document), style="bold"))


def _closing(document: dict[str, Any]) -> str:
    return (
        f"placed {document['placed']}, pending {document['pending']}, cost {document['cost_before']} → "
        f"{document['cost_after']}, {document['confirmations']} confirmations, applied: {document['applied']}"
    )


async def _run(settings: Settings, console: Console) -> dict[str, Any]:
    semester, timetable, classes = sample_term()
    morning = dt.datetime.combine(semester.start_date, dt.time(9), tzinfo=semester.zone)
    view = TimelineView(console, settings.locale)
    async with open_service(settings, view, ShiftedRuntime(morning.astimezone(dt.UTC))) as service:
        if service.mind.is_rule_model:
            console.print(say(settings.locale, "demo.rule_model", name=service.mind.name), style="yellow")
        console.print(Rule(say(settings.locale, "demo.import")))
        imported = read_timetable(timetable, semester, filename="sample.csv")
        await service.store.put_semester(LOCAL_USER, imported.semester)
        await service.store.import_courses(LOCAL_USER, imported)
        class_ids = [await service.store.put_task_class(LOCAL_USER, one) for one in classes]
        words = say(
            settings.locale,
            "demo.imported",
            courses=len(imported.courses),
            classes=len(class_ids),
            items=sum(len(one["items"]) for one in classes),
            weeks=imported.semester.weeks,
        )
        console.print(words)
        story = Story(service, console, settings)
        return await story.tell()


class Story:
    """The two turns of the demo and what they came to."""

    def __init__(self, service: Service, console: Console, settings: Settings) -> None:
        self.service = service
        self.console = console
        self.locale: Locale = settings.locale
        self.confirmations = 0
        self.cost_before: int | None = None
        self.rounds = 0

    async def tell(self) -> dict[str, Any]:
        """Runs both turns, shows the weeks, applies; returns the document of `--json`."""
        self.console.print(Rule(say(self.locale, "demo.first")))
        first = await self._turn(None, say(self.locale, "demo.place"))
        self.console.print(Rule(say(self.locale, "demo.second")))
        second = await self._turn(first.state.conversation_id, say(self.locale, "demo.wish"))
        before, after = first.schedule, second.schedule
        if before is None or after is None:
            raise RefusedError("no_schedule", "the sample term could not be loaded")
        show_before_after(self.console, before, after, self.locale)
        applied, result = await self.service.agent.apply(LOCAL_USER, second.state.conversation_id)
        self.console.print(Rule(say(self.locale, "demo.applied")))
        self.console.print(result.text.split("\n", 1)[0].rstrip("：:"))
        assert applied.schedule is not None
        value = evaluate(applied.schedule)
        return {
            "conversation_id": second.state.conversation_id,
            "rounds": self.rounds,
            "confirmations": self.confirmations,
            "placed": sum(task.slot is not None for task in applied.schedule.items),
            "pending": value.pending,
            "cost_before": self.cost_before,
            "cost_after": value.cost,
            "applied": result.ok,
            "model": self.service.mind.name,
        }

    async def _turn(self, conversation_id: str | None, text: str) -> Session:
        """One turn with every card approved, up to its end."""
        agent = self.service.agent
        session = await agent.drive(await agent.begin(LOCAL_USER, conversation_id, Turn(text)))
        for _ in range(MOST_CARDS):
            card = session.state.interaction
            if card is None:
                self.rounds += session.state.counters.rounds
                return session
            if card.kind == "question":
                resume = Resume(
                    interaction_id=card.interaction_id,
                    action="reply",
                    message=card.options[0] if card.options else "好",
                )
            else:
                self.console.print(say(self.locale, "demo.auto"), style="dim")
                resume = Resume(interaction_id=card.interaction_id, action="approve")
                self.confirmations += 1
            answered = await agent.answer(LOCAL_USER, session.state.conversation_id, resume)
            if card.tool == "set_preferences" and answered.session.schedule is not None:
                self.cost_before = evaluate(answered.session.schedule).cost
            session = await agent.drive(answered.session)
        raise RefusedError("too_many_cards", f"the story asked for more than {MOST_CARDS} confirmations")
