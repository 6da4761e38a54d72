"""The rule model: from what a request says to one answer. Pure: the same request always gets the same answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from newagent.llm.offline.answer import Reply, give_up, words
from newagent.llm.offline.executing import execute
from newagent.llm.offline.facts import View, last_words, read_view
from newagent.llm.offline.intents import understand
from newagent.llm.offline.planning import plan
from newagent.llm.offline.texts import Language, say

DONE = (("set_preferences", "prefer"), ("rough_build", "build"), ("undo_last", "undo"), ("apply_preview", "apply"))
EDITS = frozenset({"move", "place", "swap", "unplace", "batch_move"})


def answer(body: Mapping[str, Any]) -> Reply:
    """The answer to a request body. One without a brief of the loop gets words about what this model is."""
    view = read_view(body)
    return decide(view) if view is not None else _introduction(last_words(body))


def decide(view: View) -> Reply:
    """The answer to a request of the loop. A call that has just failed is not tried again as it is."""
    if view.facts.phase == "delivering":
        return words(_summary(view))
    reply = plan(view) if view.facts.phase == "planning" else execute(view)
    code = view.failed(reply.name) if reply.name and reply.name != "apply_candidate" else ""
    if not code:
        return reply
    said = say(view.language, "cannot", reason=view.reason)
    return words(said) if view.facts.phase == "planning" else give_up(said, code, view.reason)


def _introduction(text: str) -> Reply:
    language: Language = "en" if text.isascii() and text.strip() else "zh"
    kind = understand(text, ()).kind
    return words(say(language, kind if kind in ("help", "who") else "unknown"))


def _summary(view: View) -> str:
    """Two or three sentences about what was done; the numbers are added by the loop."""
    language = view.language
    done = {one.name for one in view.calls if not one.rejected}
    told = [say(language, f"sum.{key}") for tool, key in DONE if tool in done]
    if done & EDITS:
        told.append(say(language, "sum.edit"))
    if "apply_candidate" in done:
        told.append(say(language, "sum.improve"))
    elif "analyze_health" in done and not told:
        told.append(say(language, "sum.checked"))
    if not told:
        told.append(say(language, "sum.nothing"))
    if any(one.rejected for one in view.calls):
        told.append(say(language, "sum.refused"))
    if view.facts.pending:
        told.append(say(language, "sum.pending"))
    return ("" if language == "zh" else " ").join(told)
