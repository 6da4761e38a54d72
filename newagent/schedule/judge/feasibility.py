"""Whether what is pending can be placed, by the engine of placement, and what would help where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from newagent.schedule.judge.words import relaxation_words
from newagent.schedule.model import ScheduleState
from newagent.schedule.placement import PlacementReport, feasibility, rough_build

CODE_OF = {
    "extend_window": "ask_expand_window",
    "free_block": "ask_relax_constraints",
    "free_weekday": "ask_relax_constraints",
    "allow_filler": "ask_relax_constraints",
    "drop_items": "ask_reduce_scope_or_budget",
}
CODES = ("ask_expand_window", "ask_relax_constraints", "ask_reduce_scope_or_budget", "accept_risk_and_close")


def check(state: ScheduleState, class_ids: Sequence[int]) -> dict[str, Any]:
    """The feasibility of the pending items of some classes; what placement could not decide counts as feasible."""
    _, gap, reason = feasibility(state, class_ids)
    return {"is_feasible": reason != "capacity", "capacity_gap": gap, "reason_code": reason}


def options(state: ScheduleState, class_ids: Sequence[int]) -> list[dict[str, Any]]:
    """The ways out of a state that cannot be placed; each relaxation was checked by placing with it."""
    report = rough_build(state, class_ids)
    assert isinstance(report, PlacementReport)
    pending = sum(task.task_class_id in class_ids for task in state.pending)
    found: list[dict[str, Any]] = []
    for relaxation in report.as_json()["relaxations"]:
        code = CODE_OF.get(relaxation["kind"])
        if code is not None:
            left = len(relaxation.get("task_ids", ()))
            found.append(
                {
                    "code": code,
                    "summary": relaxation_words(state, relaxation),
                    "relaxation": relaxation,
                    "effect": {"feasible": True, "placed": pending - left, "pending": left},
                }
            )
    found.append(
        {
            "code": "accept_risk_and_close",
            "summary": f"保持现状结束，{pending} 项不排",
            "relaxation": None,
            "effect": {"feasible": False, "placed": 0, "pending": pending},
        }
    )
    return sorted(found, key=lambda option: CODES.index(option["code"]))
