"""The proven optimum of a placement by a mixed-integer program over day patterns, solved by HiGHS.

One binary column for each day and content (how many items of each class), priced with its cheapest layout; exactly one
a day. Cumulative counts tie the days of a class together, and since the spread of a steady class is the area between
two cumulative curves, one deviation variable for each class and eligible day prices it exactly.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import highspy
import numpy as np

from benchmarks.exact_days import Content, contents
from newagent.schedule import cost as c
from newagent.schedule.cost import CostModel, entries_by_day
from newagent.schedule.model import ScheduleState
from newagent.schedule.placement.problem import compile_problem

MOST_COLUMNS = 150_000


@dataclass(frozen=True)
class Optimum:
    """What the exact solver found: a bound that no placement undercuts, the best cost, and the time it took."""

    status: str
    bound: float
    best: float
    seconds: float
    columns: int


@dataclass
class _Rows:
    """A sparse matrix by rows, and the bounds of rows and columns as they grow."""

    price: list[float] = field(default_factory=list[float])
    integral: list[bool] = field(default_factory=list[bool])
    upper: list[float] = field(default_factory=list[float])
    starts: list[int] = field(default_factory=lambda: [0])
    index: list[int] = field(default_factory=list[int])
    value: list[float] = field(default_factory=list[float])
    low: list[float] = field(default_factory=list[float])
    high: list[float] = field(default_factory=list[float])

    def column(self, price: float, integral: bool = False, upper: float = highspy.kHighsInf) -> int:
        self.price.append(price)
        self.integral.append(integral)
        self.upper.append(upper)
        return len(self.price) - 1

    def row(self, terms: dict[int, float], low: float, high: float) -> None:
        self.index.extend(terms)
        self.value.extend(terms.values())
        self.starts.append(len(self.index))
        self.low.append(low)
        self.high.append(high)

    def solve(self, seconds: float) -> tuple[str, float, float]:
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.price), len(self.low)
        lp.col_cost_ = np.array(self.price)
        lp.col_lower_ = np.zeros(len(self.price))
        lp.col_upper_ = np.array(self.upper)
        lp.row_lower_, lp.row_upper_ = np.array(self.low), np.array(self.high)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.array(self.starts, dtype=np.int32)
        lp.a_matrix_.index_ = np.array(self.index, dtype=np.int32)
        lp.a_matrix_.value_ = np.array(self.value)
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[integral] for integral in self.integral]
        solver = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("time_limit", seconds),
            ("threads", 1),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 0.9),
        ):
            solver.setOptionValue(option, value)
        solver.passModel(lp)
        solver.run()
        info = solver.getInfo()
        status = solver.getModelStatus()
        optimal = status == highspy.HighsModelStatus.kOptimal
        return "optimal" if optimal else status.name, info.mip_dual_bound, info.objective_function_value


def optimum(state: ScheduleState, seconds: float = 60.0) -> Optimum | None:
    """The least cost with every pending item placed; None where the program would be too large.

    All items must be two sections long; suggested and existing ones stay. Costs are whole numbers, so a gap below one
    proves the optimum.
    """
    started = time.process_time()
    problem = compile_problem(state, [task_class.id for task_class in state.task_classes])
    model = problem.model
    columns = _day_columns(state, model)
    total = sum(map(len, columns.values()))
    if total > MOST_COLUMNS:
        return None
    rows = _Rows()
    of_day: dict[int, list[tuple[int, Content]]] = {}
    for day, priced in columns.items():
        of_day[day] = [(rows.column(price, True, 1.0), content) for content, price in priced.items()]
        rows.row({column: 1.0 for column, _ in of_day[day]}, 1.0, 1.0)
    constant = 0
    for klass in range(len(model.classes)):
        numbers = problem.of_class.get(klass, ())
        constant += _spread_rows(rows, state, model, klass, len(numbers), of_day)
    status, bound, best = rows.solve(seconds)
    spent = time.process_time() - started
    return Optimum(status, bound + constant, best + constant, spent, total)


def _day_columns(state: ScheduleState, model: CostModel) -> dict[int, dict[Content, int]]:
    """For each day its contents priced with layout and same-day pairs."""
    problem = compile_problem(state, [task_class.id for task_class in state.task_classes])
    fixed = entries_by_day(state, model)
    known: dict[Any, dict[Content, int]] = {}
    found: dict[int, dict[Content, int]] = {}
    for day in range(1, model.days + 1):
        starts = tuple(
            problem.class_starts(klass, 2)[day] if klass in problem.of_class else ()
            for klass in range(len(model.classes))
        )
        key = (model.course_mask[day], tuple(fixed[day]), starts)
        if key not in known:
            known[key] = {
                content: price + _pairs(model, content, key[1])
                for content, price in contents(model, key[0], sorted(fixed[day]), starts).items()
            }
        found[day] = known[key]
    return found


def _pairs(model: CostModel, content: Content, fixed: tuple[c.Entry, ...]) -> int:
    total = 0
    for klass, count in enumerate(content):
        count += sum(entry.klass == klass for entry in fixed)
        total += model.classes[klass].same_day_weight * (count * (count - 1) // 2)
    return total


def _spread_rows(
    rows: _Rows,
    state: ScheduleState,
    model: CostModel,
    klass: int,
    free: int,
    of_day: dict[int, list[tuple[int, Content]]],
) -> int:
    """The rows of a class's cumulative counts and deviations; returns the part of its spread that is constant."""
    traits = model.classes[klass]
    class_id = state.task_classes[klass].id
    fixed_days = [task.slot.day for task in state.items_of[class_id] if task.slot is not None]
    size = free + len(fixed_days)
    if not free:
        return model.class_terms(klass, fixed_days)[0]
    wanted = [(2 * k - 1) * traits.eligible_days // (2 * size) for k in range(1, size + 1)]
    previous: int | None = None
    constant = 0
    eligible = [day for day in range(1, model.days + 1) if state.task_classes[klass].admits(state.window.days[day - 1])]
    last = eligible[-1] if eligible else 0
    for day in eligible:
        here = {column: -float(content[klass]) for column, content in of_day[day] if content[klass]}
        done = rows.column(0.0)
        terms = {**here, done: 1.0}
        if previous is not None:
            terms[previous] = -1.0
        rows.row(terms, 0.0, 0.0)
        previous = done
        rank = traits.rank[day]
        settled = sum(traits.rank[day_] <= rank for day_ in fixed_days)
        if traits.steady:
            goal = sum(t <= rank for t in wanted) - settled
            deviation = rows.column(float(c.W_SPREAD))
            rows.row({deviation: 1.0, done: -1.0}, -goal, highspy.kHighsInf)
            rows.row({deviation: 1.0, done: 1.0}, goal, highspy.kHighsInf)
        else:
            rows.price[done] -= c.W_SPREAD
            constant += c.W_SPREAD * (size - settled)
        if day == last:
            rows.row({done: 1.0}, free, free)
    return constant
