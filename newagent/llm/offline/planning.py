"""The planning phase: what is asked, which reads it needs, and the plan or the answer in words."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from newagent.llm.offline.answer import Reply, ask, call, words
from newagent.llm.offline.facts import View
from newagent.llm.offline.intents import UNKNOWN, Intent, followed, understand
from newagent.llm.offline.naming import TaskLine, find_tasks, identity_of, named_classes, tasks_in
from newagent.llm.offline.places import Spot, nearest, spots_in
from newagent.llm.offline.texts import say, wish_words

MANY = 200
EDITING = {"domain": "schedule", "packs": ["mutation", "analyze"]}
WISHING = {"domain": "schedule", "packs": ["mutation", "analyze", "preference"]}


def intent_of(view: View) -> Intent:
    """What is asked in this run: the words of the turn, and everything that the user said after them."""
    intent = understand(view.goal, view.classes)
    for one in view.calls:
        if one.words:
            intent = followed(intent, one.words, view.classes)
    return intent


def plan(view: View) -> Reply:
    """The decision of a planning round."""
    refused = view.made("plan_done")
    asked = view.calls[-1] if view.calls else None
    if asked is not None and asked.name == "plan_done" and asked.rejected and not _understood(asked.words, view):
        return ask(
            say(view.language, "ask.plan"),
            say(view.language, "option.do_it"),
            say(view.language, "option.stop"),
            why="plan refused",
        )
    intent = intent_of(view)
    if refused is not None and asked is not None and asked.name == "ask_user" and _stops(view, asked.words):
        intent = Intent("stop")
    handler = HANDLERS.get(intent.kind)
    if handler is not None:
        return handler(view, intent)
    return words(
        say(view.language, intent.kind if intent.kind in ("who", "help", "thanks") else "unknown"), intent.kind
    )


def _understood(text: str, view: View) -> bool:
    if not text:
        return False
    return understand(text, view.classes) != UNKNOWN or bool(named_classes(text, view.classes))


def _stops(view: View, text: str) -> bool:
    return text == say(view.language, "option.stop") or understand(text, view.classes).kind == "stop"


def _hello(view: View, _: Intent) -> Reply:
    state = ""
    if view.classes:
        state = say(view.language, "state", classes=len(view.classes), pending=view.pending, placed=view.placed)
    return words(say(view.language, "hello", state=state), "hello")


def _stop(view: View, _: Intent) -> Reply:
    return words(say(view.language, "nothing_to_stop"), "stop")


def _yes(view: View, _: Intent) -> Reply:
    return words(say(view.language, "yes_to_what"), "yes")


def opened(view: View, tool: str, *packs: str) -> Reply | None:
    """The call that switches the packs on whose tools are not offered yet."""
    if tool in view.tools:
        return None
    return call(
        "context_tools_add",
        say(view.language, "looking"),
        "open the tools",
        domain="schedule",
        packs=list(packs),
        mode="merge",
    )


def _work(view: View, intent: Intent) -> Reply:
    """Placing, wishes and improving, as a plan of one to three steps."""
    language = view.language
    if not view.classes:
        return words(say(language, "no_schedule"), "no classes")
    chosen = [one for one in view.classes if not intent.classes or one["id"] in intent.classes]
    waiting = [one for one in chosen if one["pending"] or intent.rebuild]
    build = intent.build or (intent.improve and not view.placed and not intent.wishes)
    if build and not waiting and not intent.wishes:
        what = _names(view, chosen) if intent.classes else say(language, "every_class")
        return words(say(language, "no_pending", what=what), "nothing pending")
    build = build and bool(waiting)
    improve = intent.improve and (build or view.placed > 0)
    if not (build or improve or intent.wishes):
        return words(say(language, "nothing_placed"), "nothing placed")
    first = opened(view, "get_overview")
    if first is not None:
        return first
    if view.made("get_overview") is None and view.failed("get_overview") == "":
        return call("get_overview", why="look before planning")
    steps: list[dict[str, Any]] = []
    if intent.wishes:
        names = {one["id"]: one["name"] for one in view.classes}
        steps.append(step(view, "prefer", wishes=wish_words(language, intent.wishes, names)))
    if build:
        cover = {"tool": "rough_build", "task_class_ids": [one["id"] for one in waiting]}
        built = step(view, "build", classes=_names(view, waiting))
        steps.append(built if intent.rebuild else {**built, "covers": [cover]})
    if improve:
        steps.append(step(view, "improve"))
    mode = "first_full" if build and improve else "global_reopt" if improve else "local_adjust"
    text = say(language, "plan") if len(steps) > 1 else ""
    return call(
        "plan_done", text, "plan the work", steps=steps, mode=mode, context_hook=WISHING if intent.wishes else EDITING
    )


def step(view: View, kind: str, done: str = "", **values: object) -> dict[str, Any]:
    """A step of a plan in words that `executing` knows again."""
    language = view.language
    return {
        "content": say(language, f"step.{kind}", **values)[:400],
        "done_when": say(language, f"done.{done or kind}"),
    }


def _names(view: View, classes: Sequence[dict[str, Any]]) -> str:
    names = [f"「{one['name']}」" if view.language == "zh" else f"“{one['name']}”" for one in classes]
    return ("" if view.language == "zh" else ", ").join(names)


def _single(view: View, kind: str, **values: object) -> Reply:
    return call(
        "plan_done",
        why=f"plan: {kind}",
        steps=[step(view, kind, "edit", **values)],
        mode="local_adjust",
        context_hook=EDITING,
    )


def _undo(view: View, _: Intent) -> Reply:
    return _single(view, "undo")


def _apply(view: View, _: Intent) -> Reply:
    return _single(view, "apply")


def _listing(view: View) -> Reply | list[TaskLine]:
    """The tasks of the timetable, by the read that lists them."""
    first = opened(view, "query_target_tasks")
    if first is not None:
        return first
    listed = view.made("query_target_tasks", limit=MANY)
    if listed is None:
        if view.failed("query_target_tasks"):
            return words(_reason(view), "query failed")
        return call("query_target_tasks", why="find the task", category="task", limit=MANY)
    tasks = tasks_in(listed.result)
    for more in view.calls:
        if more.name == "query_target_tasks" and more is not listed:
            tasks += [task for task in tasks_in(more.result) if task.id not in {one.id for one in tasks}]
    return tasks


def _found(view: View, phrase: str, tasks: Sequence[TaskLine]) -> TaskLine | Reply:
    """The one task that a phrase means, or the question which one; a listing that was cut is asked again by class."""
    matches = find_tasks(phrase, tasks)
    if len(matches) == 1:
        return matches[0]
    if not matches:
        for class_id in named_classes(phrase, view.classes):
            if view.made("query_target_tasks", category=str(class_id)) is None and identity_of(phrase) is None:
                return call("query_target_tasks", why="the listing may be cut", category=str(class_id), limit=MANY - 1)
        near = [task for task in tasks if task.klass in _classes_named(view, phrase)] or list(tasks)
        return ask(
            say(view.language, "ask.not_found", phrase=phrase), *(task.label for task in near[:8]), why="not found"
        )
    return ask(say(view.language, "ask.which_task"), *(task.label for task in matches), why="several match")


def _classes_named(view: View, phrase: str) -> set[str]:
    ids = named_classes(phrase, view.classes)
    return {one["name"] for one in view.classes if one["id"] in ids}


def _move(view: View, intent: Intent) -> Reply:
    language = view.language
    if not view.classes:
        return words(say(language, "no_schedule"), "no classes")
    tasks = _listing(view)
    if isinstance(tasks, Reply):
        return tasks
    if not intent.phrases:
        return ask(say(language, "ask.which_task"), *(task.label for task in tasks[:8]), why="no task named")
    task = _found(view, intent.phrases[0], tasks)
    if isinstance(task, Reply):
        return task
    if not intent.when:
        return ask(say(language, "ask.where", task=task.label), why="no time named")
    spot = _spot(view, intent, task)
    if isinstance(spot, Reply):
        return spot
    return _single(view, "place" if task.pending else "move", task=task.label, place=spot.words)


def _spot(view: View, intent: Intent, task: TaskLine) -> Spot | Reply:
    """The legal place nearest to where the task stands that the words allow, or the question for another."""
    language = view.language
    if view.failed("query_available_slots") in ("locked", "unknown_task"):
        return words(say(language, "locked", task=task.label), "locked")
    wanted = {"for_task_id": task.id, "limit": MANY, **intent.when.filters(view)}
    asked = view.made("query_available_slots", **wanted)
    if asked is None:
        return call("query_available_slots", why="where may it go", **wanted)
    days = set(intent.when.days(view)) if intent.when.names_day else None
    bounds = intent.when.sections
    spots = [spot for spot in spots_in(asked.result) if days is None or spot.day in days]
    if bounds is not None:
        spots = [spot for spot in spots if spot.start == bounds[0]]
    spot = nearest(spots, task)
    if spot is not None:
        return spot
    every = view.made("query_available_slots", for_task_id=task.id, limit=MANY - 1)
    if every is None:
        return call("query_available_slots", why="where else", for_task_id=task.id, limit=MANY - 1)
    others = spots_in(every.result)
    if not others:
        return words(say(language, "ask.no_place_at_all", task=task.label), "no place")
    wished = days or {task.day or 1}
    others.sort(key=lambda one: (min(abs(one.day - day) for day in wished), one.day, one.start))
    return ask(say(language, "ask.no_place", task=task.label), *(one.words for one in others[:6]), why="no legal place")


def _swap(view: View, intent: Intent) -> Reply:
    tasks = _listing(view)
    if isinstance(tasks, Reply):
        return tasks
    pair: list[TaskLine] = []
    for phrase in intent.phrases:
        task = _found(view, phrase, tasks)
        if isinstance(task, Reply):
            return task
        pair.append(task)
    return _single(view, "swap", task=pair[0].label, other=pair[1].label)


def _unplace(view: View, intent: Intent) -> Reply:
    tasks = _listing(view)
    if isinstance(tasks, Reply):
        return tasks
    task = _found(view, intent.phrases[0], tasks)
    return task if isinstance(task, Reply) else _single(view, "unplace", task=task.label)


def _where(view: View, intent: Intent) -> Reply:
    tasks = _listing(view)
    if isinstance(tasks, Reply):
        return tasks
    matches = find_tasks(intent.phrases[0], tasks)
    if not matches:
        found = _found(view, intent.phrases[0], tasks)
        return found if isinstance(found, Reply) and found.name != "ask_user" else words(say(view.language, "unknown"))
    return words("\n".join(f"{task.label}{task.line}" for task in matches[:12]), "told the places")


def _day(view: View, intent: Intent) -> Reply:
    language = view.language
    window = view.facts.get("window")
    if not window:
        return words(say(language, "no_schedule"), "no timetable")
    first = opened(view, "query_range", "detail_read")
    if first is not None:
        return first
    days = intent.when.days(view)
    if not intent.when.names_day:
        return words(say(language, "which_day"), "no day named")
    if not days:
        return words(say(language, "not_in_window", first=window["first"], last=window["last"]), "outside")
    bounds = intent.when.bounds(view)
    told: list[str] = []
    for day in days[: 7 if intent.when.shift is not None or intent.when.week is not None else 1]:
        wanted: dict[str, Any] = {"day": day}
        if bounds is not None:
            wanted |= {"start": bounds[0], "end": min(bounds[1], window["sections"])}
        asked = view.made("query_range", **wanted)
        if asked is None:
            if view.failed("query_range"):
                return words(_reason(view), "query failed")
            return call("query_range", why="look at the day", **wanted)
        told.append(asked.result)
    return words("\n\n".join(told), "told the day")


def _free(view: View, intent: Intent) -> Reply:
    language = view.language
    window = view.facts.get("window")
    if not window:
        return words(say(language, "no_schedule"), "no timetable")
    if intent.when.names_day and not intent.when.days(view):
        return words(say(language, "not_in_window", first=window["first"], last=window["last"]), "outside")
    first = opened(view, "query_available_slots")
    if first is not None:
        return first
    wanted = {"span": 2, "limit": 12, "allow_embed": False, **intent.when.filters(view)}
    asked = view.made("query_available_slots", **wanted)
    if asked is None:
        if view.failed("query_available_slots"):
            return words(_reason(view), "query failed")
        return call("query_available_slots", why="look for free places", **wanted)
    spots = spots_in(asked.result)
    return words(asked.result if spots else say(language, "no_free"), "told the free places")


def _status(view: View, _: Intent) -> Reply:
    if not view.classes:
        return words(say(view.language, "no_schedule"), "no classes")
    first = opened(view, "get_overview")
    if first is not None:
        return first
    asked = view.made("get_overview")
    if asked is None:
        if view.failed("get_overview"):
            return words(_reason(view), "query failed")
        return call("get_overview", why="look at everything")
    lines = [line for line in asked.result.split("\n") if not re.match(r"D\d+ ", line)]
    return words("\n".join(lines), "told the overview")


def _health(view: View, _: Intent) -> Reply:
    if not view.classes:
        return words(say(view.language, "no_schedule"), "no classes")
    first = opened(view, "analyze_health", "analyze")
    if first is not None:
        return first
    asked = view.made("analyze_health")
    if asked is None:
        if view.failed("analyze_health"):
            return words(_reason(view), "judge failed")
        return call("analyze_health", why="ask the judge")
    return words(_health_words(view, asked.result), "told the health")


def _health_words(view: View, result: str) -> str:
    try:
        envelope: dict[str, Any] = json.loads(result)
        metrics, issues = envelope["metrics"], envelope["issues"]
        problem = envelope["decision"]["primary_problem"]
        primary = say(view.language, "health.primary", summary=problem["summary"]) if problem else ""
        count = sum(issue["severity"] != "info" for issue in issues)
        return say(
            view.language, "health", cost=metrics["cost"], pending=metrics["pending"], issues=count, primary=primary
        )
    except (ValueError, KeyError, TypeError):
        return result


def _reason(view: View) -> str:
    failure = view.failures[-1] if view.failures else ""
    return say(view.language, "failed", reason=failure.partition("：")[2] or failure)


HANDLERS = {
    "hello": _hello,
    "stop": _stop,
    "yes": _yes,
    "work": _work,
    "move": _move,
    "swap": _swap,
    "unplace": _unplace,
    "undo": _undo,
    "apply": _apply,
    "day": _day,
    "free": _free,
    "where": _where,
    "status": _status,
    "health": _health,
}
