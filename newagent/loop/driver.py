"""The rounds of a run: the model thinks, its decision becomes a round, until the run waits for the user or ends."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext

import structlog

from newagent.errors import ModelError, NewAgentError, RefusedError, StaleHeadError
from newagent.llm.decision import Decision
from newagent.llm.mind import Thought
from newagent.loop.decide import Decider
from newagent.loop.draft import ACTIVE_PHASES
from newagent.loop.lease import Heartbeat
from newagent.loop.prompt import build_prompt
from newagent.loop.system import delivered_without_model, ended, handed_back, taken_over
from newagent.loop.thinking import journal_of, think
from newagent.loop.writer import LEASE, RETRIES, RoundWriter
from newagent.state.documents import OutcomeKind
from newagent.state.store import Session, Timetable
from newagent.texts import say

log = structlog.get_logger(__name__)


class Driver(RoundWriter):
    """Drives runs, one model round after the other."""

    beat_seconds = LEASE.total_seconds() / 3

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

        A session without a run is given back as it is, and a run that owner after owner has left is ended. Raises
        `RefusedError("run_in_progress")` while somebody owns the run, and `StaleHeadError` when somebody else was
        first.
        """
        if session.state.phase not in ACTIVE_PHASES:
            return session
        if self.owned(session):
            raise RefusedError("run_in_progress", "this conversation is still working on the last message")
        bench = self.bench()
        if session.state.counters.takeovers >= self.budgets.max_takeovers:
            draft = ended(session, bench, "aborted", "abandoned", internal="every owner has gone")
            return (await self.commit(draft, bench, fenced=False)).session
        draft = taken_over(session, session.token)
        return (await self.commit(draft, bench, fenced=False, take_lease=True)).session

    async def hand_back(self, session: Session) -> None:
        """Gives up the right to a run that this process will not drive on, so that nobody waits for its lease."""
        for _ in range(RETRIES):
            head = await self.store.load(session.state.user_id, session.state.conversation_id)
            if head.state.phase not in ACTIVE_PHASES or head.token != session.token:
                return
            try:
                bench = self.bench()
                async with self.store.round(head, bench.now, fenced=True) as transaction:
                    await self.save(transaction, handed_back(head, head.token), bench, bench.now, lease=False)
            except StaleHeadError:
                continue
            return

    async def _without_model(self, session: Session, error: ModelError) -> Session:
        """Ends a run whose model has failed; a delivery needs none."""
        if session.state.phase != "delivering":
            text = say(self.locale, "outcome.model_failed", code=error.code, detail=error.message)
            return await self._end(session, "aborted", error.code, text)
        bench = self.bench()
        draft = delivered_without_model(session, bench, error.code, error.message)
        return (await self.commit(draft, bench, fenced=True)).session

    async def _round(self, session: Session) -> Session:
        bench = self.bench()
        prompt = build_prompt(session, bench)
        async with Heartbeat(self.store, self.runtime, session, LEASE, self.beat_seconds):
            thought = await think(self.mind, prompt, session, self.publisher, self.budgets.call_seconds)
        built_on = session.schedule_version
        while True:
            async with self._trial(session, thought) as timetable:
                draft = await Decider(bench, session, timetable, self.earlier(session)).decide(thought)
            spent_ms = int((self.runtime.now() - bench.now).total_seconds() * 1000)
            draft.spend(spent_ms)
            draft.journal.update(journal_of(prompt, thought, built_on))
            try:
                return (await self.commit(draft, bench, fenced=True)).session
            except StaleHeadError:
                # The user changed the schedule while the model thought: the same decision meets the new head.
                fresh = await self.store.load(session.state.user_id, session.state.conversation_id)
                if fresh.token != session.token or fresh.state.phase != session.state.phase:
                    return fresh
                session, bench = fresh, self.bench(bench.now)

    def _trial(self, session: Session, thought: Thought) -> AbstractAsyncContextManager[Timetable | None]:
        call = thought.result.tool_call if isinstance(thought.result, Decision) else None
        tool = self.catalogue.get(call.name) if call else None
        if tool is not None and tool.needs == "store":
            return self.store.trial(session.state.user_id)
        return nullcontext()

    async def _end(
        self, session: Session, kind: OutcomeKind, code: str, text: str | None = None, internal: str = ""
    ) -> Session:
        bench = self.bench()
        draft = ended(session, bench, kind, code, text, internal)
        return (await self.commit(draft, bench, fenced=True)).session

    def _exhausted(self, session: Session) -> str:
        used, budgets = session.state.counters, self.budgets
        if used.rounds >= budgets.max_rounds:
            return "rounds_exhausted"
        if used.run_ms >= budgets.run_seconds * 1000:
            return "time_exhausted"
        return "tokens_exhausted" if used.tokens >= budgets.run_tokens else ""
