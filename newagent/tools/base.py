"""What a tool is: a declaration next to its code, a context that it runs in, a result that it gives."""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from newagent.schedule.edits import Change
from newagent.schedule.model import ScheduleState
from newagent.state.documents import AgentState
from newagent.state.store import Timetable

Risk = Literal["A", "B", "C", "D"]
Needs = Literal["nothing", "schedule", "session", "store"]
TEXT_LIMIT = 6000


class Arguments(BaseModel):
    """Base of all argument models: unknown arguments are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class ToolResult:
    """What a call came to. `code` is `ok` or a stable error code; `text` is what the model reads.

    `schedule` and `state` carry the new documents of a successful write or context change; they are not shown.
    """

    ok: bool
    code: str
    text: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    changes: tuple[Change, ...] = ()
    schedule: ScheduleState | None = None
    state: AgentState | None = None

    def as_json(self) -> dict[str, Any]:
        """The result as the command line and the journal show it."""
        return {
            "ok": self.ok,
            "code": self.code,
            "text": self.text,
            "data": self.data,
            "changes": [change.as_json() for change in self.changes],
        }


@dataclass(frozen=True)
class ToolContext:
    """What a handler may use. `timetable` is set only where a session with a store runs the tool."""

    schedule: ScheduleState | None
    state: AgentState | None = None
    schedule_version: int = 0
    timetable: Timetable | None = None
    now: dt.datetime | None = None
    earlier: Callable[[int], Awaitable[ScheduleState]] | None = None


Handler = Callable[[ToolContext, Any], "ToolResult | Awaitable[ToolResult]"]


@dataclass(frozen=True)
class Tool:
    """A tool: its name and place in the catalogue, its arguments, what it does.

    `needs` says what must be there: nothing, a schedule, a session (a schedule in a conversation), or a store (a
    session and a transaction on the stored timetable). `adapt` narrows the
    schema to what a state allows, or hides the tool in it.
    """

    name: str
    domain: str
    pack: str
    description: str
    arguments: type[Arguments]
    handler: Handler
    write: bool = False
    risk: Risk = "A"
    needs: Needs = "schedule"
    timeout: float = 20.0
    adapt: Callable[[dict[str, Any], AgentState], dict[str, Any] | None] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, a document of its own for every caller."""
        return copy.deepcopy(_schema_of(self.arguments))

    def schema_for(self, state: AgentState) -> dict[str, Any] | None:
        """The schema as it is offered in this state; None hides the tool."""
        return self.adapt(self.schema, state) if self.adapt else self.schema


@cache
def _schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """Making a schema takes ten milliseconds, and a round asks for a dozen of them."""
    return arguments.model_json_schema()
