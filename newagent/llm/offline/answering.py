"""Questions about the timetable, answered by one read each: a day, free time, a task's place, the whole, its health."""

from __future__ import annotations

import json
import re
from typing import Any

from newagent.llm.offline.answer import Reply, call, words
from newagent.llm.offline.facts import View
from newagent.llm.offline.intents import Intent
from newagent.llm.offline.locating import listing, the_task
from newagent.llm.offline.naming import find_tasks
from newagent.llm.offline.places import spots_in
from newagent.llm.offline.steps import opened
from newagent.llm.offline.texts import say

MOST_DAYS = 7


def day(view: View, intent: Intent) -> Reply:
    """What is on a day, or on each day of a week."""
    language, window = view.language, view.facts.window
    if window is None:
        return words(say(language, "no_schedule"))
    days = intent.when.days(view)
    if not days:
        return words(say(language, "not_in_window", first=window.first, last=window.last))
    first = opened(view, "query_range", "detail_read")
    if first is not None:
        return first
    bounds = intent.when.bounds(view)
    whole_week = intent.when.shift is not None or intent.when.week is not None
    told: list[str] = []
    for number in days[: MOST_DAYS if whole_week else 1]:
        wanted: dict[str, Any] = {"day": number}
        if bounds is not None:
            wanted |= {"start": bounds[0], "end": min(bounds[1], window.sections)}
        asked = view.made("query_range", **wanted)
        if asked is None:
            return call("query_range", **wanted)
        told.append(asked.result)
    return words("\n\n".join(told))


def free(view: View, intent: Intent) -> Reply:
    """When there is room for two sections in a row."""
    language, window = view.language, view.facts.window
    if window is None:
        return words(say(language, "no_schedule"))
    if not intent.when.days(view):
        return words(say(language, "not_in_window", first=window.first, last=window.last))
    first = opened(view, "query_available_slots")
    if first is not None:
        return first
    wanted = {"span": 2, "limit": 12, "allow_embed": False, **intent.when.filters(view)}
    asked = view.made("query_available_slots", **wanted)
    if asked is None:
        return call("query_available_slots", **wanted)
    return words(asked.result if spots_in(asked.result) else say(language, "no_free"))


def where(view: View, intent: Intent) -> Reply:
    """Where a task stands."""
    tasks = listing(view)
    if isinstance(tasks, Reply):
        return tasks
    matches = find_tasks(intent.phrases[0], tasks)
    if not matches:
        found = the_task(view, intent.phrases[0], tasks)
        assert isinstance(found, Reply), "what matches nothing is listed or asked about"
        return found
    return words("\n".join(f"{task.label}{task.line}" for task in matches[:12]))


def status(view: View, _: Intent) -> Reply:
    """How much is placed and what is not."""
    if not view.facts.classes:
        return words(say(view.language, "no_schedule"))
    first = opened(view, "get_overview")
    if first is not None:
        return first
    asked = view.made("get_overview")
    if asked is None:
        return call("get_overview")
    lines = [line for line in asked.result.split("\n") if not re.match(r"D\d+ ", line)]
    return words("\n".join(lines))


def health(view: View, _: Intent) -> Reply:
    """What the judge finds wrong."""
    if not view.facts.classes:
        return words(say(view.language, "no_schedule"))
    first = opened(view, "analyze_health", "analyze")
    if first is not None:
        return first
    asked = view.made("analyze_health")
    if asked is None:
        return call("analyze_health")
    return words(_health_words(view, asked.result))


def _health_words(view: View, result: str) -> str:
    try:
        envelope: dict[str, Any] = json.loads(result)
        metrics, problem = envelope["metrics"], envelope["decision"]["primary_problem"]
        count = sum(issue["severity"] != "info" for issue in envelope["issues"])
        primary = say(view.language, "health.primary", summary=problem["summary"]) if problem and count else ""
        return say(
            view.language, "health", cost=metrics["cost"], pending=metrics["pending"], issues=count, primary=primary
        )
    except (ValueError, KeyError, TypeError):
        return result
