"""Single edits named by the user: planned with the reads they need, tried, and where refused another place offered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from newagent.llm.offline.answer import Reply, ask, call, finish, give_up
from newagent.llm.offline.facts import Call, View
from newagent.llm.offline.intents import Intent
from newagent.llm.offline.locating import MANY, OFFERED, listing, the_spot, the_task
from newagent.llm.offline.naming import TaskLine
from newagent.llm.offline.places import Spot, spot_in, spots_in
from newagent.llm.offline.steps import opened, single, stops
from newagent.llm.offline.texts import say
from newagent.llm.offline.when import When, when_of

TOOLS = {
    "move": "move",
    "place": "place",
    "swap": "swap",
    "unplace": "unplace",
    "undo": "undo_last",
    "apply": "apply_preview",
}


def plan_move(view: View, intent: Intent) -> Reply:
    """Moving a task to a time, or placing one that has no place yet."""
    tasks = listing(view)
    if isinstance(tasks, Reply):
        return tasks
    if not intent.phrases:
        labels = [task.label for task in tasks[:8]]
        return ask(say(view.language, "ask.which_task"), *labels)
    task = the_task(view, intent.phrases[0], tasks)
    if isinstance(task, Reply):
        return task
    if not intent.when:
        return ask(say(view.language, "ask.where", task=task.label))
    spot = the_spot(view, intent.when, task)
    if isinstance(spot, Reply):
        return spot
    return single(view, "place" if task.pending else "move", task=task.label, place=spot.words)


def plan_swap(view: View, intent: Intent) -> Reply:
    """Swapping two tasks."""
    tasks = listing(view)
    if isinstance(tasks, Reply):
        return tasks
    pair: list[TaskLine] = []
    for phrase in intent.phrases:
        task = the_task(view, phrase, tasks)
        if isinstance(task, Reply):
            return task
        pair.append(task)
    return single(view, "swap", task=pair[0].label, other=pair[1].label)


def plan_unplace(view: View, intent: Intent) -> Reply:
    """Taking a task out of the preview."""
    tasks = listing(view)
    if isinstance(tasks, Reply):
        return tasks
    task = the_task(view, intent.phrases[0], tasks)
    return task if isinstance(task, Reply) else single(view, "unplace", task=task.label)


def plan_undo(view: View, _: Intent) -> Reply:
    """Taking back the last change."""
    return single(view, "undo")


def plan_apply(view: View, _: Intent) -> Reply:
    """Writing the preview into the timetable."""
    return single(view, "apply")


def edit(view: View, kind: str, content: str) -> Reply:
    """The decision of a round that carries an edit out."""
    language, tool = view.language, TOOLS[kind]
    made = [one for one in view.in_step if one.name in (tool, "ask_user")]
    last = made[-1] if made else None
    check = say(language, "check.edit")
    if last is not None and last.name == tool and not last.rejected:
        return finish(False, check)
    ids = [int(number) for number in re.findall(r"#(\d+)", content)]
    if kind in ("move", "place") and ids:
        if last is not None and stops(view, last.words):
            return finish(False, check, say(language, "say.stop"))
        return _place(view, tool, ids[0], content, last)
    if last is not None:
        return finish(False, check, say(language, "say.stop"))
    if view.failed(tool):
        return give_up(say(language, "cannot", reason=view.reason), view.failed(tool), view.reason)
    return _open(view, tool) or call(tool, **_arguments(kind, ids))


def _arguments(kind: str, ids: Sequence[int]) -> dict[str, Any]:
    if kind == "swap" and len(ids) == 2:
        return {"task_a": ids[0], "task_b": ids[1]}
    return {"task_id": ids[0]} if kind == "unplace" and ids else {}


def _open(view: View, tool: str) -> Reply | None:
    return opened(view, tool, "mutation", "analyze")


def _place(view: View, tool: str, task_id: int, content: str, last: Call | None) -> Reply:
    """The place of the plan first, then what the user chose or described, then a question with the nearest ones."""
    language, failed = view.language, view.failed(tool)
    spot = spot_in(content) if last is None else spot_in(last.words) if last.name == "ask_user" else None
    if spot is not None and not failed:
        return _open(view, tool) or _put(view, tool, task_id, spot)
    when = when_of(last.words) if last is not None else When()
    wanted: dict[str, Any] = {"for_task_id": task_id, "limit": MANY - 2, **when.filters(view)}
    asked = view.made("query_available_slots", **wanted)
    if asked is None:
        if view.failed("query_available_slots"):
            return give_up(say(language, "cannot", reason=view.reason), "no_place", view.reason)
        return _open(view, "query_available_slots") or call("query_available_slots", **wanted)
    tried = {(one.arguments.get("day"), one.arguments.get("start")) for one in view.calls if one.name == tool}
    days = set(when.days(view))
    around = spot_in(content) or Spot(1, 1, 1, "")
    spots = [one for one in spots_in(asked.result) if (one.day, one.start) not in tried and one.day in days]
    spots.sort(key=lambda one: (abs(one.day - around.day), one.day, one.start))
    if when and spots and not failed:
        return _put(view, tool, task_id, spots[0])
    if failed:
        text = say(language, "ask.failed", reason=view.reason)
    elif spots:
        text = say(language, "ask.other_place")
    else:
        text = say(language, "ask.no_place_at_all", task=f"#{task_id}")
    offered = [one.words for one in spots[:OFFERED]]
    return ask(text, *offered, say(language, "option.keep"))


def _put(view: View, tool: str, task_id: int, spot: Spot) -> Reply:
    said = say(view.language, "say.move", task=f"#{task_id}", place=spot.words)
    return call(tool, said, task_id=task_id, day=spot.day, start=spot.start)
