"""The page on the judge: its worked example and its measurements are what the program says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from newagent.schedule.cost import TERMS
from newagent.schedule.judge import analyze_health
from newagent.schedule.model import ScheduleState

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/backend/judge.md").read_text("utf-8")


def test_every_term_is_explained() -> None:
    told = re.findall(r"^\| `(\w+)` \|", PAGE.split("## A day")[0], re.MULTILINE)
    assert tuple(told) == TERMS


def test_the_worked_example() -> None:
    document = json.loads((ROOT / "docs/backend/judge-example.json").read_text("utf-8"))
    envelope = analyze_health(ScheduleState.load(document))
    worked = PAGE.split("## A day worked out by hand")[1].split("##")[0]
    points = {name: int(number) for name, number in re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", worked, re.MULTILINE)}
    assert points == {name: value for name, value in envelope["metrics"]["terms"].items() if value}
    assert f"says **{envelope['metrics']['cost']}**" in worked
    first = envelope["decision"]["candidates"][0]
    assert f"takes {first['benefit']} of the {envelope['metrics']['cost']} points" in worked


def test_the_measurements_are_those_of_the_benchmark() -> None:
    result: dict[str, Any] = json.loads((ROOT / "benchmarks/results/judge.json").read_text("utf-8"))
    measured, followed = PAGE.split("## Measured")[1], result["following"]
    for one in result["speed"]:
        row = (
            f"| {one['items']} in {one['weeks']} weeks | {one['judge_seconds'] * 1000:.0f} ms | {one['legal_edits']} |"
        )
        assert row in measured
        assert one["best_single_edit"] == one["best_by_brute_force"]
    for value in (followed["median_ratio"], followed["ninetieth_ratio"], followed["median_ratio_with_any_benefit"]):
        assert f"| {value:.3f} |" in measured
    agreed = result["agreement"]
    assert f"{agreed['content']} of {agreed['instances']} instances" in measured
