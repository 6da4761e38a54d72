"""Whether the free items of a problem can all be placed: by matching where that is exact, else by search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from newagent.schedule.placement.exact import Budget, search
from newagent.schedule.placement.matching import greatest, places_of, spread_out, unit_length, units
from newagent.schedule.placement.problem import Place, Problem

Status = Literal["feasible", "infeasible", "undecided"]


@dataclass(frozen=True)
class Answer:
    """What is known of a full placement, and one in the order of the problem's items where it exists."""

    status: Status
    places: tuple[Place, ...] = ()


def solve(problem: Problem, nodes: int, thorough: bool = True) -> Answer:
    """Places every item or tells that none such exists; `undecided` only for lengths other than 1 and 2, or mixed.

    A thorough answer is undecided only if a search that may leave items out fails as well.
    """
    if not problem.items:
        return Answer("feasible")
    if any(item.barred for item in problem.items):
        return Answer("infeasible")
    if unit_length(problem) is not None:
        given = units(problem)
        matching = spread_out(problem, given, targets(problem))
        if not isinstance(matching, frozenset):
            return Answer("feasible", tuple(places_of(problem, given, matching)))
        if not any(map(problem.home_start, problem.items)):
            return Answer("infeasible")
    numbers = range(len(problem.items))
    for skipping in (False, True) if thorough else (False,):
        verdict = search(problem, numbers, Budget(nodes), skipping)
        places = [place for place in verdict.places or () if place is not None]
        if len(places) == len(numbers):
            return Answer("feasible", tuple(places))
        if verdict.proven:
            return Answer("infeasible")
    return Answer("undecided")


def remainder(problem: Problem, nodes: int) -> tuple[int, ...]:
    """The numbers of the items that must stay unplaced, the last of each class first; for lengths other than 1 and 2 as
    few sections as `nodes` allow to find."""
    if unit_length(problem) is not None and not any(map(problem.home_start, problem.items)):
        return tuple(sorted(greatest(units(problem), by_importance(problem))[1]))
    barred = [number for number, item in enumerate(problem.items) if item.barred]
    open_items = [number for number, item in enumerate(problem.items) if not item.barred]
    verdict = search(problem, open_items, Budget(nodes), skipping=True)
    assert verdict.places is not None, "a search that may skip always has a result"
    return tuple(sorted([*barred, *(number for number in open_items if verdict.places[number] is None)]))


def by_importance(problem: Problem) -> list[int]:
    """The items in the order in which they should be served when not all can be: the last of each class last."""
    after: dict[int, int] = {}
    for numbers in problem.of_class.values():
        after.update((number, len(numbers) - index) for index, number in enumerate(numbers))
    return sorted(after, key=lambda number: (-after[number], number))


def targets(problem: Problem) -> Sequence[int]:
    """The day that each item would like best, were it alone: its even share of a steady class, day one of a rapid."""
    model = problem.model
    wanted: list[int] = [1] * len(problem.items)
    for klass, numbers in problem.of_class.items():
        traits = model.classes[klass]
        first = next((day for day in range(1, model.days) if traits.rank[day + 1]), model.days)
        count = problem.sizes[klass]
        for number in numbers:
            wanted[number] = first
            if traits.steady:
                rank = (2 * problem.items[number].rank - 1) * traits.eligible_days // (2 * count)
                wanted[number] = max(day for day in range(first, model.days + 1) if traits.rank[day] <= rank)
    return wanted
