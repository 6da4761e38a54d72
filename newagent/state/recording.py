"""A conversation as it was recorded: every row of its journal, with what the round added; a file of its own on wish."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from newagent.errors import InputError
from newagent.state.canonical import canonical, hash_of

FORMAT = "newagent-recording"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class Entry:
    """A row of the journal. `version` is the head's version after the round."""

    version: int
    round_id: str
    kind: str
    body: dict[str, Any]
    state_hash: str
    message_hash: str
    schedule_hash: str
    previous_hash: str
    created_at: dt.datetime

    @property
    def hash(self) -> str:
        """The row's hash, over all its fields."""
        return hash_of(
            str(self.version),
            self.round_id,
            self.kind,
            canonical(self.body),
            self.state_hash,
            self.message_hash,
            self.schedule_hash,
            self.previous_hash,
            self.created_at.astimezone(dt.UTC).isoformat(),
        )


@dataclass(frozen=True)
class RecordedRound:
    """A row with the hash that is stored beside it, and the documents that its round added."""

    entry: Entry
    hash: str
    messages: tuple[dict[str, Any], ...] = ()
    schedule: dict[str, Any] | None = None


@dataclass(frozen=True)
class Recording:
    """A conversation from its first round on. `head_hash` and `agent_state` are what its head says of the last one."""

    user_id: str
    conversation_id: str
    rounds: tuple[RecordedRound, ...]
    version: int
    head_hash: str
    agent_state: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The recording as a document of its own."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "user_id": self.user_id,
            "conversation_id": self.conversation_id,
            "version": self.version,
            "head_hash": self.head_hash,
            "agent_state": self.agent_state,
            "rounds": [
                {
                    **{name: getattr(one.entry, name) for name in Entry.__dataclass_fields__},
                    "created_at": one.entry.created_at.astimezone(dt.UTC).isoformat(),
                    "hash": one.hash,
                    "messages": list(one.messages),
                    "schedule": one.schedule,
                }
                for one in self.rounds
            ],
        }


def read_recording(document: Any) -> Recording:
    """A recording from its document. Raises `InputError("invalid_recording")`."""
    try:
        if (document["format"], document["format_version"]) != (FORMAT, FORMAT_VERSION):
            raise ValueError("another format")
        return Recording(
            user_id=document["user_id"],
            conversation_id=document["conversation_id"],
            rounds=tuple(_read_round(one) for one in document["rounds"]),
            version=document["version"],
            head_hash=document["head_hash"],
            agent_state=document["agent_state"],
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError("invalid_recording", f"this is no recording of a conversation: {error}") from None


def _read_round(row: dict[str, Any]) -> RecordedRound:
    values: dict[str, Any] = {name: row[name] for name in Entry.__dataclass_fields__}
    values["created_at"] = dt.datetime.fromisoformat(row["created_at"])
    entry = Entry(**values)
    return RecordedRound(entry, row["hash"], tuple(row["messages"]), row["schedule"])


def rolling(previous: str, documents: Sequence[str]) -> str:
    """The hash of a list of messages, from the hash of its beginning and the canonical texts of the rest."""
    for text in documents:
        previous = hash_of(previous, text)
    return previous
