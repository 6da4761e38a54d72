"""The two questions to placement: put everything in (`rough_build`), or tell whether it would fit (`feasibility`)."""

from __future__ import annotations

from collections.abc import Sequence

from newagent.schedule.cost import evaluate
from newagent.schedule.edits import Edited, finish
from newagent.schedule.model import ScheduleState, Slot
from newagent.schedule.placement.optimise import optimise
from newagent.schedule.placement.plan import Plan
from newagent.schedule.placement.problem import Place, Problem, compile_problem
from newagent.schedule.placement.report import PlacementReport, blocking, explain, gap_of
from newagent.schedule.placement.solve import remainder, solve
from newagent.schedule.rules import Violation

NODES = 200_000
"""Search nodes that one question about items of mixed lengths may cost."""
BUDGET, ITEM_BUDGET = 300_000, 10_000
"""Steps of optimisation, at least and for each item."""


def rough_build(
    state: ScheduleState, class_ids: Sequence[int], *, rebuild: bool = False, nodes: int = NODES
) -> Edited | PlacementReport | Violation:
    """Places every pending item of the classes, all or none; with `rebuild` their suggested items may move too.

    A placement exists: the new state and its changes. None does, or none was found within `nodes`: a report, and the
    caller's state stands. Unknown classes are a `Violation`.
    """
    unknown = [class_id for class_id in class_ids if class_id not in state.class_by_id]
    if unknown:
        return Violation("invalid_args", f"there is no task class {unknown[0]}")
    scope = sorted(set(class_ids))
    problem = compile_problem(state, scope, scope if rebuild else ())
    homes = [item.home for item in problem.items if item.home is not None]
    if len(homes) == len(problem.items):
        return _better(problem, homes)
    answer = solve(problem, nodes)
    if answer.status != "feasible":
        code = None if answer.status == "infeasible" else answer.status
        return explain(state, scope, rebuild, nodes, problem, code)
    return _carried_out(problem, _improved(problem, answer.places))


def feasibility(state: ScheduleState, class_ids: Sequence[int], nodes: int = NODES) -> tuple[bool | None, int, str]:
    """Whether the pending items of the classes can be placed: (is_feasible, capacity gap in sections, reason code).

    `ok`: they can. `blocked`: only if suggested items move too. `capacity`: not even then; this alone is not feasible.
    `undecided` (None): not known within the budget of nodes.
    """
    scope = sorted(set(class_ids))
    problem = compile_problem(state, scope)
    status = solve(problem, nodes).status
    if status == "feasible":
        return True, 0, "ok"
    gap = gap_of(problem, remainder(problem, nodes))
    if status == "undecided":
        return None, gap, "undecided"
    cause = blocking(state, scope, nodes)
    if isinstance(cause, tuple):
        return True, gap, "blocked"
    return (False, gap, "capacity") if cause == "infeasible" else (None, gap, "undecided")


def _better(problem: Problem, homes: Sequence[Place]) -> Edited | Violation:
    """The placement of items that all stand already: a cheaper one, or the state as it is."""
    state = problem.state
    outcome = _carried_out(problem, _improved(problem, homes)) if homes else Edited(state, ())
    if isinstance(outcome, Edited) and evaluate(outcome.state).key >= evaluate(state).key:
        return Edited(state, ())
    return outcome


def _improved(problem: Problem, places: Sequence[Place]) -> Sequence[Place]:
    """A near-optimal placement, from any."""
    if all(problem.on_grid(item, place) for item, place in zip(problem.items, places, strict=True)):
        problem = problem.without_homes()
    plan = Plan(problem, places)
    optimise(plan, BUDGET + ITEM_BUDGET * len(problem.items))
    return plan.places()


def _carried_out(problem: Problem, places: Sequence[Place]) -> Edited | Violation:
    """The placement as an edit; every rule is checked once more on the result."""
    targets: dict[int, Slot | None] = {}
    for item, (day, start) in zip(problem.items, places, strict=True):
        if item.home != (day, start):
            targets[item.task_id] = Slot(day=day, start=start, end=start + item.duration - 1)
    return finish(problem.state, targets, "agent")
