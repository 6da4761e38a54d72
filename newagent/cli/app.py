"""The command line: every command is a module of this package with a function of its name."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from newagent.cli import apply, chat, config, conversations, db, demo, export, import_, judge, place, serve, tool
from newagent.cli.logs import set_up_logs
from newagent.cli.output import CommandUsageError, fail, set_up_streams
from newagent.errors import NewAgentError

app = typer.Typer(
    name="newagent",
    help="Plans study time inside a real timetable. The program computes, the model chooses.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, command in (
    ("demo", demo.demo),
    ("chat", chat.chat),
    ("serve", serve.serve),
    ("tool", tool.tool),
    ("place", place.place),
    ("judge", judge.judge),
    ("import", import_.import_),
    ("apply", apply.apply),
    ("export", export.export),
    ("conversations", conversations.conversations),
    ("config", config.config),
):
    app.command(name)(command)
app.add_typer(db.app, name="db")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(installed_version("newagent"))
        raise typer.Exit


@app.callback(invoke_without_command=True)
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
    try:
        code = app(standalone_mode=False)
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
