"""The judge measured: its scan against brute force, following its first candidate, and whether placement agrees.

    python -m benchmarks.judge [--quick] [--out benchmarks/results]

One table on the screen, `judge.json` for machines and `judge.png` for people. Times are CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.exact import optimum
from benchmarks.instances import Recipe, draw, varied
from benchmarks.random_placements import random_placement
from newagent.schedule.cost import evaluate
from newagent.schedule.edits import Edited, Move, batch_move, move, swap
from newagent.schedule.judge import analyze_health
from newagent.schedule.model import ScheduleState
from newagent.schedule.placement import rough_build
from newagent.schedule.rules import Violation

NEVER_MORE = 1000


def single_edits(state: ScheduleState) -> Iterator[Callable[[], Edited | Violation]]:
    """Every move over the starts of placement and every swap across classes, legal or not."""
    items = [task for task in state.items if task.status == "suggested"]
    for task in items:
        for day in range(1, len(state.window.days) + 1):
            for start in range(1, state.window.sections + 1, 2 - task.sections % 2):
                yield lambda task=task, day=day, start=start: move(state, task.id, day, start)
        for other in items:
            if other.id > task.id and other.task_class_id != task.task_class_id:
                yield lambda task=task, other=other: swap(state, task.id, other.id)


def against_brute_force(recipe: Recipe) -> dict[str, Any]:
    """The judge against applying each edit and valuing the result from scratch."""
    state = random_placement(draw(1, recipe), random.Random(1))
    spent: list[float] = []
    for _ in range(5):
        started = time.process_time()
        envelope = analyze_health(state)
        spent.append(time.process_time() - started)
    cost, best, legal, tried, on_legal = evaluate(state).cost, 0, 0, 0, 0.0
    whole = time.process_time()
    for edit in single_edits(state):
        started = time.process_time()
        outcome = edit()
        tried += 1
        if isinstance(outcome, Edited):
            best = max(best, cost - evaluate(outcome.state).cost)
            legal += 1
            on_legal += time.process_time() - started
    whole = time.process_time() - whole
    singles = [c["benefit"] for c in envelope["decision"]["candidates"] if c["tool"] in ("move", "swap")]
    return {
        "items": recipe.items,
        "weeks": recipe.weeks,
        "judge_seconds": min(spent),
        "legal_edits": legal,
        "tried_edits": tried,
        "brute_force_seconds_on_legal_edits": on_legal,
        "brute_force_seconds": whole,
        "times_faster_than_legal_edits": on_legal / min(spent),
        "times_faster": whole / min(spent),
        "best_single_edit": max(singles, default=0),
        "best_by_brute_force": best,
    }


def apply(state: ScheduleState, candidate: dict[str, Any]) -> Edited:
    """A candidate carried out."""
    arguments = candidate["arguments"]
    match candidate["tool"]:
        case "move":
            outcome = move(state, **arguments)
        case "swap":
            outcome = swap(state, arguments["task_a"], arguments["task_b"])
        case _:
            outcome = batch_move(state, [Move(**one) for one in arguments["moves"]])
    assert isinstance(outcome, Edited), outcome
    return outcome


def follow(state: ScheduleState, patient: bool = False) -> dict[str, Any]:
    """The first candidate carried out until the judge says stop; `patient` goes on for any benefit at all."""
    seen = {json.dumps(state.dump(), sort_keys=True)}
    places = [{task.id: task.slot for task in state.items}]
    steps = swing_backs = repeats = ineffective = 0
    while steps < NEVER_MORE:
        envelope = analyze_health(state, dimensions=["feasibility"])
        first, decision = envelope["decision"]["candidates"][0], envelope["decision"]
        if not (first["benefit"] >= 1 if patient else decision["should_continue_optimize"]):
            break
        state = apply(state, first).state
        steps += 1
        now = {task.id: task.slot for task in state.items}
        changed = [task_id for task_id, slot in now.items() if slot != places[-1][task_id]]
        swing_backs += sum(now[task_id] in [old[task_id] for old in places[-3:-1]] for task_id in changed)
        places.append(now)
        ineffective += evaluate(state).cost >= envelope["metrics"]["cost"]
        told = json.dumps(state.dump(), sort_keys=True)
        repeats += told in seen
        seen.add(told)
    return {
        "steps": steps,
        "cost": evaluate(state).cost,
        "swing_backs": swing_backs,
        "repeated_states": repeats,
        "ineffective_steps": ineffective,
        "ended": steps < NEVER_MORE,
    }


def small_recipe(seed: int) -> Recipe:
    """A size that the exact solver finishes in seconds."""
    rng = random.Random(f"judge {seed}")
    weeks = rng.randint(2, 8)
    return Recipe(rng.randint(20, min(80, weeks * 14)), weeks, rng.uniform(0.2, 0.85))


def following(instances: int, starts: int, seconds: float) -> list[dict[str, Any]]:
    """Runs from random placements, each against the proven optimum of its instance."""
    runs: list[dict[str, Any]] = []
    for seed in range(instances):
        state = draw(seed, small_recipe(seed))
        best = optimum(state, seconds)
        proven = best is not None and best.status == "optimal"
        for start in range(starts):
            placed = random_placement(state, random.Random(start))
            begun = time.process_time()
            run = follow(placed)
            run |= {
                "seed": seed,
                "start": start,
                "items": len(state.items),
                "first_cost": evaluate(placed).cost,
                "optimum": best.best if best and proven else None,
                "seconds_per_step": (time.process_time() - begun) / (run["steps"] + 1),
                "patient": follow(placed, patient=True),
            }
            runs.append(run)
    return runs


def agreement(instances: int) -> dict[str, Any]:
    """How often the judge finds nothing worth going on with in what placement made."""
    content = 0
    left: list[dict[str, Any]] = []
    for seed in range(instances):
        state = varied(seed)
        built = rough_build(state, [task_class.id for task_class in state.task_classes])
        assert isinstance(built, Edited)
        decision = analyze_health(built.state)["decision"]
        if decision["should_continue_optimize"]:
            left.append({"seed": seed, "benefit": decision["candidates"][0]["benefit"]})
        else:
            content += 1
    return {"instances": instances, "content": content, "share": content / instances, "left": left}


def ratio(cost: float, best: float) -> float:
    """cost / best, 1 where both are 0."""
    return cost / best if best else (1.0 if not cost else float("inf"))


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The runs in a few numbers."""
    proven = [run for run in runs if run["optimum"] is not None]
    ratios = sorted(ratio(run["cost"], run["optimum"]) for run in proven)
    patient = sorted(ratio(run["patient"]["cost"], run["optimum"]) for run in proven)
    return {
        "runs": len(runs),
        "ended": sum(run["ended"] for run in runs),
        "repeated_states": sum(run["repeated_states"] for run in runs),
        "ineffective_steps": sum(run["ineffective_steps"] for run in runs),
        "swing_backs": sum(run["swing_backs"] for run in runs),
        "median_steps": statistics.median(run["steps"] for run in runs),
        "proven": len(proven),
        "median_ratio": statistics.median(ratios),
        "ninetieth_ratio": ratios[int(0.9 * (len(ratios) - 1))],
        "median_ratio_with_any_benefit": statistics.median(patient),
        "median_steps_with_any_benefit": statistics.median(run["patient"]["steps"] for run in runs),
        "ratios": ratios,
        "ratios_with_any_benefit": patient,
    }


def table(result: dict[str, Any]) -> str:
    """The result for the screen."""
    lines: list[str] = []
    for one in result["speed"]:
        lines += [
            f"judge, {one['items']} items in {one['weeks']} weeks     {one['judge_seconds'] * 1000:8.1f} ms",
            f"  brute force on {one['legal_edits']} legal edits {one['brute_force_seconds_on_legal_edits']:8.2f} s "
            f"({one['times_faster_than_legal_edits']:.0f} times slower)",
            f"  brute force on {one['tried_edits']} tried edits {one['brute_force_seconds']:8.2f} s "
            f"({one['times_faster']:.0f} times slower)",
            f"  best single edit: judge {one['best_single_edit']}, brute force {one['best_by_brute_force']}",
        ]
    told = result["following"]
    for name, value in told.items():
        if not isinstance(value, list):
            lines.append(f"following c1: {name:<32} {value if isinstance(value, int) else round(value, 3)}")
    agreed = result["agreement"]
    lines.append(f"placement and judge agree on {agreed['content']} of {agreed['instances']} instances")
    return "\n".join(lines)


def picture(result: dict[str, Any], runs: list[dict[str, Any]], path: Path) -> None:
    """Speed, ratios and steps in one picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (speed, ratios, steps) = plt.subplots(1, 3, figsize=(13, 4))
    names = [f"{one['items']} items\n{one['weeks']} weeks" for one in result["speed"]]
    for key, label in (
        ("judge_seconds", "judge"),
        ("brute_force_seconds_on_legal_edits", "brute force, legal edits"),
        ("brute_force_seconds", "brute force, all edits"),
    ):
        speed.plot(names, [one[key] for one in result["speed"]], marker="o", label=label)
    speed.set_yscale("log")
    speed.set_ylabel("CPU seconds")
    speed.legend()
    for key, label in (("ratios", "as the judge stops"), ("ratios_with_any_benefit", "any benefit at all")):
        values = result["following"][key]
        ratios.plot(range(1, len(values) + 1), values, label=label)
    ratios.axhline(1.25, linestyle=":", color="grey")
    ratios.set_xlabel("runs, sorted")
    ratios.set_ylabel("final cost / optimum")
    ratios.set_ylim(0.9, 3)
    ratios.legend()
    steps.scatter([run["items"] for run in runs], [run["steps"] for run in runs], s=12)
    steps.set_xlabel("items")
    steps.set_ylabel("steps until the judge says stop")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    """Runs everything and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes, a minute")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"), help="where the results go")
    options = parser.parse_args()
    sizes = [Recipe(30, 3, 0.5), Recipe(60, 5, 0.5)]
    if not options.quick:
        sizes.append(Recipe(160, 16, 0.5))
    runs = following(4, 2, 10) if options.quick else following(25, 4, 60)
    result = {
        "quick": options.quick,
        "speed": [against_brute_force(recipe) for recipe in sizes],
        "following": summary(runs),
        "agreement": agreement(4 if options.quick else 100),
    }
    print(table(result))
    options.out.mkdir(parents=True, exist_ok=True)
    name = "judge-quick" if options.quick else "judge"
    (options.out / f"{name}.json").write_text(json.dumps({**result, "runs": runs}, indent=1), encoding="utf-8")
    picture(result, runs, options.out / f"{name}.png")


if __name__ == "__main__":
    main()
