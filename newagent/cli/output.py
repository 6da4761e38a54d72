"""What a command prints: one JSON document on stdout with `--json`, else text for a person; errors on stderr.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
"""

from __future__ import annotations

import io
import json
import re
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


# Control characters that would steer a terminal, and those that turn the direction of text around.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Text of models, files and users as it may be shown: a card must not be able to hide what it says."""
    return _STEERING.sub("\ufffd", text.replace("\r\n", "\n"))


def set_up_streams() -> None:
    """Characters that a terminal does not know, and bytes that are no text, are shown as such and end nothing."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def write_document(document: Any) -> None:
    """Writes the one JSON document of `--json`, escaped where standard output is not UTF-8."""
    unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    json.dump(document, sys.stdout, ensure_ascii=not unicode, default=str)
    sys.stdout.write("\n")


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
            write_document(document)
        else:
            show(self.out)
        if not ok:
            raise typer.Exit(REFUSED)


def fail(error: NewAgentError, as_json: bool) -> NoReturn:
    """One clear line on stderr, a JSON document too where it was asked for, and the exit code that fits."""
    message = plain(" ".join(error.message.split()))
    if as_json:
        write_document({"ok": False, "code": error.code, "message": message, **error.data})
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        f"[red]error[/red] {escape(f'{error.code}: {message}')}"
    )
    sys.exit(USAGE if isinstance(error, CommandUsageError) else REFUSED)
