"""Snapshots: agent states and schedules as stored documents, with the schema they were written in.

An older document is brought up to date one step at a time by the functions registered here under the version they
start from; a newer one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from newagent.errors import StoreError
from newagent.schedule.faults import StateFault
from newagent.schedule.model import SCHEMA_VERSION, ScheduleState
from newagent.state.documents import AGENT_SCHEMA_VERSION, AgentState, Message

Snapshot = dict[str, Any]
Steps = Mapping[int, Callable[[Snapshot], Snapshot]]


def _with_defaults(document: Snapshot) -> Snapshot:
    """A step between schemas that only added fields, each with a default."""
    return document


AGENT_STEPS: Steps = {1: _with_defaults}
SCHEDULE_STEPS: Steps = {}


def up_to_date(document: Snapshot, newest: int, steps: Steps) -> Snapshot:
    """A snapshot in the newest schema. Raises `StoreError("snapshot_too_new")`."""
    version = document.get("schema_version", 1)
    if version > newest:
        raise StoreError("snapshot_too_new", f"a snapshot has schema {version}; this version reads up to {newest}")
    for step in range(version, newest):
        document = {**steps[step](document), "schema_version": step + 1}
    return document


def dump_agent(state: AgentState) -> Snapshot:
    """An agent state as a document."""
    return state.model_dump(mode="json")


def read_agent(document: Snapshot) -> AgentState:
    """An agent state from a document. Raises `StoreError`: snapshot_too_new, snapshot_unreadable."""
    try:
        return AgentState.model_validate(up_to_date(document, AGENT_SCHEMA_VERSION, AGENT_STEPS))
    except ValidationError as error:
        raise StoreError("snapshot_unreadable", f"a stored agent state cannot be read: {error}") from None


def dump_schedule(state: ScheduleState) -> Snapshot:
    """A schedule as a document."""
    return {"schema_version": SCHEMA_VERSION, **state.dump()}


def read_schedule(document: Snapshot) -> ScheduleState:
    """A schedule from a document. Raises `StoreError`: snapshot_too_new, snapshot_unreadable."""
    try:
        return ScheduleState.load(up_to_date(document, SCHEMA_VERSION, SCHEDULE_STEPS))
    except StateFault as fault:
        raise StoreError("snapshot_unreadable", f"a stored schedule cannot be read: {fault.message}") from None


def dump_message(message: Message) -> Snapshot:
    """A message as a document; fields that say nothing are left out."""
    return message.model_dump(mode="json", exclude_defaults=True)


def read_message(document: Snapshot) -> Message:
    """A message from a document. Raises `StoreError("snapshot_unreadable")`."""
    try:
        return Message.model_validate(document)
    except ValidationError as error:
        raise StoreError("snapshot_unreadable", f"a stored message cannot be read: {error}") from None
