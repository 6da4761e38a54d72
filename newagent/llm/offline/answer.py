"""An answer of the rule model: words, and at most one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What is said and called; `why` is the rule that led to it, sent as reasoning."""

    text: str = ""
    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    why: str = ""


def words(text: str, why: str) -> Reply:
    """Only words."""
    return Reply(text, why=why)


def call(name: str, said: str, why: str, /, **arguments: Any) -> Reply:
    """A call, with words before it."""
    return Reply(said, name, arguments, why)


def ask(text: str, why: str, *options: str) -> Reply:
    """A question with options, at most twelve."""
    return Reply("", "ask_user", {"text": text, "options": list(dict.fromkeys(options))[:12]}, why)


def finish(more: bool, check: str, said: str = "") -> Reply:
    """The end of a step where more follow, else of the work."""
    return Reply(said, "next_step" if more else "done", {"goal_check": check}, "the step is done")


def give_up(said: str, code: str, reason: str) -> Reply:
    """The end of a run that cannot go on, with the reason for the user."""
    return Reply("", "abort", {"code": code, "user_message": said, "internal_reason": reason}, "no way on")
