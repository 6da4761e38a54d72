"""`newagent replay`: verifies a conversation against its journal, exports it, or forks it at one of its rounds."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from newagent.cli.files import read_document, write_json
from newagent.cli.output import CommandUsageError, Json, Output, plain
from newagent.cli.wiring import LOCAL_USER, open_service, open_store
from newagent.errors import RefusedError
from newagent.loop.replay import Verdict, fork, redacted, verify
from newagent.settings import load_settings
from newagent.state.documents import Resume
from newagent.state.recording import Recording, read_recording
from newagent.state.store import Session
from newagent.stream.bus import Bus
from newagent.tools.registry import load_catalogue


def replay(
    source: Annotated[str, typer.Argument(metavar="CONVERSATION|FILE", help="An id, or a file that was exported.")],
    verify_it: Annotated[bool, typer.Option("--verify", help="Make every round again and compare.")] = False,
    export: Annotated[Path | None, typer.Option("--export", help="Write a file that stands for itself.")] = None,
    redact: Annotated[bool, typer.Option("--redact", help="With --export: without anybody's words.")] = False,
    from_: Annotated[int | None, typer.Option("--from", min=1, help="Fork after this round.")] = None,
    live: Annotated[bool, typer.Option("--live", help="With --from: go on with the model of the settings.")] = False,
    answer: Annotated[
        str | None, typer.Option("--answer", help='With --from: answer the open card, {"action": …}.')
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay a conversation: --verify it, --export it, or fork it --from a round, --live or with an --answer."""
    if (from_ is None) != (not live and answer is None) or (redact and export is None):
        raise CommandUsageError("usage", "--from goes with --live or --answer, --redact with --export")
    if from_ is None and export is None and not verify_it:
        raise CommandUsageError("usage", "say --verify, --export FILE, or --from N with --live or --answer")
    said = _resume(answer) if answer is not None else None
    document, ok = asyncio.run(_run(source, verify_it, export, redact, from_, said))
    Output(as_json).done(document, lambda console: _show(console, document), ok=ok)


async def _run(
    source: str, verify_it: bool, export: Path | None, redact: bool, from_: int | None, answer: dict[str, Any] | None
) -> tuple[dict[str, Any], bool]:
    recording = _of_file(source) or await _of_store(source)
    document: dict[str, Any] = {"conversation_id": recording.conversation_id, "rounds": len(recording.rounds)}
    ok = True
    if verify_it:
        verdict: Verdict = await verify(recording)
        document, ok = {**document, **verdict.as_json()}, verdict.ok
    if export is not None:
        written = await redacted(recording, load_catalogue()) if redact else recording
        write_json(export, written.as_json())
        document["exported"] = str(export)
    if from_ is not None and ok:
        session = await _fork(recording, from_, answer)
        document["fork"] = {
            "conversation_id": session.state.conversation_id,
            "phase": session.state.phase,
            "version": session.version,
            "outcome": session.state.outcome.model_dump(mode="json") if session.state.outcome else None,
        }
    return document, ok


def _of_file(source: str) -> Recording | None:
    path = Path(source)
    if path.suffix != ".json" and not path.is_file():
        return None
    return read_recording(read_document(path))


async def _of_store(source: str) -> Recording:
    async with open_store(load_settings()) as store:
        return await store.recording(LOCAL_USER, source)


async def _fork(recording: Recording, version: int, answer: dict[str, Any] | None) -> Session:
    async with open_service(load_settings(), Bus()) as service:
        session = await fork(service.agent, recording, version, LOCAL_USER)
        card = session.state.interaction
        if answer is not None:
            if card is None:
                raise RefusedError("interaction_not_found", f"no card is open after round {version}")
            resume = Resume.model_validate({**answer, "interaction_id": card.interaction_id})
            session = (await service.agent.answer(LOCAL_USER, session.state.conversation_id, resume)).session
        return await service.agent.drive(session)


def _resume(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
        Resume.model_validate({**document, "interaction_id": "card"})
    except (ValueError, TypeError) as error:
        raise CommandUsageError("usage", f"--answer takes an answer to a card as JSON: {error}") from None
    return {key: value for key, value in document.items() if key != "interaction_id"}


def _show(console: Console, document: dict[str, Any]) -> None:
    """The outcome in a few lines."""
    console.print(f"{document['conversation_id']}  rounds {document['rounds']}", markup=False)
    if document.get("ok") is True:
        console.print("every round is as it was recorded")
    elif difference := document.get("difference"):
        console.print(f"round {difference['version']}: {difference['part']} {difference['path']}", markup=False)
        for side in ("recorded", "replayed"):
            console.print(f"  {side}: {plain(json.dumps(difference[side], ensure_ascii=False))[:400]}", markup=False)
    if exported := document.get("exported"):
        console.print(f"written to {exported}", markup=False)
    if forked := document.get("fork"):
        console.print(f"forked as {forked['conversation_id']}: {forked['phase']}", markup=False)
