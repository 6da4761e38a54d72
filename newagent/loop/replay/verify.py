"""A whole recording made again: the chain of its rows, and every document after every round."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from newagent.errors import NewAgentError
from newagent.loop.draft import Draft
from newagent.loop.replay.compare import Difference, Part, first_difference
from newagent.loop.replay.repeat import after, beginning, repeat, same_prompt
from newagent.schedule.model import ScheduleState
from newagent.state.canonical import NO_HASH, canonical, hash_of
from newagent.state.recording import RecordedRound, Recording, rolling
from newagent.state.snapshots import dump_agent, dump_message, dump_schedule
from newagent.state.store import Session
from newagent.tools.registry import Catalogue, load_catalogue


@dataclass(frozen=True)
class Verdict:
    """What a replay has found: the rounds that are as recorded, and the first thing that is not.

    `reworded` are the rounds whose model would be shown another prompt today: no fault, the decision was recorded.
    """

    conversation_id: str
    rounds: int
    difference: Difference | None = None
    reworded: tuple[int, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything is as it was recorded."""
        return self.difference is None

    def as_json(self) -> dict[str, Any]:
        """The verdict as a JSON document."""
        return {
            "ok": self.ok,
            "conversation_id": self.conversation_id,
            "rounds": self.rounds,
            "difference": self.difference.as_json() if self.difference else None,
            "reworded": list(self.reworded),
        }


class _DifferenceError(Exception):
    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.path)
        self.difference = difference


async def verify(recording: Recording, catalogue: Catalogue | None = None) -> Verdict:
    """Makes a recording again and compares; no model is asked, no store read or written."""
    tools = catalogue or load_catalogue()
    sound, reworded = 0, list[int]()
    try:
        end = beginning(recording)
        async for recorded, before, session in replayed(recording, tools):
            end = session
            if recorded.entry.kind == "model" and not same_prompt(recorded, before, tools):
                reworded.append(recorded.entry.version)
            sound = recorded.entry.version
        _check_head(recording, end)
    except _DifferenceError as found:
        return Verdict(recording.conversation_id, sound, found.difference, tuple(reworded))
    return Verdict(recording.conversation_id, sound, None, tuple(reworded))


async def session_at(recording: Recording, version: int, catalogue: Catalogue) -> Session | None:
    """The session after one of the rounds, made again; None where the recording does not hold up to it."""
    try:
        async for recorded, _, session in replayed(recording, catalogue):
            if recorded.entry.version == version:
                return session
    except _DifferenceError:
        pass
    return None


async def replayed(
    recording: Recording, catalogue: Catalogue
) -> AsyncGenerator[tuple[RecordedRound, Session, Session]]:
    """Each round with the session before and after it, once it is known to be as recorded."""
    session, previous, said = beginning(recording), NO_HASH, NO_HASH
    schedules: dict[int, ScheduleState] = {}
    for number, recorded in enumerate(recording.rounds, 1):
        _check_row(recorded, number, previous)
        draft = await _again(recorded, session, catalogue, schedules)
        said = _check_messages(recorded, draft, said)
        _check_state(recorded, session, draft)
        _check_schedule(recorded, draft)
        before, session = session, after(session, draft)
        if draft.schedule is not None:
            schedules[session.schedule_version] = draft.schedule
        previous = recorded.hash
        yield recorded, before, session


def _check_row(recorded: RecordedRound, number: int, previous: str) -> None:
    entry = recorded.entry
    for path, kept, made in (
        ("$.version", entry.version, number),
        ("$.previous_hash", entry.previous_hash, previous),
        ("$.hash", recorded.hash, entry.hash),
    ):
        if kept != made:
            raise _DifferenceError(Difference(number, "journal", path, kept, made))


async def _again(
    recorded: RecordedRound, session: Session, catalogue: Catalogue, schedules: dict[int, ScheduleState]
) -> Draft:
    try:
        return await repeat(recorded, session, catalogue, schedules)
    except (NewAgentError, LookupError, ValueError, TypeError) as error:
        fault = f"{type(error).__name__}: {error}"
        kind = recorded.entry.kind
        raise _DifferenceError(Difference(recorded.entry.version, "round", "$", kind, fault)) from error


def _check_state(recorded: RecordedRound, before: Session, draft: Draft) -> None:
    made = dump_agent(draft.state)
    kept = {**dump_agent(before.state), **recorded.entry.body.get("state", {})}
    _compare(recorded.entry.version, "state", kept, made, recorded.entry.state_hash, hash_of(canonical(made)))


def _check_messages(recorded: RecordedRound, draft: Draft, said: str) -> str:
    made = [dump_message(message) for message in draft.messages]
    rolled = rolling(said, [canonical(document) for document in made])
    kept = list(recorded.messages)
    _compare(recorded.entry.version, "messages", kept, made, recorded.entry.message_hash, rolled)
    return rolled


def _check_schedule(recorded: RecordedRound, draft: Draft) -> None:
    state = draft.timetable
    made = None if draft.schedule is None else dump_schedule(draft.schedule)
    digest = NO_HASH if state is None else hash_of(canonical(dump_schedule(state)))
    _compare(recorded.entry.version, "schedule", recorded.schedule, made, recorded.entry.schedule_hash, digest)


def _compare(version: int, part: Part, kept: Any, made: Any, kept_hash: str, made_hash: str) -> None:
    found = first_difference(kept, json.loads(canonical(made)))
    if found is None and kept_hash != made_hash:
        found = ("$", kept_hash, made_hash)
    if found is not None:
        raise _DifferenceError(Difference(version, part, *found))


def _check_head(recording: Recording, session: Session) -> None:
    last = recording.rounds[-1].hash if recording.rounds else NO_HASH
    for path, kept, made in (
        ("$.version", recording.version, len(recording.rounds)),
        ("$.journal_hash", recording.head_hash, last),
    ):
        if kept != made:
            raise _DifferenceError(Difference(len(recording.rounds) + 1, "head", path, kept, made))
    found = first_difference(recording.agent_state, dump_agent(session.state))
    if found is not None:
        path, kept, made = found
        raise _DifferenceError(Difference(len(recording.rounds), "head", f"$.agent_state{path[1:]}", kept, made))
