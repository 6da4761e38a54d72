"""A recording without anybody's words: the world that a conversation met, with its texts gone, lived through again.

What is left is a recording like any other: it has hashes of its own, and verifies.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

from newagent.errors import NewAgentError, RefusedError
from newagent.loop.prompt import build_prompt
from newagent.loop.replay.repeat import after, beginning, bench_of, repeat
from newagent.loop.thinking import prompt_hash
from newagent.loop.world import changed_fields
from newagent.schedule.model import ScheduleState
from newagent.state.canonical import NO_HASH, canonical, hash_of
from newagent.state.recording import Entry, RecordedRound, Recording, rolling
from newagent.state.snapshots import dump_agent, dump_message, dump_schedule
from newagent.tools.registry import Catalogue

GONE = "…"
WORDS = frozenset(
    (
        *("text", "words", "message", "reasoning", "speak", "reason", "goal", "goal_check", "user_message"),
        *("internal_reason", "internal", "title", "summary", "name", "notes", "tags", "content", "done_when"),
        *("question", "options", "location", "user_id"),
    )
)


async def redacted(recording: Recording, catalogue: Catalogue) -> Recording:
    """The recording with every free text of user, model and timetable replaced.

    Raises `RefusedError("not_redactable")` where the conversation hangs on its words, or is not as it was recorded.
    """
    session = beginning(replace(recording, user_id=GONE))
    rounds: list[RecordedRound] = []
    schedules: dict[int, ScheduleState] = {}
    previous = said = NO_HASH
    for recorded in recording.rounds:
        bare = _bare(recorded)
        try:
            draft = await repeat(bare, session, catalogue, schedules)
        except (NewAgentError, LookupError, ValueError, TypeError) as error:
            version = recorded.entry.version
            raise RefusedError(
                "not_redactable", f"round {version} cannot be made without its words: {error}"
            ) from error
        body = {**bare.entry.body, "state": changed_fields(session.state, draft.state)}
        if "prompt_hash" in body:
            body["prompt_hash"] = prompt_hash(build_prompt(session, bench_of(bare, session, catalogue)))
        messages = [_plain(dump_message(message)) for message in draft.messages]
        said = rolling(said, [canonical(message) for message in messages])
        session = after(session, draft)
        document = None if session.schedule is None else _plain(dump_schedule(session.schedule))
        if draft.schedule is not None:
            schedules[session.schedule_version] = draft.schedule
        entry = replace(
            bare.entry,
            body=_plain(body),
            state_hash=hash_of(canonical(dump_agent(session.state))),
            message_hash=said,
            schedule_hash=NO_HASH if document is None else hash_of(canonical(document)),
            previous_hash=previous,
        )
        previous = entry.hash
        rounds.append(RecordedRound(entry, previous, tuple(messages), document if draft.schedule is not None else None))
    state = _plain(dump_agent(session.state))
    return Recording(GONE, recording.conversation_id, tuple(rounds), len(rounds), previous, state)


def _bare(recorded: RecordedRound) -> RecordedRound:
    body: dict[str, Any] = _without_words({key: held for key, held in recorded.entry.body.items() if key != "state"})
    if "raw" in body:
        body["raw"] = {key: held for key, held in body["raw"].items() if key == "other_calls"}
    entry: Entry = replace(recorded.entry, body=body)
    messages = tuple(cast("dict[str, Any]", _without_words(message)) for message in recorded.messages)
    return RecordedRound(entry, recorded.hash, messages, _without_words(recorded.schedule))


def _without_words(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        # A call's name is the tool's.
        call = "arguments" in held
        return {name: part if call and name == "name" else _without_words(part, name) for name, part in held.items()}
    if isinstance(value, list):
        return [_without_words(part, key) for part in cast("list[Any]", value)]
    return GONE if key in WORDS and isinstance(value, str) and value else value


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    return json.loads(canonical(document))
