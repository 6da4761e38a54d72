"""A round in the making: what it will store, gathered by the functions that decide."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from newagent.loop.world import RecordingWorld, World
from newagent.runtime import Runtime
from newagent.schedule.model import ScheduleState
from newagent.settings import Budgets
from newagent.state.documents import AgentState, Message, Outcome, OutcomeKind
from newagent.state.store import Round, RoundKind, Session
from newagent.stream.events import NewEvent, block_id
from newagent.texts import Locale, say
from newagent.tools.base import ToolResult
from newagent.tools.registry import Catalogue

ACTIVE_PHASES = ("planning", "executing", "delivering")


@dataclass(frozen=True)
class Bench:
    """What deciding needs besides the session: the tools, the budgets, the language, the clock and ids, the world."""

    catalogue: Catalogue
    budgets: Budgets
    locale: Locale
    runtime: Runtime
    now: dt.datetime
    world: World = field(default_factory=RecordingWorld)


@dataclass
class Draft:
    """The parts of a round. `state` is replaced as decisions fall; the rest is appended to."""

    session: Session
    state: AgentState
    kind: RoundKind = "model"
    messages: list[Message] = field(default_factory=list[Message])
    events: list[NewEvent] = field(default_factory=list[NewEvent])
    schedule: ScheduleState | None = None
    journal: dict[str, Any] = field(default_factory=dict[str, Any])
    consumed: dict[str, Any] | None = None
    title: str | None = None

    @property
    def timetable(self) -> ScheduleState | None:
        """The schedule as it will be after this round."""
        return self.schedule or self.session.schedule

    @property
    def version(self) -> int:
        """The schedule version as it will be after this round."""
        return self.session.schedule_version + (self.schedule is not None)

    def update(self, **changes: Any) -> None:
        """Replaces fields of the agent state."""
        self.state = self.state.model_copy(update=changes)

    def count(self, **changes: Any) -> None:
        """Replaces counters."""
        self.update(counters=self.state.counters.model_copy(update=changes))

    def spend(self, milliseconds: int) -> None:
        """Counts the time that the round has run."""
        self.journal["spent_ms"] = milliseconds
        self.count(run_ms=self.state.counters.run_ms + milliseconds)

    def adopt(self, result: ToolResult) -> None:
        """Takes over what a tool changed in the agent state it was given, and nothing else."""
        if result.state is not None:
            base = self.session.state
            names = AgentState.model_fields
            changed = {n: v for n in names if (v := getattr(result.state, n)) != getattr(base, n)}
            self.update(**changed)

    def word(self, text: str) -> None:
        """The assistant says something; its block is the one in which this round's text came piece by piece."""
        if text.strip():
            self.messages.append(Message(role="assistant", text=text, run_id=self.state.run_id))
            block = {"block_id": block_id(self.session.version + 1, "text")}
            self.events.append(NewEvent("assistant_text", text, block))

    def call(self, call_id: str, tool: str, arguments: dict[str, Any]) -> None:
        """A tool is called; exactly one `result` with the same id must follow, in this round or a later one."""
        self.messages.append(
            Message(role="call", run_id=self.state.run_id, call_id=call_id, tool=tool, arguments=arguments)
        )

    def result(self, call_id: str, tool: str, arguments: dict[str, Any], result: ToolResult) -> None:
        """The result of a call, for the model, the timeline and the journal."""
        self.messages.append(
            Message(
                role="result",
                text=result.text,
                run_id=self.state.run_id,
                call_id=call_id,
                tool=tool,
                arguments=arguments,
                ok=result.ok,
                code=result.code,
                state_version=self.version,
            )
        )
        status = "done" if result.ok else "failed" if result.code in ("tool_failed", "tool_timeout") else "blocked"
        self.events.append(
            NewEvent(
                "tool_result",
                result.text.split("\n", 1)[0][:200],
                {
                    "tool": {
                        "name": tool,
                        "status": status,
                        "code": result.code,
                        "summary": result.text[:400],
                        "arguments_preview": preview(arguments),
                    }
                },
            )
        )
        # The first of a round is the one that it made; further calls of the same answer are only told so.
        made = {"call_id": call_id, "name": tool, "arguments": arguments, "result": result.as_json()}
        self.journal.setdefault("tool", made)

    def refused(self, call_id: str, tool: str, arguments: dict[str, Any], result: ToolResult) -> None:
        """A call that failed: its result, and what the guards remember of it."""
        self.result(call_id, tool, arguments, result)
        digest = refusal_digest(tool, arguments, self.state, self.version)
        self.update(refused_calls=(*self.state.refused_calls[-40:], digest))
        self.count(step_failures=self.state.counters.step_failures + 1)

    def finish(self, kind: OutcomeKind, code: str, locale: Locale, internal: str = "", text: str | None = None) -> None:
        """Ends the run: the outcome is stored and told, tools are switched off, nothing stays open."""
        message = text if text is not None else say(locale, f"outcome.{kind}")
        outcome = Outcome(kind=kind, stage=self.state.phase, code=code, user_message=message, internal_reason=internal)
        schedule = self.timetable
        if schedule is not None and any(task.status == "suggested" for task in schedule.items) and code != "replied":
            self.events.append(NewEvent("schedule_completed", payload={"version": self.version}))
        self.events.append(NewEvent("finish", message, {"outcome": outcome.model_dump(mode="json")}))
        self.update(
            phase="idle", plan=None, step=0, covers=(), interaction=None, active={}, optimizing=False, outcome=outcome
        )

    def round(self, lease_until: dt.datetime | None) -> Round:
        """The round to store."""
        return Round(
            kind=self.kind,
            state=self.state,
            messages=tuple(self.messages),
            schedule=self.schedule,
            events=tuple(self.events),
            journal=self.journal,
            consumed=self.consumed,
            title=self.title,
            lease_until=lease_until if self.state.phase in ACTIVE_PHASES else None,
        )


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, real characters."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def call_digest(tool: str, arguments: dict[str, Any], version: int) -> str:
    """What makes two calls the same call on the same schedule."""
    return hashlib.sha256(canonical([tool, arguments, version]).encode()).hexdigest()[:16]


def refusal_digest(tool: str, arguments: dict[str, Any], state: AgentState, version: int) -> str:
    """What makes a refused call the same call in the same situation: all that a guard or a tool may refuse it for."""
    judged = state.judgement.state_version if state.judgement else None
    covers = [cover.model_dump(mode="json") for cover in state.covers]
    situation = [state.phase, state.active, state.optimizing, judged, covers, version]
    return hashlib.sha256(canonical([tool, arguments, situation]).encode()).hexdigest()[:16]


def preview(arguments: dict[str, Any]) -> str:
    """Arguments in at most 200 characters."""
    text = canonical(arguments)
    return text if len(text) <= 200 else text[:199] + "…"


def paired(messages: Sequence[Message]) -> bool:
    """Whether every call has exactly one result, after it; an open interaction's call may still wait."""
    waiting: set[str] = set()
    for message in messages:
        if message.role == "call":
            waiting.add(message.call_id or "")
        elif message.role == "result":
            if (message.call_id or "") not in waiting:
                return False
            waiting.discard(message.call_id or "")
    return len(waiting) <= 1
