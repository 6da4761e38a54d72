"""`newagent import`: reads a timetable file (and task classes) and stores it, or only says what it would store."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from newagent.calendars.decode import MAX_BYTES
from newagent.calendars.importer import read_timetable
from newagent.calendars.model import ImportResult
from newagent.cli.files import read_bytes, write_json
from newagent.cli.output import CommandUsageError, Json, Output
from newagent.cli.wiring import LOCAL_USER, open_store
from newagent.errors import InputError
from newagent.schedule.calendar import Semester
from newagent.settings import load_settings
from newagent.texts import Locale, say

SHOWN_LINES = 40


def import_(
    file: Annotated[Path, typer.Argument(help="A timetable: CSV, iCalendar or JSON.")],
    semester_start: Annotated[str, typer.Option("--semester-start", help="The first day of term, YYYY-MM-DD.")],
    weeks: Annotated[int, typer.Option("--weeks", help="Weeks of the term.")] = 18,
    time_zone: Annotated[str, typer.Option("--time-zone", help="The term's time zone.")] = "Asia/Shanghai",
    task_classes: Annotated[
        Path | None, typer.Option("--task-classes", help="A JSON list of task classes with their items, to store too.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and report; store nothing.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the document of --json here too.")] = None,
    as_json: Json = False,
) -> None:
    """Import a timetable, with a report line by line; the same file twice changes nothing."""
    output = Output(as_json)
    settings = load_settings()
    semester = _semester(semester_start, weeks, time_zone)
    result = read_timetable(read_bytes(file, MAX_BYTES), semester, filename=file.name)
    classes = _task_classes(task_classes) if task_classes is not None else []
    document = result.as_json(settings.locale)
    if not dry_run:
        document["stored"] = asyncio.run(_store(result, classes))
    if out is not None:
        write_json(out, document)
    output.done(document, lambda console: show_import(console, result, document, settings.locale))


def _semester(start: str, weeks: int, time_zone: str) -> Semester:
    try:
        first = dt.date.fromisoformat(start)
    except ValueError:
        raise CommandUsageError("usage", f"--semester-start is a date such as 2026-03-02, not {start!r}") from None
    try:
        return Semester(start_date=first, weeks=weeks, time_zone=time_zone)
    except ValidationError as error:
        fault = error.errors()[0]
        field = "_".join(str(part) for part in fault["loc"])
        name = {"start_date": "--semester-start"}.get(field, f"--{field.replace('_', '-')}")
        raise CommandUsageError("usage", f"{name}: {fault['msg']}") from None


def _task_classes(path: Path) -> list[dict[str, Any]]:
    content = read_bytes(path, MAX_BYTES)
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError("invalid_json", f"{path} is not a JSON document: {error}") from None
    if not isinstance(document, list) or not all(isinstance(row, dict) for row in cast("list[object]", document)):
        raise InputError("invalid_task_class", f"{path} must hold a list of task classes")
    return cast("list[dict[str, Any]]", document)


async def _store(result: ImportResult, classes: list[dict[str, Any]]) -> dict[str, Any]:
    async with open_store(load_settings()) as store:
        return await store.import_term(LOCAL_USER, result, classes)


def show_import(console: Console, result: ImportResult, document: dict[str, Any], locale: Locale) -> None:
    """What was read, for a person: the courses, the lines that were not taken or need a look, the overlaps."""
    table = Table(*(say(locale, f"import.column.{name}") for name in ("course", "place", "meetings")), box=None)
    for course in result.courses:
        table.add_row(course.name, course.location, str(len(course.meetings)))
    console.print(table)
    notes = [row for row in document["report"] if row["reason"]]
    for row in notes[:SHOWN_LINES]:
        key = "import.taken" if row["taken"] else "import.refused"
        console.print(say(locale, key, line=row["line"], reason=row["reason"]), markup=False)
    if len(notes) > SHOWN_LINES:
        console.print(say(locale, "view.more", count=len(notes) - SHOWN_LINES))
    for overlap in document["overlaps"][:SHOWN_LINES]:
        words = say(locale, "import.overlap", **{**overlap, "courses": "、".join(overlap["courses"])})
        console.print(words, markup=False)
    if len(document["overlaps"]) > SHOWN_LINES:
        console.print(say(locale, "view.more", count=len(document["overlaps"]) - SHOWN_LINES))
    stored = document.get("stored")
    if stored is None:
        console.print(say(locale, "import.dry_run"))
    else:
        console.print(say(locale, "import.stored", **stored))
