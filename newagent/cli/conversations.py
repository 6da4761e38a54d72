"""`newagent conversations`: lists the conversations; renames or deletes one."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from newagent.cli.output import CommandUsageError, Json, Output, plain
from newagent.cli.wiring import LOCAL_USER, open_store
from newagent.settings import load_settings


def conversations(
    rename: Annotated[tuple[str, str] | None, typer.Option("--rename", help="An id and its new title.")] = None,
    delete: Annotated[str | None, typer.Option("--delete", help="The id of the conversation to delete.")] = None,
    as_json: Json = False,
) -> None:
    """List the conversations, the latest first; --rename ID TITLE, --delete ID."""
    if rename is not None and delete is not None:
        raise CommandUsageError("usage", "--rename and --delete do not go together")
    rows = asyncio.run(_run(rename, delete))
    Output(as_json).done({"conversations": rows}, lambda console: show_conversations(console, rows))


async def _run(rename: tuple[str, str] | None, delete: str | None) -> list[dict[str, Any]]:
    async with open_store(load_settings()) as store:
        if rename is not None:
            await store.rename(LOCAL_USER, *rename)
        if delete is not None:
            await store.delete(LOCAL_USER, delete)
        return [row.as_json() for row in await store.list_conversations(LOCAL_USER)]


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
