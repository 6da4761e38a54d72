"""Whether the service is alive, and whether it can do its work."""

from __future__ import annotations

from pydantic import BaseModel

from newagent.errors import StoreError
from newagent.server.calls import Asked, Calls

calls = Calls("health")


class Alive(BaseModel):
    """The process is there."""

    alive: bool


class Ready(BaseModel):
    """What the service stands on: `revision` is the schema's; `is_rule_model` tells the built-in model."""

    ready: bool
    database: str
    revision: str
    bus: str
    model: str
    is_rule_model: bool


@calls.get("/healthz", public=True)
async def health(asked: Asked) -> Alive:
    """The process is there."""
    del asked
    return Alive(alive=True)


@calls.get("/readyz", public=True, errors=("service_stopping",))
async def ready(asked: Asked) -> Ready:
    """The service takes work: the database answers, and it is not about to stop."""
    backend = asked.backend
    if backend.runs.closed:
        raise StoreError("service_stopping", "the service is stopping")
    revision = await backend.store.revision()
    return Ready(
        ready=True,
        database="ok",
        revision=revision,
        bus="ok" if await backend.bus_answers() else "down",
        model=backend.model,
        is_rule_model=backend.agent.mind.is_rule_model,
    )
