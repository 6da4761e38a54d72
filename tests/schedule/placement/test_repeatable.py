"""The same input gives the same placement, in any process and with any seed of the hash function."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.instances import Recipe, draw, full, half_suggested, mixed
from newagent.schedule.edits import Edited
from newagent.schedule.placement import PlacementReport, rough_build


def digest() -> str:
    """Of the placements and reports of several instances."""
    states = [draw(1, Recipe(30, 3, 0.6)), draw(2, Recipe(20, 2, 0.8)), full(4, extra=1), mixed(5)]
    states.append(half_suggested(full(5), 5))
    whole = hashlib.sha256()
    for state in states:
        ids = [task_class.id for task_class in state.task_classes]
        outcome = rough_build(state, ids)
        if isinstance(outcome, Edited):
            whole.update(outcome.state.model_dump_json().encode())
        else:
            assert isinstance(outcome, PlacementReport)
            whole.update(repr(outcome.as_json()).encode())
    return whole.hexdigest()


def test_placement_is_the_same_in_every_process() -> None:
    here = digest()
    for seed in ("0", "random"):
        root = str(Path(__file__).parents[3])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root}
        answer = subprocess.run(
            [sys.executable, __file__], env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        assert answer.stdout.strip() == here


def test_the_order_in_which_classes_are_named_does_not_matter() -> None:
    state = draw(7, Recipe(30, 3, 0.6))
    ids = [task_class.id for task_class in state.task_classes]
    one, other = rough_build(state, ids), rough_build(state, [*reversed(ids), ids[0]])
    assert isinstance(one, Edited)
    assert isinstance(other, Edited)
    assert one.state == other.state


if __name__ == "__main__":
    sys.stdout.write(digest())
