"""Rounds onto disk: what every round needs to be made, committed and told."""

from __future__ import annotations

import datetime as dt
from typing import Any

from newagent.llm.mind import Mind
from newagent.loop.decide import Earlier
from newagent.loop.draft import Bench, Draft
from newagent.loop.world import RecordingWorld, changed_fields
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

    def bench(self, now: dt.datetime | None = None) -> Bench:
        """What one round decides with, now or at a given instant; it remembers what the round draws and asks."""
        return Bench(
            self.catalogue, self.budgets, self.locale, RecordingRuntime(self.runtime), now or self.runtime.now()
        )

    def earlier(self, session: Session) -> Earlier:
        """How a round reads earlier versions of its schedule."""

        async def at(version: int) -> ScheduleState:
            return await self.store.schedule_at(session.state.user_id, session.state.conversation_id, version)

        return at

    async def commit(self, draft: Draft, bench: Bench, *, fenced: bool, take_lease: bool = False) -> Stored:
        """Writes a round in a transaction of its own, and tells its events. Raises `StaleHeadError`."""
        now = self.runtime.now()
        async with self.store.round(draft.session, now, fenced=fenced, take_lease=take_lease) as transaction:
            stored = await self.save(transaction, draft, bench, now)
        await self.tell(stored)
        return stored

    async def save(
        self, transaction: RoundTransaction, draft: Draft, bench: Bench, now: dt.datetime, *, lease: bool = True
    ) -> Stored:
        """Writes a round in a transaction that is open; its run is leased from `now`, but not by a user's hand."""
        draft.journal.update(outside_of(bench))
        draft.journal["state"] = changed_fields(draft.session.state, draft.state)
        until = draft.session.lease_until if draft.kind == "user" else now + LEASE
        return await transaction.save(draft.round(until if lease else None))

    async def tell(self, stored: Stored) -> None:
        """Publishes the events of a round that is committed."""
        await self.publisher.publish(stored.session.state.conversation_id, list(stored.events))


def outside_of(bench: Bench) -> dict[str, Any]:
    """What the journal keeps of the world that a round met: clock, ids, settings, and what was asked of the world."""
    kept: dict[str, Any] = {"now": bench.now.isoformat(), "locale": bench.locale}
    budgets = bench.budgets.model_dump(mode="json", exclude_defaults=True)
    if budgets:
        kept["budgets"] = budgets
    if isinstance(bench.runtime, RecordingRuntime) and bench.runtime.drawn:
        kept["drawn"] = bench.runtime.drawn
    if isinstance(bench.world, RecordingWorld) and bench.world.answers:
        kept["world"] = bench.world.answers
    return kept
