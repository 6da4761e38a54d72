"""`newagent export`: the stored timetable as iCalendar."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from newagent.calendars.ics_export import export_ics
from newagent.cli.files import write_whole
from newagent.cli.output import CommandUsageError, Json, Output
from newagent.cli.wiring import LOCAL_USER, open_store
from newagent.settings import load_settings


def export(
    out: Annotated[Path | None, typer.Option("--out", help="The file to write; standard output if left out.")] = None,
    as_json: Json = False,
) -> None:
    """Export courses and applied study items as iCalendar, with zones and stable ids."""
    if as_json and out is None:
        raise CommandUsageError(
            "usage", "--json needs --out: standard output holds either the calendar or the document"
        )
    content = asyncio.run(_content())
    if out is None:
        sys.stdout.buffer.write(content)
        return
    write_whole(out, content)
    document = {"ok": True, "file": str(out), "bytes": len(content), "events": content.count(b"BEGIN:VEVENT")}
    words = f"{document['events']} events written to {out}"
    Output(as_json).done(document, lambda console: console.print(words, markup=False))


async def _content() -> bytes:
    async with open_store(load_settings()) as store:
        stored = await store.read_timetable(LOCAL_USER)
        return export_ics(stored.semester, stored.courses, stored.study)
