"""Why a placement is refused: what is asked for, what there is, who competes, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from newagent.schedule.cost import span_mask
from newagent.schedule.model import ScheduleState
from newagent.schedule.placement.problem import Problem, compile_problem
from newagent.schedule.placement.relaxations import Relaxation, helpful
from newagent.schedule.placement.solve import remainder, solve

Code = Literal["infeasible", "blocked", "undecided"]

TRIAL = 8
"""Trying one relaxation may cost this part of the nodes of the question itself."""


@dataclass(frozen=True)
class Shortage:
    """A set of classes with the sections that their items need and the sections of their legal places together."""

    class_ids: tuple[int, ...]
    required: int
    available: int


@dataclass(frozen=True)
class PlacementReport:
    """A refused placement; every number is in sections.

    `classes` holds each class in scope with what of it stays unplaced at the least; `conflicts` inclusion-minimal sets
    of classes that cannot be placed together; `gap` what cannot be placed of all.
    """

    code: Code
    total: Shortage
    gap: int
    classes: tuple[tuple[Shortage, int], ...]
    conflicts: tuple[Shortage, ...]
    relaxations: tuple[Relaxation, ...]

    def as_json(self) -> dict[str, Any]:
        """The report as a JSON document."""
        return {
            "code": self.code,
            "required_sections": self.total.required,
            "available_sections": self.total.available,
            "capacity_gap": self.gap,
            "classes": [
                {
                    "task_class_id": shortage.class_ids[0],
                    "required": shortage.required,
                    "available": shortage.available,
                    "unplaced": unplaced,
                }
                for shortage, unplaced in self.classes
            ],
            "conflicts": [
                {
                    "task_class_ids": list(shortage.class_ids),
                    "required": shortage.required,
                    "available": shortage.available,
                }
                for shortage in self.conflicts
            ],
            "relaxations": [dict(relaxation) for relaxation in self.relaxations],
        }


def gap_of(problem: Problem, left: Sequence[int]) -> int:
    """Sections of the items that are left out."""
    return sum(problem.items[number].duration for number in left)


def blocking(state: ScheduleState, class_ids: Sequence[int], nodes: int) -> Code | tuple[int, ...]:
    """Why the items of the classes cannot all be placed although no search was given up: the classes whose suggested
    items would have to move too (none larger than needed), or `infeasible` or `undecided`."""
    everyone = [task_class.id for task_class in state.task_classes]
    status = solve(compile_problem(state, class_ids, everyone), nodes).status
    if status != "feasible":
        return status

    def runs(ids: Sequence[int]) -> bool:
        """Whether a rebuild of these classes works, which also places what is pending of them."""
        return solve(compile_problem(state, ids, ids), nodes).status == "feasible"

    def frees(ids: Sequence[int]) -> bool:
        """Whether it is enough that the suggested items of these classes move."""
        return solve(compile_problem(state, class_ids, ids), nodes).status == "feasible"

    works = runs if runs(everyone) else frees
    others = [class_id for class_id in everyone if class_id not in class_ids]
    for candidate in list(others):
        fewer = [other for other in others if other != candidate]
        if works(sorted([*class_ids, *fewer])):
            others = fewer
    return tuple(sorted([*class_ids, *others]))


def explain(
    state: ScheduleState, class_ids: Sequence[int], rebuild: bool, nodes: int, problem: Problem, code: Code | None
) -> PlacementReport:
    """The report of a placement that was found impossible, or not decided within the budget (`code` undecided)."""
    freed: tuple[int, ...] = tuple(class_ids) if rebuild else ()
    relaxations: list[Relaxation] = []
    if code is None:
        cause = blocking(state, class_ids, nodes)
        if isinstance(cause, tuple):
            code = "blocked"
            relaxations.append({"kind": "rebuild", "task_class_ids": list(cause)})
        else:
            code = cause

    def helps(relaxed: ScheduleState) -> bool:
        return solve(compile_problem(relaxed, class_ids, freed), nodes // TRIAL, thorough=False).status == "feasible"

    left = remainder(problem, nodes)
    gap = gap_of(problem, left)
    relaxations.extend(helpful(state, class_ids, [problem.items[number].task_id for number in left], helps))
    unplaced: dict[int, int] = {}
    for number in left:
        item = problem.items[number]
        unplaced[item.klass] = unplaced.get(item.klass, 0) + item.duration
    scope = [klass for klass, task_class in enumerate(state.task_classes) if task_class.id in class_ids]
    return PlacementReport(
        code,
        shortage(problem, scope),
        gap,
        tuple((shortage(problem, [klass]), unplaced.get(klass, 0)) for klass in scope),
        _conflicts(problem, nodes // TRIAL) if code != "undecided" else (),
        tuple(relaxations),
    )


def shortage(problem: Problem, classes: Sequence[int]) -> Shortage:
    """What the free items of some classes (by index) need, and the union of their legal places."""
    numbers = [number for klass in classes for number in problem.of_class.get(klass, ())]
    days = [0] * (problem.days + 1)
    for item in {replace(problem.items[n], task_id=0, rank=0) for n in numbers}:
        for day in range(1, problem.days + 1):
            for start in problem.starts(item, day):
                days[day] |= span_mask(start, item.duration)
        if (home := problem.home_start(item)) is not None:
            days[home[0]] |= span_mask(home[1], item.duration)
    return Shortage(
        tuple(problem.state.task_classes[klass].id for klass in classes),
        gap_of(problem, numbers),
        sum(mask.bit_count() for mask in days),
    )


def _conflicts(problem: Problem, nodes: int) -> tuple[Shortage, ...]:
    """A minimal set of classes whose free items cannot be placed together: each class is left out if what remains is
    still impossible."""
    kept = list(problem.of_class)
    for klass in list(kept):
        fewer = [other for other in kept if other != klass]
        if fewer and solve(_only(problem, fewer), nodes, thorough=False).status == "infeasible":
            kept = fewer
    return (shortage(problem, kept),)


def _only(problem: Problem, classes: Sequence[int]) -> Problem:
    return replace(problem, items=tuple(item for item in problem.items if item.klass in classes))
