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


def words(text: str, why: str = "") -> Reply:
    """Only words."""
    return Reply(text, why=why)


def call(name: str, text: str = "", why: str = "", **arguments: Any) -> Reply:
    """A call, with words before it."""
    return Reply(text, name, arguments, why)


def ask(text: str, *options: str, why: str = "") -> Reply:
    """A question with options, at most twelve."""
    return Reply("", "ask_user", {"text": text, "options": list(dict.fromkeys(options))[:12]}, why)


def finish(step: bool, check: str, text: str = "") -> Reply:
    """The end of a step, or of the work."""
    return call("next_step" if step else "done", text, goal_check=check)
