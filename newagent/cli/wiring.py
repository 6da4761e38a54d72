"""The service of a local user: store, model, events and agent put together from the settings."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from newagent.cli.logs import set_up_logs
from newagent.errors import StoreError
from newagent.llm.mind import Mind
from newagent.loop.agent import Agent
from newagent.runtime import Runtime, SystemRuntime
from newagent.settings import Settings
from newagent.state.sql.store import SqlStore
from newagent.stream.events import Publisher

LOCAL_USER = "local"


@dataclass(frozen=True)
class Service:
    """What the commands work with."""

    store: SqlStore
    mind: Mind
    agent: Agent


@asynccontextmanager
async def open_store(settings: Settings, *, upgrade: bool = False) -> AsyncGenerator[SqlStore]:
    """The store of the settings; an SQLite file is made and brought up to date on the way, a server if asked."""
    if settings.database_url is None:
        try:
            settings.data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError("unwritable_data_dir", f"cannot make {settings.data_dir}: {error.strerror}") from None
    store = await SqlStore.open(settings.effective_database_url, upgrade=upgrade)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def open_service(
    settings: Settings, publisher: Publisher, runtime: Runtime | None = None
) -> AsyncGenerator[Service]:
    """Store, model and agent of the settings; everything is closed at the end."""
    # The model's client takes longer to import than most commands take to run.
    from newagent.llm.model_mind import make_mind

    set_up_logs(settings.log_format)
    async with open_store(settings) as store:
        mind = make_mind(settings)
        try:
            agent = Agent(
                store, mind, publisher, runtime or SystemRuntime(), budgets=settings.budgets, locale=settings.locale
            )
            yield Service(store, mind, agent)
        finally:
            await mind.aclose()
