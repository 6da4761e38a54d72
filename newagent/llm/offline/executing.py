"""The executing phase: the current step, known by the words in which the plan put it, and what to call next in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from newagent.llm.offline.answer import Reply, ask, call, finish
from newagent.llm.offline.facts import Call, View
from newagent.llm.offline.improving import improve
from newagent.llm.offline.intents import understand
from newagent.llm.offline.naming import TaskLine
from newagent.llm.offline.places import Spot, spot_in, spots_in
from newagent.llm.offline.planning import MANY, intent_of, opened
from newagent.llm.offline.texts import TEXTS, say
from newagent.llm.offline.when import when_of
from newagent.llm.offline.wishes import merged

EDITS = {
    "move": "move",
    "place": "place",
    "swap": "swap",
    "unplace": "unplace",
    "undo": "undo_last",
    "apply": "apply_preview",
}
STEPS = ("prefer", "build", "improve", *EDITS)


def execute(view: View) -> Reply:
    """The decision of an executing round."""
    steps: list[dict[str, Any]] = view.facts.get("steps") or []
    number = int(view.facts.get("step") or 1)
    content = str(steps[min(number, len(steps)) - 1]["content"]) if steps else ""
    more = number < len(steps)
    kind = kind_of(content)
    match kind:
        case "prefer":
            return _prefer(view, more)
        case "build":
            return _build(view, more)
        case "improve":
            return improve(view, more)
        case "":
            return finish(False, content or view.goal)
        case _:
            return _edit(view, kind, content)


@cache
def _heads() -> tuple[tuple[str, str], ...]:
    """The fixed beginnings of the steps' texts, longest first, with their kinds."""
    heads = [(texts[f"step.{kind}"].split("{", 1)[0], kind) for texts in TEXTS.values() for kind in STEPS]
    return tuple(sorted(heads, key=lambda pair: -len(pair[0])))


def kind_of(content: str) -> str:
    """The kind of a step, empty for one that this model did not write."""
    return next((kind for head, kind in _heads() if content.startswith(head)), "")


def stops(view: View, text: str) -> bool:
    """Whether words of the user end the matter."""
    return text in (say(view.language, "option.stop"), say(view.language, "option.keep")) or (
        understand(text, view.classes).kind == "stop"
    )


def since_plan(view: View) -> tuple[Call, ...]:
    """The calls since the plan was agreed to."""
    at = max((i for i, one in enumerate(view.calls) if one.name in ("plan_done", "next_step")), default=-1)
    return view.calls[at + 1 :]


def _close(view: View, kind: str, more: bool, text: str = "") -> Reply:
    return finish(more, say(view.language, f"check.{kind}"), text)


def _prefer(view: View, more: bool) -> Reply:
    language = view.language
    made = [one for one in since_plan(view) if one.name in ("set_preferences", "ask_user")]
    last = made[-1] if made else None
    if last is not None and last.name == "set_preferences" and not last.rejected:
        return _close(view, "prefer", more)
    if (
        last is not None
        and last.name == "ask_user"
        and (stops(view, last.words) or last.words == say(language, "option.improve"))
    ):
        stopped = stops(view, last.words)
        return _close(view, "prefer", more and not stopped, say(language, "say.stop") if stopped else "")
    if last is not None and last.rejected:
        if stops(view, last.words):
            return _close(view, "prefer", False, say(language, "say.stop"))
        if not understand(last.words, view.classes).wishes:
            return ask(say(language, "ask.prefer"), say(language, "option.improve"), say(language, "option.stop"))
    first = opened(view, "set_preferences", "mutation", "analyze", "preference")
    if first is not None:
        return first
    wishes = merged(intent_of(view).wishes, view.facts.get("preferences") or {})
    return call("set_preferences", say(language, "say.prefer"), "set the wishes first", **wishes)


def _build(view: View, more: bool) -> Reply:
    language = view.language
    intent = intent_of(view)
    made = [one for one in since_plan(view) if one.name in ("rough_build", "ask_user", "analyze_health")]
    last = made[-1] if made else None
    if view.made("rough_build") is not None and (done := view.done("rough_build")) is not None and done in made:
        return _close(view, "build", more)
    if last is not None and last.name == "rough_build" and last.rejected:
        return _close(view, "build", False, say(language, "say.stop"))
    rebuild = intent.rebuild
    if last is not None and last.name == "ask_user":
        if last.words == say(language, "option.rebuild"):
            rebuild = True
        else:
            return _relaxed(view, last.words)
    if not rebuild or view.failed("rough_build"):
        code = view.failed("rough_build")
        judged = view.judgement
        if code == "infeasible" or (
            last is not None and last.name == "analyze_health" and judged and not judged["feasible"]
        ):
            return _negotiate(view)
        if code in ("blocked", "undecided"):
            options = [say(language, "option.rebuild")] if not rebuild else []
            return ask(say(language, f"ask.{code}"), *options, say(language, "option.stop"), why=code)
    first = opened(view, "rough_build", "mutation", "analyze")
    if first is not None:
        return first
    chosen = [one for one in view.classes if not intent.classes or one["id"] in intent.classes]
    ids = [one["id"] for one in chosen if one["pending"] or rebuild] or [one["id"] for one in chosen]
    arguments: dict[str, Any] = {"task_class_ids": ids, **({"rebuild": True} if rebuild else {})}
    return call("rough_build", say(language, "say.build"), "place everything at once", **arguments)


def _negotiate(view: View) -> Reply:
    """The judge's ways out, as the options of a question."""
    language = view.language
    judgement = view.judgement
    if judgement is None:
        return call("analyze_health", say(language, "say.judge"), "ask the judge for ways out")
    options = [str(option["summary"]) for option in judgement["options"]] or [say(language, "option.stop")]
    return ask(say(language, "ask.infeasible"), *options, why="infeasible: the user chooses")


def _relaxed(view: View, chosen: str) -> Reply:
    language = view.language
    options: Sequence[dict[str, Any]] = (view.judgement or {}).get("options") or ()
    option = next((one for one in options if one["summary"] == chosen), None)
    if option is None or option["code"] == "accept_risk_and_close" or stops(view, chosen):
        return finish(False, say(language, "relax.closed"), say(language, "relax.closed"))
    return finish(False, chosen, say(language, "relax.choose", option=chosen))


def _edit(view: View, kind: str, content: str) -> Reply:
    """A single edit named by the plan: tried, and where it is refused another place is offered."""
    language = view.language
    tool = EDITS[kind]
    made = [one for one in since_plan(view) if one.name in (tool, "ask_user")]
    last = made[-1] if made else None
    if last is not None and last.name == tool and not last.rejected:
        return _close(view, "edit", False)
    if last is not None and stops(view, last.words):
        return _close(view, "edit", False, say(language, "say.stop"))
    ids = [int(number) for number in re.findall(r"#(\d+)", content)]
    task = TaskLine(ids[0], content, "", "") if ids else None
    if kind not in ("move", "place") or task is None:
        if last is not None and last.name == tool:
            return _close(view, "edit", False, say(language, "say.stop"))
        if view.failed(tool):
            return ask(say(language, "ask.failed", reason=_failure(view)), say(language, "option.stop"))
        if last is not None:
            return _close(view, "edit", False)
        return _first(view, tool) or call(tool, why=f"carry out: {kind}", **_arguments(kind, ids))
    return _place(view, tool, task, content, last)


def _arguments(kind: str, ids: Sequence[int]) -> dict[str, Any]:
    match kind:
        case "swap":
            return {"task_a": ids[0], "task_b": ids[1]}
        case "unplace":
            return {"task_id": ids[0]}
        case _:
            return {}


def _first(view: View, tool: str) -> Reply | None:
    return opened(view, tool, "mutation", "analyze")


def _place(view: View, tool: str, task: TaskLine, content: str, last: Call | None) -> Reply:
    language = view.language
    failed = view.failed(tool)
    if last is None and not failed:
        spot = spot_in(content)
        if spot is not None:
            return _first(view, tool) or _put(view, tool, task, spot)
    if last is not None and last.name == "ask_user" and not failed:
        spot = spot_in(last.words)
        if spot is not None:
            return _first(view, tool) or _put(view, tool, task, spot)
    when = when_of(last.words) if last is not None and last.words else None
    wanted: dict[str, Any] = {"for_task_id": task.id, "limit": MANY - 2, **(when.filters(view) if when else {})}
    asked = view.made("query_available_slots", **wanted)
    if asked is None:
        if view.failed("query_available_slots"):
            return ask(say(language, "ask.failed", reason=_failure(view)), say(language, "option.stop"))
        return _first(view, "query_available_slots") or call("query_available_slots", why="another place", **wanted)
    tried = {(one.arguments.get("day"), one.arguments.get("start")) for one in view.calls if one.name == tool}
    days = set(when.days(view)) if when and when.names_day else None
    spots = [s for s in spots_in(asked.result) if (s.day, s.start) not in tried and (days is None or s.day in days)]
    if when and spots:
        return _put(view, tool, task, spots[0])
    around = spot_in(content)
    spots.sort(key=lambda one: (abs(one.day - around.day) if around else one.day, one.start))
    text = (
        say(language, "ask.failed", reason=_failure(view))
        if failed
        else say(language, "ask.other_place")
        if spots
        else say(language, "ask.no_place_at_all", task=f"#{task.id}")
    )
    return ask(text, *(spot.words for spot in spots[:6]), say(language, "option.keep"))


def _put(view: View, tool: str, task: TaskLine, spot: Spot) -> Reply:
    text = say(view.language, "say.move", task=f"#{task.id}", place=spot.words)
    return call(tool, text, "the nearest legal place", task_id=task.id, day=spot.day, start=spot.start)


def _failure(view: View) -> str:
    failure = view.failures[-1] if view.failures else ""
    return (failure.partition("：")[2] or failure).rstrip("。.")
