"""`newagent metrics`: closing rate, effective rounds and swing-backs, from the journals."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.console import Console

from newagent.cli.output import Json, Output
from newagent.cli.wiring import LOCAL_USER, open_store
from newagent.loop.metrics import Figures, figures_of
from newagent.settings import load_settings


def metrics(
    conversation: Annotated[str | None, typer.Option("--conversation", help="Only this conversation.")] = None,
    as_json: Json = False,
) -> None:
    """Show how runs closed, which writes helped, and which items swung back, of all conversations or of one."""
    document = asyncio.run(_run(conversation)).as_json()
    Output(as_json).done(document, lambda console: show_figures(console, document))


async def _run(conversation: str | None) -> Figures:
    total = Figures()
    async with open_store(load_settings()) as store:
        listed = await store.list_conversations(LOCAL_USER)
        for one in [conversation] if conversation is not None else [row.conversation_id for row in listed]:
            total += figures_of(await store.journal(LOCAL_USER, one))
    return total


def show_figures(console: Console, figures: dict[str, Any]) -> None:
    """The three figures with what they are made of."""

    def share(rate: float | None) -> str:
        return "–" if rate is None else f"{rate:.0%}"

    console.print(f"runs             {figures['runs']}, of which {figures['optimised']} optimised")
    console.print(f"closing rate     {share(figures['closing_rate'])} ({figures['closed']} of {figures['optimised']})")
    console.print(
        f"effective rounds {share(figures['effective_rate'])} ({figures['effective']} of {figures['writes']})"
    )
    console.print(f"swing-backs      {figures['swing_backs']}")
