"""An answer of the rule model: words, and at most one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What is said and called; `why` is how the sentence was understood, sent as reasoning."""

    text: str = ""
    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    why: str = ""


def words(text: str) -> Reply:
    """Only words."""
    return Reply(text)


def call(name: str, said: str = "", /, **arguments: Any) -> Reply:
    """A call, with words before it."""
    return Reply(said, name, arguments)


def ask(text: str, *options: str) -> Reply:
    """A question with options, at most twelve."""
    return Reply("", "ask_user", {"text": text, "options": list(dict.fromkeys(options))[:12]})


def finish(more: bool, check: str, said: str = "") -> Reply:
    """The end of a step where more follow, else of the work."""
    return Reply(said, "next_step" if more else "done", {"goal_check": check})


def give_up(said: str, code: str, reason: str) -> Reply:
    """The end of a run that cannot go on, with the reason for the user."""
    return Reply("", "abort", {"code": code, "user_message": said, "internal_reason": reason})
