"""The executing phase: the current step, known by the words in which the plan put it, and what to call next in it."""

from __future__ import annotations

from typing import Any

from newagent.llm.offline.answer import Reply, ask, call, finish
from newagent.llm.offline.editing import edit
from newagent.llm.offline.facts import View
from newagent.llm.offline.improving import improve
from newagent.llm.offline.intents import understand
from newagent.llm.offline.negotiating import negotiate
from newagent.llm.offline.steps import intent_of, kind_of, opened, stops
from newagent.llm.offline.texts import say
from newagent.llm.offline.wishes import merged


def execute(view: View) -> Reply:
    """The decision of an executing round."""
    steps, number = view.facts.steps, view.facts.step
    content = steps[min(number, len(steps)) - 1].content if steps else ""
    more = number < len(steps)
    match kind_of(content):
        case "prefer":
            return _prefer(view, more)
        case "build":
            return _build(view, more)
        case "improve":
            return improve(view, more)
        case "":
            return finish(False, content or view.facts.goal)
        case kind:
            return edit(view, kind, content)


def _prefer(view: View, more: bool) -> Reply:
    language = view.language
    check = say(language, "check.prefer")
    made = [one for one in view.in_step if one.name in ("set_preferences", "ask_user")]
    last = made[-1] if made else None
    if last is not None:
        if last.name == "set_preferences" and not last.rejected:
            return finish(more, check)
        if stops(view, last.words):
            return finish(False, check, say(language, "say.stop"))
        if last.words == say(language, "option.improve"):
            return finish(more, check)
        if not understand(last.words, view.facts.classes).wishes:
            options = (say(language, "option.improve"), say(language, "option.stop"))
            return ask(say(language, "ask.prefer"), *options)
    wishes = merged(intent_of(view).wishes, view.facts.preferences)
    return opened(view, "set_preferences", "mutation", "analyze", "preference") or call(
        "set_preferences", say(language, "say.prefer"), **wishes
    )


def _build(view: View, more: bool) -> Reply:
    language, intent = view.language, intent_of(view)
    made = [one for one in view.in_step if one.name in ("rough_build", "ask_user", "analyze_health")]
    last = made[-1] if made else None
    failed = view.failed("rough_build")
    rebuild = intent.rebuild
    if last is not None and last.name == "rough_build":
        if last.rejected:
            return finish(False, say(language, "check.build"), say(language, "say.stop"))
        return finish(more, say(language, "check.build"))
    if last is not None and last.name == "ask_user":
        if stops(view, last.words):
            return finish(False, say(language, "relax.closed"), say(language, "relax.closed"))
        if last.words != say(language, "option.rebuild"):
            return negotiate(view)
        rebuild = True
    if failed == "infeasible" or (last is not None and last.name == "analyze_health"):
        return negotiate(view)
    if failed in ("blocked", "undecided"):
        options = () if rebuild else (say(language, "option.rebuild"),)
        return ask(say(language, f"ask.{failed}"), *options, say(language, "option.stop"))
    chosen = [one for one in view.facts.classes if not intent.classes or one.id in intent.classes]
    if rebuild and not intent.rebuild:
        # What stands in the way may belong to any class.
        chosen = [one for one in view.facts.classes if one in chosen or one.placed]
    arguments: dict[str, Any] = {"task_class_ids": [one.id for one in chosen if one.pending or rebuild]}
    if rebuild:
        arguments["rebuild"] = True
    return opened(view, "rough_build", "mutation", "analyze") or call(
        "rough_build", say(language, "say.build"), **arguments
    )
