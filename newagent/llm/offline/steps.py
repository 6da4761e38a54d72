"""The steps of the rule model's plans: how they are worded, and how they are known again when they are executed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from newagent.llm.offline.answer import Reply, call
from newagent.llm.offline.facts import ClassFacts, View
from newagent.llm.offline.intents import Intent, followed, understand
from newagent.llm.offline.texts import TEXTS, say

KINDS = ("prefer", "build", "improve", "move", "place", "swap", "unplace", "undo", "apply")
EDITING = {"domain": "schedule", "packs": ["mutation", "analyze"]}


def intent_of(view: View) -> Intent:
    """What is asked in this run: the words of the turn, and everything that the user said after them."""
    intent = understand(view.facts.goal, view.facts.classes)
    for one in view.calls:
        if one.words:
            intent = followed(intent, one.words, view.facts.classes)
    return intent


def stops(view: View, text: str) -> bool:
    """Whether words of the user end the matter."""
    if text in (say(view.language, "option.stop"), say(view.language, "option.keep")):
        return True
    return understand(text, view.facts.classes).kind == "stop"


def opened(view: View, tool: str, *packs: str) -> Reply | None:
    """The call that switches the packs on where a tool is not offered yet."""
    if tool in view.tools:
        return None
    return call(
        "context_tools_add",
        say(view.language, "looking"),
        domain="schedule",
        packs=list(packs),
        mode="merge",
    )


def step(view: View, kind: str, done: str = "", **values: object) -> dict[str, Any]:
    """A step of a plan in words that `kind_of` knows again."""
    text = say(view.language, f"step.{kind}", **values)
    return {"content": text[:400], "done_when": say(view.language, f"done.{done or kind}")}


def single(view: View, kind: str, **values: object) -> Reply:
    """A plan of one edit."""
    return call(
        "plan_done",
        steps=[step(view, kind, "edit", **values)],
        mode="local_adjust",
        context_hook=EDITING,
    )


@cache
def _heads() -> tuple[tuple[str, str], ...]:
    """The fixed beginnings of the steps' texts, longest first, with their kinds."""
    heads = [(texts[f"step.{kind}"].split("{", 1)[0], kind) for texts in TEXTS.values() for kind in KINDS]
    return tuple(sorted(heads, key=lambda pair: -len(pair[0])))


def kind_of(content: str) -> str:
    """The kind of a step, empty for one that this model did not write."""
    return next((kind for head, kind in _heads() if content.startswith(head)), "")


def names_of(view: View, classes: Sequence[ClassFacts]) -> str:
    """Class names as a list for people."""
    quoted = [f"「{one.name}」" if view.language == "zh" else f"“{one.name}”" for one in classes]
    return ("" if view.language == "zh" else ", ").join(quoted)
