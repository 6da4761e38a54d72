"""`newagent conversations`: lists the conversations; renames or deletes one, or looks after those left."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from newagent.cli.output import CommandUsageError, Json, Output, plain
from newagent.cli.wiring import LOCAL_USER, open_service, open_store
from newagent.loop.sweeper import sweep
from newagent.settings import load_settings
from newagent.stream.bus import Bus


def conversations(
    rename: Annotated[tuple[str, str] | None, typer.Option("--rename", help="An id and its new title.")] = None,
    delete: Annotated[str | None, typer.Option("--delete", help="The id of the conversation to delete.")] = None,
    swept: Annotated[
        bool, typer.Option("--sweep", help="Let cards past their time expire, and runs that were left go on.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the conversations, the latest first; --rename ID TITLE, --delete ID, --sweep."""
    if [rename is not None, delete is not None, swept].count(True) > 1:
        raise CommandUsageError("usage", "--rename, --delete and --sweep do not go together")
    if swept:
        asyncio.run(_sweep())
    rows = asyncio.run(_run(rename, delete))
    Output(as_json).done({"conversations": rows}, lambda console: show_conversations(console, rows))


async def _run(rename: tuple[str, str] | None, delete: str | None) -> list[dict[str, Any]]:
    async with open_store(load_settings()) as store:
        if rename is not None:
            await store.rename(LOCAL_USER, *rename)
        if delete is not None:
            await store.delete(LOCAL_USER, delete)
        return [row.as_json() for row in await store.list_conversations(LOCAL_USER)]


async def _sweep() -> None:
    async with open_service(load_settings(), Bus()) as service:
        for session in (await sweep(service.agent)).taken:
            await service.agent.drive(session)


def show_conversations(console: Console, rows: list[dict[str, Any]]) -> None:
    """The list as a table."""
    table = Table(box=None)
    # An id is there to be copied.
    table.add_column("id", no_wrap=True, min_width=max((len(row["conversation_id"]) for row in rows), default=0))
    for name in ("title", "phase", "updated"):
        table.add_column(name, overflow="fold")
    for row in rows:
        shown = (row["conversation_id"], row["title"], row["phase"], str(row["updated_at"])[:16])
        table.add_row(*(Text(plain(str(one))) for one in shown))
    console.print(table)
