"""Finding the task and the place that a sentence means, by the reads of the timetable; a question where it is open."""

from __future__ import annotations

from collections.abc import Sequence

from newagent.llm.offline.answer import Reply, ask, call, words
from newagent.llm.offline.facts import View
from newagent.llm.offline.naming import TaskLine, find_tasks, identity_of, named_classes, tasks_in
from newagent.llm.offline.places import Spot, nearest, spots_in
from newagent.llm.offline.steps import opened
from newagent.llm.offline.texts import say
from newagent.llm.offline.when import When

MANY = 200
SHOWN = 8
OFFERED = 6


def listing(view: View) -> Reply | list[TaskLine]:
    """The tasks of the timetable, or the read that lists them."""
    if not view.facts.classes:
        return words(say(view.language, "no_schedule"))
    first = opened(view, "query_target_tasks")
    if first is not None:
        return first
    if view.made("query_target_tasks", limit=MANY) is None:
        return call("query_target_tasks", category="task", limit=MANY)
    found: dict[int, TaskLine] = {}
    for one in view.calls:
        if one.name == "query_target_tasks":
            found.update({task.id: task for task in tasks_in(one.result)})
    return list(found.values())


def the_task(view: View, phrase: str, tasks: Sequence[TaskLine]) -> Reply | TaskLine:
    """The one task that a phrase means, or the question which one; a class whose lines were cut off is listed."""
    matches = find_tasks(phrase, tasks)
    if len(matches) == 1:
        return matches[0]
    if matches:
        return ask(say(view.language, "ask.which_task"), *(task.label for task in matches))
    named = named_classes(phrase, view.facts.classes)
    for class_id in named if identity_of(phrase) is None else ():
        if view.made("query_target_tasks", category=str(class_id)) is None:
            return call("query_target_tasks", category=str(class_id), limit=MANY - 1)
    names = {one.name for one in view.facts.classes if one.id in named}
    near = [task for task in tasks if task.klass in names] or tasks
    labels = [task.label for task in near[:SHOWN]]
    return ask(say(view.language, "ask.not_found", phrase=phrase), *labels)


def the_spot(view: View, when: When, task: TaskLine) -> Reply | Spot:
    """The legal place nearest to where a task stands that the words allow, or the question for another one."""
    wanted = {"for_task_id": task.id, "limit": MANY, **when.filters(view)}
    asked = view.made("query_available_slots", **wanted)
    if asked is None:
        if view.failed("query_available_slots"):
            return words(say(view.language, "locked", task=task.label))
        return call("query_available_slots", **wanted)
    days = set(when.days(view)) if when.names_day else None
    spots = [spot for spot in spots_in(asked.result) if days is None or spot.day in days]
    if when.sections is not None:
        spots = [spot for spot in spots if spot.start == when.sections[0]]
    spot = nearest(spots, task)
    if spot is not None:
        return spot
    every = view.made("query_available_slots", for_task_id=task.id, limit=MANY - 1)
    if every is None:
        return call("query_available_slots", for_task_id=task.id, limit=MANY - 1)
    others = spots_in(every.result)
    if not others:
        return words(say(view.language, "no_place_at_all", task=task.label))
    wished = days or {task.day or 1}
    others.sort(key=lambda one: (min(abs(one.day - day) for day in wished), one.day, one.start))
    text = say(view.language, "ask.no_place", task=task.label)
    return ask(text, *(one.words for one in others[:OFFERED]))
