"""The agent: what a user does in a conversation, each time a round, over a store, a mind and a publisher.

`begin`, `answer` and `cancel` commit what the user did and return at once; `drive` runs model rounds until the run
waits for the user or has ended. Whoever calls them decides whether to wait for `drive` or to let it run on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from newagent.errors import NotFoundError, RefusedError, StaleHeadError
from newagent.loop.answers import Answering, answer_of_message, sound_resume
from newagent.loop.decide import Decider
from newagent.loop.draft import ACTIVE_PHASES, Draft
from newagent.loop.driver import Driver
from newagent.loop.preview import BY_HAND, Placement, acted_draft, stash_draft, undo_draft
from newagent.loop.sound import user_text
from newagent.loop.system import ended, expired
from newagent.loop.turn import take_turn
from newagent.loop.writer import RETRIES
from newagent.state.documents import PendingInteraction, Resume
from newagent.state.store import Session
from newagent.tools.base import ToolResult


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


class Agent(Driver):
    """One agent for all users and conversations of a process; it keeps nothing between calls."""

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
                bench = self.bench()
                draft = ended(session, bench, "cancelled", "cancelled", by="user")
                return (await self.commit(draft, bench, fenced=False)).session
            except StaleHeadError:
                continue
        raise RefusedError("run_in_progress", "this conversation is busy")

    async def apply(
        self, user_id: str, conversation_id: str, task_class_ids: tuple[int, ...] | None = None
    ) -> tuple[Session, ToolResult]:
        """Writes the preview into the timetable because the user asked for it directly; see `act`."""
        arguments = {"task_class_ids": list(task_class_ids)} if task_class_ids else {}
        return await self.act(user_id, conversation_id, "apply_preview", arguments)

    async def act(
        self, user_id: str, conversation_id: str, name: str, arguments: dict[str, Any]
    ) -> tuple[Session, ToolResult]:
        """Carries out one of the writes of `BY_HAND` because the user asked for it directly, in one transaction.

        Raises `RefusedError` with unknown_tool, invalid_args, no_preview, timetable_conflict (with the list),
        run_in_progress, or the tool's own code; then nothing has changed.
        """
        if name not in BY_HAND:
            raise RefusedError("unknown_tool", f"only these can be done directly: {', '.join(BY_HAND)}")
        tool = self.catalogue.by_name[name]
        for _ in range(RETRIES):
            session = await self.store.load(user_id, conversation_id)
            if session.state.phase in ACTIVE_PHASES:
                raise RefusedError("run_in_progress", "this conversation is still working on the last message")
            bench = self.bench()
            try:
                async with self.store.round(session, bench.now, fenced=False) as transaction:
                    decider = Decider(bench, session, transaction.timetable, self.earlier(session))
                    result = await decider.run(tool, arguments)
                    if not result.ok:
                        raise RefusedError(result.code, result.text, **result.data)
                    draft = acted_draft(session, name, arguments, result)
                    stored = await self.save(transaction, draft, bench, bench.now)
            except StaleHeadError:
                continue
            await self.tell(stored)
            return stored.session, result
        raise RefusedError("run_in_progress", "this conversation is busy")

    async def stash(self, user_id: str, conversation_id: str, version: int, items: Sequence[Placement]) -> Session:
        """Stores the user's own layout of the preview as a new version, also while a run works or waits.

        `version` is the one that the user has laid out anew. Raises `NotFoundError`, and what `stash_draft` raises.
        """
        return await self._by_hand(user_id, conversation_id, lambda session: stash_draft(session, version, items))

    async def undo(self, user_id: str, conversation_id: str, version: int) -> Session:
        """Brings an earlier version of the preview back as a new one.

        Raises `NotFoundError`: conversation_not_found, version_not_found; and what `undo_draft` raises.
        """
        earlier = await self.store.schedule_at(user_id, conversation_id, version)
        return await self._by_hand(user_id, conversation_id, lambda session: undo_draft(session, version, earlier))

    async def _by_hand(self, user_id: str, conversation_id: str, drafted: Callable[[Session], Draft | None]) -> Session:
        for _ in range(RETRIES):
            session = await self.store.load(user_id, conversation_id)
            draft = drafted(session)
            if draft is None:
                return session
            try:
                return (await self.commit(draft, self.bench(), fenced=False)).session
            except StaleHeadError:
                continue
        raise RefusedError("run_in_progress", "this conversation is busy")

    async def look_after(self, user_id: str, conversation_id: str) -> Session | None:
        """Does what is due where nobody does: a card past its time expires, a run without an owner becomes ours.

        None where nothing is due. Raises `NotFoundError`, and `StaleHeadError` where somebody else was first.
        """
        session = await self.store.load(user_id, conversation_id)
        card = session.state.interaction
        if card is not None and self.runtime.now() >= card.expires_at:
            return await self._expire(session, card)
        if session.state.phase not in ACTIVE_PHASES or self.owned(session):
            return None
        return await self.take_over(session)

    async def _turn(self, session: Session, turn: Turn) -> Session:
        bench = self.bench()
        async with self.store.round(session, bench.now, fenced=False, take_lease=True) as transaction:
            draft = await take_turn(
                session, bench, transaction.timetable, turn.text, turn.task_class_ids, turn.always_execute
            )
            stored = await self.save(transaction, draft, bench, bench.now)
        await self.tell(stored)
        return stored.session

    async def _answer_once(
        self, session: Session, card: PendingInteraction, resume: Resume, words: str | None
    ) -> Answered:
        bench = self.bench()
        Answering(Decider(bench, session, None, self.earlier(session)), card).check(resume)
        async with self.store.round(session, bench.now, fenced=False, take_lease=True) as transaction:
            decider = Decider(bench, session, transaction.timetable, self.earlier(session))
            draft = await Answering(decider, card).answer(resume, words)
            stored = await self.save(transaction, draft, bench, bench.now)
        await self.tell(stored)
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
        bench = self.bench()
        try:
            return (await self.commit(expired(session, bench, card), bench, fenced=False)).session
        except StaleHeadError:
            return await self.store.load(session.state.user_id, session.state.conversation_id)

    async def _abandon(self, session: Session) -> Session:
        """Ends a run whose owner has gone, so that a new turn can begin."""
        bench = self.bench()
        return (await self.commit(ended(session, bench, "aborted", "abandoned"), bench, fenced=False)).session


def _unknown_interaction() -> NotFoundError:
    return NotFoundError("interaction_not_found", "there is no such confirmation")
