"""`newagent judge`: what the judge says of a state file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from newagent.cli.files import read_state
from newagent.cli.output import Json, Output
from newagent.schedule.judge import analyze_health


def judge(
    state: Annotated[Path, typer.Option("--state", help="A state file (JSON).")],
    detail: Annotated[str, typer.Option("--detail", help="summary or full")] = "summary",
    threshold: Annotated[str, typer.Option("--threshold", help="strict, normal or relaxed")] = "normal",
    as_json: Json = False,
) -> None:
    """Judge a state: cost, issues, feasibility, and what could be improved."""
    envelope = analyze_health(read_state(state), detail=detail, threshold=threshold)
    Output(as_json).done(envelope, lambda console: show_health(console, envelope), ok=envelope["success"])


def show_health(console: Console, envelope: dict[str, Any]) -> None:
    """The envelope for a person."""
    if not envelope["success"]:
        console.print(f"[red]{envelope['error_code']}[/red] {envelope['error']}", markup=True)
        return
    metrics, decision = envelope["metrics"], envelope["decision"]
    console.print(f"cost [bold]{metrics['cost']}[/bold]  pending {metrics['pending']}")
    console.print("terms  " + "  ".join(f"{name} {value}" for name, value in metrics["terms"].items() if value))
    for issue in envelope["issues"]:
        trigger = issue["trigger"]
        console.print(
            f"  {issue['severity']:<8} {issue['issue_id']}: {trigger['metric']} is {trigger['actual']}", markup=False
        )
    console.print(f"next: [bold]{decision['recommended_operation']}[/bold]")
    table = Table("candidate", "benefit", "what", box=None)
    for candidate in decision["candidates"]:
        table.add_row(candidate["candidate_id"], str(candidate["benefit"]), candidate["summary"])
    console.print(table)
