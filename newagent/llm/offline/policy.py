"""The rule model: from what a request says to one answer. Pure: the same request always gets the same answer."""

from __future__ import annotations

from newagent.llm.offline.answer import Reply, ask, call, words
from newagent.llm.offline.executing import execute
from newagent.llm.offline.facts import View
from newagent.llm.offline.intents import understand
from newagent.llm.offline.planning import plan
from newagent.llm.offline.texts import Language, say


def decide(view: View) -> Reply:
    """The answer to a request. One without a brief of the loop gets words about what this model is."""
    if not view.facts:
        return _without_brief(view)
    if view.phase == "delivering":
        return words(_summary(view), "deliver")
    if view.phase == "planning":
        reply = plan(view)
        if reply.name and view.failed(reply.name):
            return words(say(view.language, "failed", reason=_reason(view)), "the same call would fail again")
        return reply
    reply = execute(view)
    if reply.name not in ("", "ask_user", "apply_candidate") and view.failed(reply.name):
        return _stuck(view, reply)
    return reply


def _stuck(view: View, reply: Reply) -> Reply:
    """A call that has just failed is not tried again as it is: the user decides, or the run ends honestly."""
    if reply.name in ("next_step", "done"):
        reason = _reason(view)
        return call(
            "abort",
            why="no way on",
            code="rule_model_stuck",
            user_message=say(view.language, "abort", reason=reason),
            internal_reason=reason,
        )
    return ask(say(view.language, "ask.failed", reason=_reason(view)), say(view.language, "option.stop"))


def _reason(view: View) -> str:
    failure = view.failures[-1] if view.failures else str(view.last.get("code") or "")
    return (failure.partition("：")[2] or failure).rstrip("。.")


def _without_brief(view: View) -> Reply:
    language: Language = "zh" if any("一" <= letter <= "鿿" for letter in view.last_words) else "en"
    kind = understand(view.last_words, ()).kind
    return words(say(language, kind if kind in ("help", "who") else "unknown"), "no brief of the loop")


def _summary(view: View) -> str:
    """Two or three sentences about what was done; the numbers are added by the loop."""
    language = view.language
    done = {one.name for one in view.calls if not one.rejected}
    told: list[str] = []
    for tool, key in (
        ("rough_build", "build"),
        ("set_preferences", "prefer"),
        ("undo_last", "undo"),
        ("apply_preview", "apply"),
    ):
        if tool in done:
            told.append(say(language, f"sum.{key}"))
    if done & {"move", "place", "swap", "unplace", "batch_move"}:
        told.append(say(language, "sum.edit"))
    if "apply_candidate" in done:
        told.append(say(language, "sum.improve"))
    elif "analyze_health" in done and not told:
        told.append(say(language, "sum.checked"))
    if any(one.rejected for one in view.calls):
        told.append(say(language, "sum.refused"))
    if view.pending:
        told.append(say(language, "sum.pending"))
    joiner = "" if language == "zh" else " "
    return joiner.join(told) or say(language, "sum.nothing")
