"""The command line: every command is a module of this package with a function of its name, or an `app` of its own.

Only the module of the command that was asked for is imported: `newagent place` needs no database and loads none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version as installed_version
from keyword import iskeyword
from typing import Annotated

import typer

from newagent.cli.logs import set_up_logs
from newagent.cli.output import CommandUsageError, fail, set_up_streams
from newagent.errors import NewAgentError

COMMANDS = (
    "demo",
    "chat",
    "serve",
    "tool",
    "place",
    "judge",
    "import",
    "apply",
    "export",
    "conversations",
    "replay",
    "metrics",
    "config",
    "db",
)


def command_line(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The program with these commands."""
    app = typer.Typer(
        name="newagent",
        help="Plans study time inside a real timetable. The program computes, the model chooses.",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(root)
    for name in names:
        function = f"{name}_" if iskeyword(name) else name
        module = import_module(f"newagent.cli.{function}")
        if isinstance(group := getattr(module, "app", None), typer.Typer):
            app.add_typer(group, name=name)
        else:
            app.command(name)(getattr(module, function))
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(installed_version("newagent"))
        raise typer.Exit


def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Plans study time inside a real timetable. The program computes, the model chooses."""
    del version
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """The entry point: no traceback ever reaches the user for something that was their input."""
    as_json = "--json" in sys.argv
    set_up_streams()
    set_up_logs()
    wanted = sys.argv[1:2]
    try:
        code = command_line(wanted if wanted and wanted[0] in COMMANDS else COMMANDS)(standalone_mode=False)
    except typer.TyperException as error:
        fail(CommandUsageError("usage", error.format_message()), as_json)
    except NewAgentError as error:
        fail(error, as_json)
    except (KeyboardInterrupt, EOFError, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)
