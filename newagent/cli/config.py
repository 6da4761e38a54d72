"""`newagent config`: the effective settings, secrets hidden."""

from __future__ import annotations

from rich.console import Console

from newagent.cli.output import Json, Output
from newagent.settings import load_settings


def config(as_json: Json = False) -> None:
    """Print the effective settings; secrets are hidden."""
    settings = load_settings()
    document = settings.model_dump(mode="json")
    document["database_url"] = settings.safe_database_url

    def show(console: Console) -> None:
        for name, value in document.items():
            console.print(f"{name} = {value}", markup=False)

    Output(as_json).done(document, show)
