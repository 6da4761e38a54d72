"""`newagent place`: puts the pending items of a state file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from newagent.cli.files import read_state, write_json
from newagent.cli.output import CommandUsageError, Json, Output
from newagent.errors import RefusedError
from newagent.schedule.cost import evaluate
from newagent.schedule.placement import PlacementReport, rough_build
from newagent.schedule.rules import Violation
from newagent.tools.schedule.build import relaxation_words


def place(
    state: Annotated[Path, typer.Option("--state", help="A state file (JSON).")],
    class_ids: Annotated[list[int] | None, typer.Option("--class", help="A task class; all when left out.")] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Suggested items of these classes may move too.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Where to write the new state.")] = None,
    as_json: Json = False,
) -> None:
    """Place every pending item, all or nothing."""
    before = read_state(state)
    chosen = class_ids or [task_class.id for task_class in before.task_classes]
    unknown = [class_id for class_id in chosen if class_id not in before.class_by_id]
    if unknown:
        raise CommandUsageError("unknown_task_class", f"the state has no task class {', '.join(map(str, unknown))}")
    started = time.perf_counter()
    outcome = rough_build(before, chosen, rebuild=rebuild)
    seconds = time.perf_counter() - started
    if isinstance(outcome, Violation):
        raise RefusedError(outcome.code, outcome.message)
    if isinstance(outcome, PlacementReport):
        if out is not None:
            write_json(out, before.dump())
        report = {"ok": False, **outcome.as_json()}
        Output(as_json).done(report, lambda console: show_report(console, report), ok=False)
        return
    after = evaluate(outcome.state)
    if out is not None:
        write_json(out, outcome.state.dump())
    document = {
        "ok": True,
        "placed": sum(change.before is None for change in outcome.changes),
        "pending": after.pending,
        "cost": after.cost,
        "terms": after.terms,
        "seconds": round(seconds, 4),
    }
    words = f"placed {document['placed']}, pending {after.pending}, cost {after.cost}, {seconds:.2f} s"
    Output(as_json).done(document, lambda console: console.print(words))


def show_report(console: Console, report: dict[str, Any]) -> None:
    """A report of why not, for a person."""
    console.print(
        f"[red]{report['code']}[/red]: {report['required_sections']} sections needed, "
        f"{report['available_sections']} available, {report['capacity_gap']} too few"
    )
    for relaxation in report["relaxations"]:
        console.print(f"  - {relaxation_words(relaxation)}", markup=False)
