"""The planning phase: an answer in words, or the plan of what is asked, after the reads that either needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from newagent.llm.offline import answering, editing
from newagent.llm.offline.answer import Reply, ask, call, words
from newagent.llm.offline.facts import View
from newagent.llm.offline.intents import UNKNOWN, Intent, Kind, understand
from newagent.llm.offline.naming import named_classes
from newagent.llm.offline.steps import EDITING, intent_of, names_of, opened, step, stops
from newagent.llm.offline.texts import say, wish_words

WISHING = {"domain": "schedule", "packs": ["mutation", "analyze", "preference"]}


def plan(view: View) -> Reply:
    """The decision of a planning round."""
    latest = view.latest
    if latest is not None and latest.name == "plan_done" and latest.rejected and not _understood(view, latest.words):
        options = (say(view.language, "option.do_it"), say(view.language, "option.stop"))
        return ask(say(view.language, "ask.plan"), *options)
    if latest is not None and latest.words and stops(view, latest.words):
        return words(say(view.language, "nothing_to_stop"))
    intent = intent_of(view)
    reply = HANDLERS[intent.kind](view, intent)
    understood = say(view.language, "understood", kind=say(view.language, f"kind.{intent.kind}"))
    return replace(reply, why=understood) if latest is None else reply


def _understood(view: View, text: str) -> bool:
    classes = view.facts.classes
    return understand(text, classes) != UNKNOWN or bool(named_classes(text, classes))


def _said(key: str) -> Callable[[View, Intent], Reply]:
    return lambda view, _: words(say(view.language, key))


def _hello(view: View, _: Intent) -> Reply:
    facts, state = view.facts, ""
    if facts.classes:
        state = say(view.language, "state", classes=len(facts.classes), pending=facts.pending, placed=facts.placed)
    return words(say(view.language, "hello", state=state))


def _work(view: View, intent: Intent) -> Reply:
    """Placing, wishes and improving, as a plan of one to three steps."""
    language, facts = view.language, view.facts
    if not facts.classes:
        return words(say(language, "no_schedule"))
    chosen = [one for one in facts.classes if not intent.classes or one.id in intent.classes]
    waiting = [one for one in chosen if one.pending or intent.rebuild]
    build = intent.build or (intent.improve and not facts.placed and not intent.wishes)
    if build and not waiting and not intent.wishes:
        what = names_of(view, chosen) if intent.classes else say(language, "every_class")
        return words(say(language, "no_pending", what=what))
    build = build and bool(waiting)
    improve = intent.improve and (build or facts.placed > 0)
    first = opened(view, "get_overview")
    if first is not None:
        return first
    if view.made("get_overview") is None:
        return call("get_overview")
    steps: list[dict[str, Any]] = []
    if intent.wishes:
        names = {one.id: one.name for one in facts.classes}
        steps.append(step(view, "prefer", wishes=wish_words(language, intent.wishes, names)))
    if build:
        cover = {"tool": "rough_build", "task_class_ids": [one.id for one in waiting]}
        built = step(view, "build", classes=names_of(view, waiting))
        steps.append(built if intent.rebuild else {**built, "covers": [cover]})
    if improve:
        steps.append(step(view, "improve"))
    mode = "first_full" if build and improve else "global_reopt" if improve else "local_adjust"
    hook = WISHING if intent.wishes else EDITING
    return call("plan_done", _introduction(view, intent, len(steps)), steps=steps, mode=mode, context_hook=hook)


def _introduction(view: View, intent: Intent, steps: int) -> str:
    """What is said before the plan: above all which part of the sentence it leaves out."""
    parts: list[str] = []
    if intent.ignored:
        parts.append(say(view.language, "ignored", words="；".join(intent.ignored)))
    if steps > 1:
        parts.append(say(view.language, "plan"))
    return "".join(parts) if view.language == "zh" else " ".join(parts)


HANDLERS: Mapping[Kind, Callable[[View, Intent], Reply]] = {
    "work": _work,
    "move": editing.plan_move,
    "swap": editing.plan_swap,
    "unplace": editing.plan_unplace,
    "undo": editing.plan_undo,
    "apply": editing.plan_apply,
    "day": answering.day,
    "free": answering.free,
    "where": answering.where,
    "status": answering.status,
    "health": answering.health,
    "hello": _hello,
    "thanks": _said("thanks"),
    "who": _said("who"),
    "help": _said("help"),
    "stop": _said("nothing_to_stop"),
    "yes": _said("yes_to_what"),
    "unknown": _said("unknown"),
}
