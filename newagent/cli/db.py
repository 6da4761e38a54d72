"""`newagent db`: the schema of the database."""

from __future__ import annotations

import asyncio

import typer

from newagent.cli.output import Json, Output
from newagent.cli.wiring import open_store
from newagent.settings import load_settings

app = typer.Typer(help="The schema of the database.", no_args_is_help=True)


@app.callback()
def db() -> None:
    """The schema of the database."""


@app.command()
def upgrade(as_json: Json = False) -> None:
    """Bring the database of the settings up to date; an SQLite file is made if there is none."""
    settings = load_settings()
    revision = asyncio.run(_upgrade())
    document = {"ok": True, "database_url": settings.safe_database_url, "revision": revision}
    Output(as_json).done(document, lambda console: console.print(f"{settings.safe_database_url} is at {revision}"))


async def _upgrade() -> str:
    async with open_store(load_settings(), upgrade=True) as store:
        return await store.revision()
