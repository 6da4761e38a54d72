"""What the model decided in one round, whatever wire format carried it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Action = Literal["reply", "continue", "ask_user", "plan_done", "write", "next_step", "done", "abort"]
Mode = Literal["first_full", "global_reopt", "local_adjust"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(_Part):
    """A tool and its arguments, as the model gave them: unchecked."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Cover(_Part):
    """A write that approving the plan already permits."""

    tool: str
    task_class_ids: tuple[int, ...] = ()


class PlanStep(_Part):
    """One step of a plan: what is done and how one sees that it is done."""

    content: str = Field(min_length=1, max_length=400)
    done_when: str = Field(default="", max_length=400)
    covers: tuple[Cover, ...] = ()


class ContextHook(_Part):
    """The tools that executing the plan starts with."""

    domain: str
    packs: tuple[str, ...] | None = None


class Plan(_Part):
    """One to eight steps, the mode of optimisation, and the tools to start with."""

    steps: tuple[PlanStep, ...] = Field(min_length=1, max_length=8)
    mode: Mode = "local_adjust"
    context_hook: ContextHook | None = None


class Question(_Part):
    """A question to the user, with options where the answers are known."""

    text: str = Field(min_length=1, max_length=2000)
    options: tuple[str, ...] = Field(default=(), max_length=12)


class Abort(_Part):
    """Giving up: a stable code, a sentence for the user, and the reason for the journal."""

    code: str = "model_abort"
    user_message: str
    internal_reason: str = ""


class Decision(_Part):
    """One decision. `tool_call` goes with continue and write, `plan` with plan_done, `question` with ask_user."""

    action: Action
    speak: str = ""
    reason: str = ""
    goal_check: str = ""
    tool_call: ToolCall | None = None
    plan: Plan | None = None
    question: Question | None = None
    abort: Abort | None = None


class DecisionFault(_Part):
    """An answer that is no decision: exactly what is wrong with it, for the model to read."""

    code: Literal["invalid_model_output"] = "invalid_model_output"
    message: str
    raw: str = ""
