"""Placement against the proven optimum: how near, how fast, and how its time grows.

    python -m benchmarks.placement [--quick] [--instances N] [--seconds S] [--workers W] [--out DIR]

Prints one table and writes `placement.json` and `placement.png` to the directory. Ratios are of the cost less its
constant part, which is what the courses and fixed items cost before anything is placed. Times are seconds of CPU.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.exact import optimum
from benchmarks.instances import Recipe, draw, varied
from newagent.schedule.cost import evaluate
from newagent.schedule.edits import Edited
from newagent.schedule.model import ScheduleState
from newagent.schedule.placement import rough_build
from newagent.schedule.rules import state_faults

GROWTH_ITEMS = (10, 25, 50, 100, 200, 400)
GROWTH_WEEKS = (1, 2, 5, 10, 16, 25)
ITEMS_WEEKS, WEEKS_ITEMS = 25, 30
"""Weeks of the instances that grow in items, and items of those that grow in weeks."""


def timed(state: ScheduleState, runs: int = 3) -> tuple[int, float]:
    """The cost of a placement of everything, checked against all rules, and the least time of several runs."""
    ids = [task_class.id for task_class in state.task_classes]
    times: list[float] = []
    cost = 0
    for _ in range(runs):
        started = time.process_time()
        outcome = rough_build(state, ids)
        times.append(time.process_time() - started)
        assert isinstance(outcome, Edited)
        assert not outcome.state.pending
        assert not state_faults(outcome.state)
        cost = evaluate(outcome.state).cost
    return cost, min(times)


def compare(seed: int, seconds: float) -> dict[str, Any]:
    """One instance: placement and, within `seconds`, the exact solver."""
    state = varied(seed)
    constant = evaluate(state).cost
    cost, spent = timed(state)
    best = optimum(state, seconds)
    courses = sum(slot.end - slot.start + 1 for course in state.courses for slot in course.slots)
    row: dict[str, Any] = {
        "seed": seed,
        "items": len(state.items),
        "weeks": len(state.window.days) // 7,
        "classes": len(state.task_classes),
        "occupancy": round(2 * len(state.items) / (12 * len(state.window.days) - courses), 3),
        "constant": constant,
        "cost": cost,
        "seconds": round(spent, 4),
        "proven": best is not None and best.status == "optimal",
    }
    if best is not None:
        row |= {"exact_seconds": round(best.seconds, 3), "columns": best.columns}
        if row["proven"]:
            least = round(best.best)
            ratio = (cost - constant) / (least - constant) if least > constant else float(cost == least) or None
            row |= {"optimum": least, "gap": cost - least, "ratio": ratio and round(ratio, 5)}
    return row


def growth() -> dict[str, list[dict[str, Any]]]:
    """Time over items in a long window, and over weeks with few items."""
    by_items = [(items, ITEMS_WEEKS, timed(draw(1, Recipe(items, ITEMS_WEEKS, 0.5)))) for items in GROWTH_ITEMS]
    by_weeks = [(WEEKS_ITEMS, weeks, timed(draw(2, Recipe(WEEKS_ITEMS, weeks, 0.7)))) for weeks in GROWTH_WEEKS]
    return {
        name: [
            {"items": items, "weeks": weeks, "cost": cost, "seconds": round(spent, 4)}
            for items, weeks, (cost, spent) in rows
        ]
        for name, rows in (("items", by_items), ("weeks", by_weeks))
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures that the benchmark is for."""
    proven = [row for row in rows if row["proven"]]
    ratios = [row["ratio"] for row in proven if row["ratio"] is not None]
    slow = [row for row in proven if row["exact_seconds"] > 1]
    speed = [row["exact_seconds"] / row["seconds"] for row in slow]
    return {
        "instances": len(rows),
        "proven": len(proven),
        "optimal": sum(row["gap"] == 0 for row in proven),
        "mean_ratio": round(mean(ratios), 5),
        "worst_ratio": round(max(ratios), 5),
        "beyond_limits": sum(row["gap"] > 4 and (row["ratio"] is None or row["ratio"] > 1.03) for row in proven),
        "mean_seconds": round(mean(row["seconds"] for row in rows), 3),
        "worst_seconds": round(max(row["seconds"] for row in rows), 3),
        "exact_over_a_second": len(slow),
        "least_speedup": round(min(speed), 1) if speed else None,
        "median_speedup": round(median(speed), 1) if speed else None,
    }


def table(rows: list[dict[str, Any]], figures: dict[str, Any], grown: dict[str, list[dict[str, Any]]]) -> str:
    """Everything as text."""
    lines = ["seed items weeks classes  occ.     cost  optimum   ratio   seconds   exact s"]
    for row in rows:
        least = row.get("optimum", "-")
        ratio = row.get("ratio")
        lines.append(
            f"{row['seed']:4} {row['items']:5} {row['weeks']:5} {row['classes']:7} {row['occupancy']:5.2f} "
            f"{row['cost']:8} {least:>8} {f'{ratio:.4f}' if ratio else '-':>7} {row['seconds']:9.3f} "
            f"{row.get('exact_seconds', '-'):>9}"
        )
    for name, points in grown.items():
        lines.append(f"growth in {name}: " + ", ".join(f"{one[name]}: {one['seconds']:.3f} s" for one in points))
    lines.extend(f"{name:20} {value}" for name, value in figures.items())
    return "\n".join(lines)


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="12 instances and 10 seconds for each proof")
    parser.add_argument("--instances", type=int, help="how many instances (100)")
    parser.add_argument("--seconds", type=float, help="what the exact solver may take for each (60)")
    parser.add_argument("--workers", type=int, default=1, help="processes; times are of CPU, so more hardly distort")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="where the results go")
    given = parser.parse_args()
    count = given.instances or (12 if given.quick else 100)
    seconds = given.seconds or (10.0 if given.quick else 60.0)
    grown = growth()
    with ProcessPoolExecutor(given.workers) as pool:
        rows = list(pool.map(partial(compare, seconds=seconds), range(count)))
    figures = summary(rows)
    print(table(rows, figures, grown))
    given.out.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "machine": platform.machine(), "exact_limit": seconds}
    document = {"machine": machine, "summary": figures, "growth": grown, "instances": rows}
    (given.out / "placement.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    from benchmarks.placement_picture import draw_picture

    draw_picture(document, given.out / "placement.png")


if __name__ == "__main__":
    main()
