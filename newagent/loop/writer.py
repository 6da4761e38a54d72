"""Rounds onto disk: what every round needs to be made, committed and told."""

from __future__ import annotations

import datetime as dt

from newagent.llm.mind import Mind
from newagent.loop.decide import Earlier
from newagent.loop.draft import Bench, Draft
from newagent.runtime import RecordingRuntime, Runtime
from newagent.schedule.model import ScheduleState
from newagent.settings import Budgets
from newagent.state.store import RoundTransaction, Session, Store, Stored
from newagent.stream.events import Publisher
from newagent.texts import Locale
from newagent.tools.registry import Catalogue, load_catalogue

LEASE = dt.timedelta(seconds=60)
RETRIES = 8


class RoundWriter:
    """Makes the bench of a round, commits its draft and publishes its events; it keeps nothing between rounds."""

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

    def bench(self) -> Bench:
        """What one round decides with; it remembers what the round draws."""
        runtime = RecordingRuntime(self.runtime)
        return Bench(self.catalogue, self.budgets, self.locale, runtime, runtime.now())

    def earlier(self, session: Session) -> Earlier:
        """How a round reads earlier versions of its schedule."""

        async def at(version: int) -> ScheduleState:
            return await self.store.schedule_at(session.state.user_id, session.state.conversation_id, version)

        return at

    async def commit(self, draft: Draft, *, fenced: bool, take_lease: bool = False) -> Stored:
        """Writes a round in a transaction of its own, and tells its events. Raises `StaleHeadError`."""
        now = self.runtime.now()
        async with self.store.round(draft.session, now, fenced=fenced, take_lease=take_lease) as transaction:
            stored = await self.save(transaction, draft, now)
        await self.tell(stored)
        return stored

    async def save(self, transaction: RoundTransaction, draft: Draft, now: dt.datetime) -> Stored:
        """Writes a round in a transaction that is open; its run is leased from `now`, but not by a user's hand."""
        return await transaction.save(draft.round(draft.session.lease_until if draft.kind == "user" else now + LEASE))

    async def tell(self, stored: Stored) -> None:
        """Publishes the events of a round that is committed."""
        await self.publisher.publish(stored.session.state.conversation_id, list(stored.events))
