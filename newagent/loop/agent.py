"""The agent: one conversation's turns, answers and rounds, each a transaction, over a store, a mind and a publisher.

`begin`, `answer` and `cancel` commit what the user did and return at once; `drive` runs model rounds until the run
waits for the user or has ended. Whoever calls them decides whether to wait for `drive` or to let it run on.
"""

from __future__ import annotations

import datetime as dt
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import structlog

from newagent.errors import ModelError, NewAgentError, NotFoundError, RefusedError, StaleHeadError
from newagent.llm.decision import Decision
from newagent.llm.mind import Mind, Thought
from newagent.loop.answers import Answering, answer_of_message, expire, sound_resume
from newagent.loop.decide import Decider
from newagent.loop.deliver import deliver
from newagent.loop.draft import ACTIVE_PHASES, Bench, Draft
from newagent.loop.prompt import build_prompt
from newagent.loop.sound import user_text
from newagent.loop.thinking import journal_of, think
from newagent.loop.turn import take_turn
from newagent.runtime import RecordingRuntime, Runtime
from newagent.schedule.model import ScheduleState
from newagent.settings import Budgets
from newagent.state.documents import OutcomeKind, PendingInteraction, Resume
from newagent.state.store import Session, Store, Stored, Timetable
from newagent.stream.events import NewEvent, Publisher
from newagent.texts import Locale, say
from newagent.tools.base import ToolResult
from newagent.tools.registry import Catalogue, load_catalogue

log = structlog.get_logger(__name__)
LEASE = dt.timedelta(seconds=60)
RETRIES = 8


@dataclass(frozen=True)
class Turn:
    """A user's message and what came with it."""

    text: str
    task_class_ids: tuple[int, ...] = ()
    always_execute: bool = False


@dataclass(frozen=True)
class Answered:
    """What an answer came to: the session after it, the recorded result, and whether it had been given before."""

    session: Session
    result: dict[str, Any]
    repeated: bool = False


class Agent:
    """One agent for all users and conversations of a process; it keeps nothing between calls."""

    def __init__(
        self,
        store: Store,
        mind: Mind,
        publisher: Publisher,
        runtime: Runtime,
        *,
        catalogue: Catalogue | None = None,
        budgets: Budgets | None = None,
        locale: Locale = "zh",
    ) -> None:
        self.store = store
        self.mind = mind
        self.publisher = publisher
        self.runtime = runtime
        self.catalogue = catalogue or load_catalogue()
        self.budgets = budgets or Budgets()
        self.locale: Locale = locale

    async def begin(self, user_id: str, conversation_id: str | None, turn: Turn) -> Session:
        """Takes a user's message: a new turn, or the answer to an open card.

        Raises `InputError` with empty_message or message_too_long, `NotFoundError`, `RefusedError("run_in_progress")`
        and what a bad answer raises.
        """
        turn = replace(turn, text=user_text(turn.text))
        if conversation_id is None:
            conversation_id = self.runtime.new_id("conv")
            await self.store.create_conversation(user_id, conversation_id, self.runtime.now())
        known: PendingInteraction | None = None
        for attempt in range(RETRIES):
            session = await self.store.load(user_id, conversation_id)
            card = session.state.interaction
            if attempt == 0:
                known = card
            try:
                if card is None:
                    if session.state.phase in ACTIVE_PHASES:
                        if self.owned(session):
                            raise RefusedError(
                                "run_in_progress", "this conversation is still working on the last message"
                            )
                        session = await self._abandon(session)
                    return await self._turn(session, turn)
                if self.runtime.now() >= card.expires_at:
                    await self._expire(session, card)
                    continue
            except StaleHeadError:
                continue
            if known is None or card.interaction_id != known.interaction_id:
                # Another message was first, and its run has asked something that this one cannot be meant for.
                break
            try:
                answer = answer_of_message(card, turn.text)
                return (await self._answer_once(session, card, answer, turn.text)).session
            except StaleHeadError:
                break
        raise RefusedError("run_in_progress", "another message or answer was first; this one was not taken")

    async def answer(self, user_id: str, conversation_id: str, resume: Resume) -> Answered:
        """Answers a card, exactly once whatever arrives together.

        Raises `NotFoundError("interaction_not_found")`, and `RefusedError` with interaction_closed,
        interaction_expired, invalid_args or the code of a refused edit; the card then is as it was.
        """
        resume = sound_resume(resume)
        for _ in range(RETRIES):
            try:
                session = await self.store.load(user_id, conversation_id)
            except NotFoundError:
                raise _unknown_interaction() from None
            card = session.state.interaction
            if card is None or card.interaction_id != resume.interaction_id:
                return await self._late(session, resume)
            if self.runtime.now() >= card.expires_at:
                await self._expire(session, card)
                continue
            try:
                return await self._answer_once(session, card, resume, None)
            except StaleHeadError:
                continue
        raise RefusedError("run_in_progress", "this conversation is busy")

    async def cancel(self, user_id: str, conversation_id: str) -> Session:
        """Stops the current run; committed rounds stay. A conversation without a run is left as it is."""
        for _ in range(RETRIES):
            session = await self.store.load(user_id, conversation_id)
            card = session.state.interaction
            try:
                if card is not None and self.runtime.now() >= card.expires_at:
                    return await self._expire(session, card)
                if card is not None:
                    resume = Resume(interaction_id=card.interaction_id, action="cancel")
                    return (await self._answer_once(session, card, resume, None)).session
                if session.state.phase not in ACTIVE_PHASES:
                    return session
                draft = Draft(session, session.state, kind="user")
                draft.finish("cancelled", "cancelled", self.locale)
                return (await self._commit(draft, fenced=False)).session
            except StaleHeadError:
                continue
        raise RefusedError("run_in_progress", "this conversation is busy")

    async def apply(
        self, user_id: str, conversation_id: str, task_class_ids: tuple[int, ...] | None = None
    ) -> tuple[Session, ToolResult]:
        """Writes the preview into the timetable because the user asked for it directly, in one transaction.

        Raises `RefusedError` with no_preview, timetable_conflict (with the list) or run_in_progress.
        """
        tool = self.catalogue.by_name["apply_preview"]
        arguments = {"task_class_ids": list(task_class_ids)} if task_class_ids else {}
        for _ in range(RETRIES):
            session = await self.store.load(user_id, conversation_id)
            if session.state.phase in ACTIVE_PHASES:
                raise RefusedError("run_in_progress", "this conversation is still working on the last message")
            bench = self._bench()
            try:
                async with self.store.round(session, bench.now, fenced=False) as transaction:
                    result = await Decider(bench, session, transaction.timetable, self._earlier(session)).run(
                        tool, arguments
                    )
                    if not result.ok:
                        raise RefusedError(result.code, result.text, **result.data)
                    draft = Draft(session, session.state, kind="user", schedule=result.schedule)
                    draft.update(undo=())
                    draft.events.append(NewEvent("schedule_updated", payload={"version": draft.version}))
                    draft.journal.update(apply=result.as_json(), drawn=_drawn(bench))
                    stored = await transaction.save(draft.round(None))
            except StaleHeadError:
                continue
            await self.publisher.publish(conversation_id, list(stored.events))
            return stored.session, result
        raise RefusedError("run_in_progress", "this conversation is busy")

    async def drive(self, session: Session) -> Session:
        """Runs model rounds until the run waits, has ended, or belongs to another owner."""
        token = session.token
        while session.state.phase in ACTIVE_PHASES and session.token == token:
            spent = self._exhausted(session)
            try:
                session = await (self._end(session, "exhausted", spent) if spent else self._round(session))
            except StaleHeadError:
                session = await self.store.load(session.state.user_id, session.state.conversation_id)
            except ModelError as error:
                log.warning("model_failed", code=error.code, conversation=session.state.conversation_id)
                session = await self._without_model(session, error)
            except NewAgentError:
                raise
            except Exception as error:  # a fault of ours, or of an installed tool: told, and the run ends in order
                log.exception("run_failed", conversation=session.state.conversation_id)
                text = say(self.locale, "outcome.internal_error")
                session = await self._end(session, "aborted", "internal_error", text, internal=repr(error)[:500])
        return session

    def owned(self, session: Session) -> bool:
        """Whether somebody holds the lease of a run, so that it must be left to them."""
        return session.lease_until is not None and session.lease_until > self.runtime.now()

    async def take_over(self, session: Session) -> Session:
        """Takes a run whose owner has gone, as a round of its own: the earlier owner's right ends; `drive` goes on.

        A session without a run is given back as it is. Raises `RefusedError("run_in_progress")` while somebody owns
        the run, and `StaleHeadError` when somebody else was first.
        """
        if session.state.phase not in ACTIVE_PHASES:
            return session
        if self.owned(session):
            raise RefusedError("run_in_progress", "this conversation is still working on the last message")
        draft = Draft(session, session.state, kind="system")
        draft.journal["takeover"] = {"token": session.token}
        return (await self._commit(draft, fenced=False, take_lease=True)).session

    async def hand_back(self, session: Session) -> None:
        """Gives up the right to a run that this process will not drive on, so that nobody waits for its lease."""
        for _ in range(RETRIES):
            head = await self.store.load(session.state.user_id, session.state.conversation_id)
            if head.state.phase not in ACTIVE_PHASES or head.token != session.token:
                return
            try:
                async with self.store.round(head, self.runtime.now(), fenced=True) as transaction:
                    draft = Draft(head, head.state, kind="system")
                    draft.journal["handed_back"] = {"token": head.token}
                    await transaction.save(draft.round(None))
            except StaleHeadError:
                continue
            return

    async def _without_model(self, session: Session, error: ModelError) -> Session:
        """Ends a run whose model has failed. A delivery needs none: its facts are computed, and its words fixed."""
        if session.state.phase != "delivering":
            text = say(self.locale, "outcome.model_failed", code=error.code, detail=error.message)
            return await self._end(session, "aborted", error.code, text)
        draft = Draft(session, session.state, kind="system")
        draft.journal["fault"] = {"code": error.code, "message": error.message}
        deliver(draft, self._bench(), "")
        return (await self._commit(draft, fenced=True)).session

    async def _round(self, session: Session) -> Session:
        bench = self._bench()
        prompt = build_prompt(session, bench)
        thought = await think(self.mind, prompt, session, self.publisher, self.budgets.call_seconds)
        built_on = session.schedule_version
        while True:
            async with self._trial(session, thought) as timetable:
                decider = Decider(bench, session, timetable, self._earlier(session))
                draft = await decider.decide(thought)
            spent_ms = int((self.runtime.now() - bench.now).total_seconds() * 1000)
            draft.count(run_ms=draft.state.counters.run_ms + spent_ms)
            draft.journal.update(journal_of(prompt, thought, bench, built_on))
            try:
                return (await self._commit(draft, fenced=True)).session
            except StaleHeadError:
                # The user changed the schedule while the model thought: the same decision meets the new head.
                fresh = await self.store.load(session.state.user_id, session.state.conversation_id)
                if fresh.token != session.token or fresh.state.phase != session.state.phase:
                    return fresh
                session = fresh

    def _trial(self, session: Session, thought: Thought) -> AbstractAsyncContextManager[Timetable | None]:
        call = thought.result.tool_call if isinstance(thought.result, Decision) else None
        tool = self.catalogue.get(call.name) if call else None
        if tool is not None and tool.needs == "store":
            return self.store.trial(session.state.user_id)
        return nullcontext()

    def _earlier(self, session: Session) -> Any:
        async def at(version: int) -> ScheduleState:
            return await self.store.schedule_at(session.state.user_id, session.state.conversation_id, version)

        return at

    async def _turn(self, session: Session, turn: Turn) -> Session:
        bench = self._bench()
        async with self.store.round(session, bench.now, fenced=False, take_lease=True) as transaction:
            draft = await take_turn(session, bench, transaction.timetable, turn.text, turn.task_class_ids)
            if turn.always_execute:
                draft.update(grants=draft.state.grants.model_copy(update={"run": True}))
            draft.journal["drawn"] = _drawn(bench)
            stored = await transaction.save(draft.round(bench.now + LEASE))
        await self.publisher.publish(session.state.conversation_id, list(stored.events))
        return stored.session

    async def _answer_once(
        self, session: Session, card: PendingInteraction, resume: Resume, words: str | None
    ) -> Answered:
        bench = self._bench()
        Answering(Decider(bench, session, None, self._earlier(session)), card).check(resume)
        async with self.store.round(session, bench.now, fenced=False, take_lease=True) as transaction:
            decider = Decider(bench, session, transaction.timetable, self._earlier(session))
            draft = await Answering(decider, card).answer(resume, words)
            draft.journal["drawn"] = _drawn(bench)
            stored = await transaction.save(draft.round(bench.now + LEASE))
        await self.publisher.publish(session.state.conversation_id, list(stored.events))
        assert draft.consumed is not None
        return Answered(stored.session, draft.consumed["result"])

    async def _late(self, session: Session, resume: Resume) -> Answered:
        state = session.state
        record = await self.store.consumed(state.user_id, state.conversation_id, resume.interaction_id)
        if record is None:
            raise _unknown_interaction()
        if record["answer"].get("action") == "expire":
            raise RefusedError("interaction_expired", "the confirmation was not answered in time")
        if record["answer"] != resume.answer:
            raise RefusedError("interaction_closed", "the confirmation has been answered otherwise")
        return Answered(session, record["result"], repeated=True)

    async def _expire(self, session: Session, card: PendingInteraction) -> Session:
        draft = Draft(session, session.state, kind="system")
        expire(draft, card, self.locale)
        try:
            return (await self._commit(draft, fenced=False)).session
        except StaleHeadError:
            return await self.store.load(session.state.user_id, session.state.conversation_id)

    async def _abandon(self, session: Session) -> Session:
        """Ends a run whose owner has gone, so that a new turn can begin."""
        draft = Draft(session, session.state, kind="system")
        draft.finish("aborted", "abandoned", self.locale)
        return (await self._commit(draft, fenced=False)).session

    async def _end(
        self, session: Session, kind: OutcomeKind, code: str, text: str | None = None, internal: str = ""
    ) -> Session:
        draft = Draft(session, session.state, kind="system")
        draft.finish(kind, code, self.locale, internal=internal, text=text)
        return (await self._commit(draft, fenced=True)).session

    async def _commit(self, draft: Draft, *, fenced: bool, take_lease: bool = False) -> Stored:
        now = self.runtime.now()
        async with self.store.round(draft.session, now, fenced=fenced, take_lease=take_lease) as transaction:
            stored = await transaction.save(draft.round(now + LEASE))
        await self.publisher.publish(draft.state.conversation_id, list(stored.events))
        return stored

    def _bench(self) -> Bench:
        runtime = RecordingRuntime(self.runtime)
        return Bench(self.catalogue, self.budgets, self.locale, runtime, runtime.now())

    def _exhausted(self, session: Session) -> str:
        used, budgets = session.state.counters, self.budgets
        if used.rounds >= budgets.max_rounds:
            return "rounds_exhausted"
        if used.run_ms >= budgets.run_seconds * 1000:
            return "time_exhausted"
        return "tokens_exhausted" if used.tokens >= budgets.run_tokens else ""


def _unknown_interaction() -> NotFoundError:
    return NotFoundError("interaction_not_found", "there is no such confirmation")


def _drawn(bench: Bench) -> list[str]:
    return bench.runtime.drawn if isinstance(bench.runtime, RecordingRuntime) else []
