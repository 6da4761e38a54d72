"""`newagent apply`: writes the preview of a conversation into the timetable."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.console import Console

from newagent.cli.output import Json, Output, plain
from newagent.cli.timeline import TimelineView
from newagent.cli.wiring import LOCAL_USER, open_service
from newagent.errors import NotFoundError
from newagent.settings import load_settings


def apply(
    conversation: Annotated[
        str | None, typer.Option("--conversation", "-c", help="Whose preview; the latest conversation's if left out.")
    ] = None,
    class_ids: Annotated[list[int] | None, typer.Option("--class", help="Only these task classes.")] = None,
    as_json: Json = False,
) -> None:
    """Write the preview into the timetable: all of it, or nothing if anything is in conflict."""
    output = Output(as_json)
    document = asyncio.run(_run(output.out, conversation, tuple(class_ids) if class_ids else None))
    output.done(document, lambda console: console.print(plain(document["text"]), markup=False))


async def _run(console: Console, conversation: str | None, class_ids: tuple[int, ...] | None) -> dict[str, Any]:
    settings = load_settings()
    async with open_service(settings, TimelineView(console, settings.locale)) as service:
        if conversation is None:
            known = await service.store.list_conversations(LOCAL_USER)
            if not known:
                raise NotFoundError("conversation_not_found", "there is no conversation yet; start one with chat")
            conversation = known[0].conversation_id
        _, result = await service.agent.apply(LOCAL_USER, conversation, class_ids)
        return {"ok": True, "conversation_id": conversation, **result.data, "text": result.text}
