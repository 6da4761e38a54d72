"""`newagent chat`: a conversation in the terminal, with cards that are answered by a key."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import suppress
from typing import Annotated

import typer
from rich.console import Console

from newagent.cli.output import CommandUsageError, Json, Output, plain
from newagent.cli.timeline import TimelineView
from newagent.cli.wiring import LOCAL_USER, Service, open_service
from newagent.errors import InputError, NewAgentError, StaleHeadError, StoreError
from newagent.loop.agent import Turn
from newagent.loop.draft import ACTIVE_PHASES
from newagent.settings import load_settings
from newagent.state.documents import PendingInteraction, Resume
from newagent.state.store import Session
from newagent.texts import Locale, say

POLL = 1.0
Conversation = Annotated[str | None, typer.Option("--conversation", "-c", help="Go on with this conversation.")]
Message = Annotated[str | None, typer.Option("--message", "-m", help="One message instead of a dialogue.")]


def chat(conversation: Conversation = None, message: Message = None, as_json: Json = False) -> None:
    """Chat in the terminal; cards are answered by a key. With --message, one turn (a waiting card stays open)."""
    if as_json and message is None:
        raise CommandUsageError("usage", "--json needs --message: a dialogue has no single document")
    output = Output(as_json)
    asyncio.run(_chat(output, conversation, message))


async def _chat(output: Output, conversation: str | None, message: str | None) -> None:
    settings = load_settings()
    console = output.out
    view = TimelineView(console, settings.locale)
    async with open_service(settings, view) as service:
        if service.mind.is_rule_model:
            console.print(say(settings.locale, "demo.rule_model", name=service.mind.name), style="yellow")
        if message is not None:
            session = await _say(service, conversation, message)
            outcome = session.state.outcome
            output.done(
                _document(session),
                lambda c: c.print(say(settings.locale, "chat.id", id=session.state.conversation_id)),
                ok=outcome is None or outcome.kind != "aborted",
            )
            return
        await Dialogue(service, console, view, settings.locale).run(conversation)


async def _say(service: Service, conversation: str | None, text: str) -> Session:
    return await _drive(service, await service.agent.begin(LOCAL_USER, conversation, Turn(text)))


async def _drive(service: Service, session: Session) -> Session:
    """Drives a run; one that is broken off here is handed back, so that it can go on at once."""
    try:
        return await service.agent.drive(session)
    except (asyncio.CancelledError, NewAgentError):
        with suppress(NewAgentError):
            await service.agent.hand_back(session)
        raise


def _document(session: Session) -> dict[str, object]:
    state = session.state
    return {
        "conversation_id": state.conversation_id,
        "phase": state.phase,
        "interaction": state.interaction.model_dump(mode="json") if state.interaction else None,
        "outcome": state.outcome.model_dump(mode="json") if state.outcome else None,
        "reply": next((m.text for m in reversed(session.messages) if m.role == "assistant"), ""),
    }


class Dialogue:
    """Reads lines and keys until the user leaves; a refused line is told and the dialogue goes on."""

    def __init__(self, service: Service, console: Console, view: TimelineView, locale: Locale) -> None:
        self.service = service
        self.console = console
        self.view = view
        self.locale: Locale = locale
        self.session: Session | None = None

    async def run(self, conversation: str | None) -> None:
        """The dialogue."""
        try:
            if conversation is not None:
                self.session = await self._reopen(conversation)
            self.console.print(say(self.locale, "chat.hello"), style="dim")
            while await self._turn():
                pass
        finally:
            if self.session is not None:
                self.console.print(say(self.locale, "chat.id", id=self.session.state.conversation_id), style="dim")

    async def _turn(self) -> bool:
        """Reads a line and does what it says; False when the user leaves."""
        card = self.session.state.interaction if self.session else None
        line = self._read(card)
        if line is None or (not line and card is None):
            return False
        if not line:
            return True  # a key that was hit in passing answers no card
        try:
            self.session = await self._step(self.session, card, line)
        except NewAgentError as error:
            self.console.print(plain(f"{error.code}: {error.message}"), style="red", markup=False)
            if self.session is not None:
                with suppress(StoreError):
                    self.session = await self.service.store.load(LOCAL_USER, self.session.state.conversation_id)
        return True

    async def _reopen(self, conversation: str) -> Session:
        """Shows what was said and goes on with a run that was left in the middle, once nobody else owns it."""
        service, seq, told = self.service, 0, False
        while True:
            session = await service.store.load(LOCAL_USER, conversation)
            for event in await service.store.events(LOCAL_USER, conversation, seq):
                self.view.show(event)
                seq = event.seq
            if session.state.phase not in ACTIVE_PHASES:
                return session
            if not service.agent.owned(session):
                try:
                    return await _drive(service, await service.agent.take_over(session))
                except StaleHeadError:
                    continue
            if not told:
                self.console.print(say(self.locale, "chat.elsewhere"), style="yellow")
                told = True
            await asyncio.sleep(POLL)

    def _read(self, card: PendingInteraction | None) -> str | None:
        """A line of the user; None when they leave. Nothing else goes on meanwhile, so that Ctrl-C is heard at once."""
        key = "chat.prompt" if card is None else f"chat.prompt_{card.kind}"
        heard = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return self.console.input(f"[bold]{say(self.locale, key)}[/bold] ").strip()
        except (EOFError, KeyboardInterrupt):
            return None
        finally:
            signal.signal(signal.SIGINT, heard)

    async def _step(self, session: Session | None, card: PendingInteraction | None, line: str) -> Session:
        agent = self.service.agent
        if session is None or card is None:
            started = await agent.begin(LOCAL_USER, session.state.conversation_id if session else None, Turn(line))
            self.session = started
            return await _drive(self.service, started)
        resume = self._resume(card, line)
        if resume is None:
            return await _say(self.service, session.state.conversation_id, line)
        answered = await agent.answer(LOCAL_USER, session.state.conversation_id, resume)
        return await _drive(self.service, answered.session)

    def _resume(self, card: PendingInteraction, line: str) -> Resume | None:
        """What a key means: y approve, a always allow, n [reason] reject, e {json} edit, q cancel; else plain words."""
        identity = card.interaction_id
        if card.kind == "question":
            chosen = int(line) if line.isdecimal() and len(line) < 4 else 0
            text = card.options[chosen - 1] if 0 < chosen <= len(card.options) else line
            return Resume(interaction_id=identity, action="reply", message=text)
        key, _, rest = line.partition(" ")
        match key.lower():
            case "y":
                return Resume(interaction_id=identity, action="approve")
            case "a":
                return Resume(interaction_id=identity, action="approve", always_allow=True)
            case "n":
                return Resume(interaction_id=identity, action="reject", message=rest or None)
            case "q":
                return Resume(interaction_id=identity, action="cancel")
            case "e":
                return Resume(interaction_id=identity, action="edit", arguments=_arguments(rest))
            case _:
                return None


def _arguments(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InputError("invalid_args", "after e, give the full arguments as a JSON object")
    return value  # pyright: ignore[reportUnknownVariableType]
