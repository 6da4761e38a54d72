"""`newagent tool`: runs one tool on a state file, or lists them all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.table import Table

from newagent.cli.files import read_state, write_json
from newagent.cli.output import CommandUsageError, Json, Output, plain
from newagent.tools.base import ToolContext
from newagent.tools.call import run_tool
from newagent.tools.refusal import refuse
from newagent.tools.registry import load_catalogue


def tool(
    name: Annotated[str | None, typer.Argument(help="The tool to run.")] = None,
    state: Annotated[Path | None, typer.Option("--state", help="A state file (JSON).")] = None,
    args: Annotated[str, typer.Option("--args", help="The arguments as a JSON object.")] = "{}",
    out: Annotated[Path | None, typer.Option("--out", help="Where to write the state after it.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Print every tool with its schema.")] = False,
    as_json: Json = False,
) -> None:
    """Run one tool on a state file, as the agent would."""
    output = Output(as_json)
    catalogue = load_catalogue()
    if list_:
        listing: list[dict[str, Any]] = [
            {
                "name": one.name,
                "domain": one.domain,
                "pack": one.pack,
                "write": one.write,
                "description": one.description,
                "schema": one.schema,
            }
            for one in catalogue
        ]
        output.done(listing, lambda console: show_list(console, listing))
        return
    if name is None:
        raise CommandUsageError("usage", "name a tool, or use --list")
    try:
        arguments = json.loads(args)
    except (ValueError, RecursionError) as error:
        raise CommandUsageError("usage", f"--args is not a JSON object: {error}") from None
    if not isinstance(arguments, dict):
        raise CommandUsageError("usage", "--args is not a JSON object")
    arguments = cast("dict[str, Any]", arguments)
    before = read_state(state) if state is not None else None
    chosen = catalogue.get(name)
    if chosen is None:
        result = refuse("unknown_tool", f"there is no tool {name}", known=sorted(catalogue.by_name))
    elif before is None and chosen.needs == "schedule":
        raise CommandUsageError("usage", f"{name} needs --state")
    else:
        result = asyncio.run(run_tool(chosen, arguments, ToolContext(schedule=before)))
    if out is not None and before is not None:
        write_json(out, (result.schedule or before).dump())
    document = result.as_json()

    def show(console: Console) -> None:
        console.print(plain(f"{result.code}\n{result.text}"), markup=False)

    output.done(document, show, ok=result.ok)


def show_list(console: Console, listing: list[dict[str, Any]]) -> None:
    """The catalogue as a table."""
    table = Table("tool", "domain", "pack", "write", "what", box=None)
    for one in listing:
        table.add_row(one["name"], one["domain"], one["pack"], "w" if one["write"] else "", one["description"])
    console.print(table)
