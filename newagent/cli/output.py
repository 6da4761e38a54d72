"""What a command prints: one JSON document on stdout with `--json`, else text for a person; errors on stderr.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from newagent.errors import NewAgentError

REFUSED = 1
USAGE = 2

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, everything else on stderr.")]


class CommandUsageError(NewAgentError):
    """A command that was called wrongly: exit code 2."""


class Output:
    """The two streams of a command."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self.out = Console(highlight=False, soft_wrap=True, stderr=as_json)
        self.err = Console(highlight=False, soft_wrap=True, stderr=True)

    def done(self, document: Any, show: Callable[[Console], None], *, ok: bool = True) -> None:
        """Ends a command: prints its document or shows it, and leaves with 1 if it was refused."""
        if self.as_json:
            json.dump(document, sys.stdout, ensure_ascii=False)
            sys.stdout.write("\n")
        else:
            show(self.out)
        if not ok:
            raise typer.Exit(REFUSED)


def fail(error: NewAgentError, as_json: bool) -> NoReturn:
    """One clear line on stderr, a JSON document too where it was asked for, and the exit code that fits."""
    message = " ".join(error.message.split())
    if as_json:
        json.dump(
            {"ok": False, "code": error.code, "message": message, **error.data},
            sys.stdout,
            ensure_ascii=False,
            default=str,
        )
        sys.stdout.write("\n")
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        f"[red]error[/red] {escape(f'{error.code}: {message}')}"
    )
    sys.exit(USAGE if isinstance(error, CommandUsageError) else REFUSED)
