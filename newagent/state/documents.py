"""Flow control and conversation as documents: `AgentState`, `PendingInteraction`, messages.

`AgentState` never holds what the model is shown, `Message` never holds flow control; the two are joined by
conversation and run id only.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from newagent.llm.decision import Cover, Mode, Plan

AGENT_SCHEMA_VERSION = 2

Phase = Literal["idle", "planning", "waiting", "executing", "delivering"]
OutcomeKind = Literal["completed", "incomplete", "aborted", "exhausted", "cancelled"]
InteractionKind = Literal["plan", "write", "question"]
ResumeAction = Literal["approve", "reject", "edit", "cancel", "reply"]


class Document(BaseModel):
    """Base of stored documents: frozen, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Outcome(Document):
    """How a run ended: the stage it ended in, a stable code, and the two messages."""

    kind: OutcomeKind
    stage: Phase
    code: str
    user_message: str
    internal_reason: str = ""


class PendingInteraction(Document):
    """A card that waits for the user. What is approved are the stored `changes`.

    `call` is the tool call that waits for its result; `state_version` the schedule version the card was judged on.
    """

    interaction_id: str
    kind: InteractionKind
    title: str
    summary: str = ""
    risk: Literal["A", "B", "C", "D"] | None = None
    changes: tuple[dict[str, Any], ...] = ()
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    tool: str | None = None
    arguments: dict[str, Any] | None = None
    arguments_schema: dict[str, Any] | None = None
    call_id: str | None = None
    plan: Plan | None = None
    options: tuple[str, ...] = ()
    state_version: int = 0
    resume_phase: Phase = "planning"
    opened_at: dt.datetime
    expires_at: dt.datetime


class Resume(Document):
    """An answer to a card. `type` is accepted and ignored."""

    interaction_id: str
    action: ResumeAction
    arguments: dict[str, Any] | None = None
    message: str | None = None
    always_allow: bool = False
    type: str | None = None

    @property
    def answer(self) -> dict[str, Any]:
        """What makes two answers the same answer."""
        return {"action": self.action, "arguments": self.arguments, "message": self.message}


class Grants(Document):
    """Standing permissions: for this run, and by tool for this conversation."""

    run: bool = False
    tools: tuple[str, ...] = ()


class Judgement(Document):
    """What the judge said last, and of which schedule version."""

    state_version: int
    pending: int
    cost: int
    critical: int = 0
    signal: str = ""
    should_continue: bool = False
    can_close: bool = False
    feasible: bool = True
    recommended: str = ""
    candidates: tuple[dict[str, Any], ...] = ()
    relaxations: tuple[dict[str, Any], ...] = ()


class Counters(Document):
    """What a run has used of its budgets, and the streaks that guards look at.

    `takeovers` counts the owners that have gone since the model last answered.
    """

    rounds: int = 0
    writes: int = 0
    revisions: int = 0
    invalid: int = 0
    ineffective: int = 0
    same_signal: int = 0
    plain_text: int = 0
    step_failures: int = 0
    step_evidence: int = 0
    tokens: int = 0
    task_writes: dict[str, int] = Field(default_factory=dict)
    run_ms: int = 0
    takeovers: int = 0


class AgentState(Document):
    """Where a conversation's agent stands.

    `refused_calls` and `read_calls` hold digests of calls on the present schedule version, `undo` the schedule
    versions before each executed write, `covers` what an approved plan still permits, `baseline` (pending, cost) that
    this run started from.
    """

    schema_version: Literal[2] = AGENT_SCHEMA_VERSION
    conversation_id: str
    user_id: str
    run_id: str | None = None
    phase: Phase = "idle"
    mode: Mode | None = None
    goal: str = ""
    plan: Plan | None = None
    step: int = 0
    optimizing: bool = False
    order_may_change: bool = False
    active: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    grants: Grants = Grants()
    covers: tuple[Cover, ...] = ()
    interaction: PendingInteraction | None = None
    judgement: Judgement | None = None
    counters: Counters = Counters()
    refused_calls: tuple[str, ...] = ()
    read_calls: tuple[str, ...] = ()
    forced_close: str = ""
    task_class_ids: tuple[int, ...] = ()
    undo: tuple[int, ...] = ()
    baseline: tuple[int, int] | None = None
    outcome: Outcome | None = None


class Message(Document):
    """One line of what the model is shown. A `call` is always followed by its one `result` with the same call_id."""

    role: Literal["user", "assistant", "call", "result"]
    text: str = ""
    run_id: str | None = None
    call_id: str | None = None
    tool: str | None = None
    arguments: dict[str, Any] | None = None
    ok: bool | None = None
    code: str | None = None
    state_version: int | None = None
