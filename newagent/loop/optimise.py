"""Optimisation: when it is on, whether a write helped, and when to stop with an honest reason."""

from __future__ import annotations

from typing import Any

from newagent.loop.draft import Draft
from newagent.state.documents import AgentState, Judgement

MAX_INEFFECTIVE = 3
MAX_SAME_SIGNAL = 2
ACCEPT_RISK = "accept_risk_and_close"


def after_write(draft: Draft, tool: str, data: dict[str, Any]) -> None:
    """Book-keeping of an executed write: optimisation starts with the first build, ineffective writes are counted."""
    if tool == "rough_build" and draft.state.mode == "first_full":
        draft.update(optimizing=True)
        return
    if not draft.state.optimizing or "judge" not in data:
        return
    if is_effective(data["judge"]):
        draft.count(ineffective=0)
        return
    ineffective = draft.state.counters.ineffective + 1
    draft.count(ineffective=ineffective)
    if ineffective >= MAX_INEFFECTIVE:
        draft.update(forced_close="ineffective")


def is_effective(delta: dict[str, Any]) -> bool:
    """Whether a write lowered (pending, cost) and added no critical issue."""
    before, after = delta["before"], delta["after"]
    better = (after["pending"], after["cost"]) < (before["pending"], before["cost"])
    return better and not any(issue["severity"] == "critical" for issue in delta["issues_gained"])


def after_judgement(draft: Draft, before: Judgement | None) -> None:
    """Book-keeping of a judgement: a global run starts optimising, a signal that stays the same is counted."""
    judgement = draft.state.judgement
    assert judgement is not None
    if draft.state.mode == "global_reopt":
        draft.update(optimizing=True)
    if not draft.state.optimizing or before is None or before.state_version == judgement.state_version:
        return
    same = draft.state.counters.same_signal + 1 if before.signal == judgement.signal else 0
    draft.count(same_signal=same)
    if same >= MAX_SAME_SIGNAL:
        draft.update(forced_close="same_signal")


def accepts_risk(state: AgentState, message: str, version: int) -> bool:
    """Whether a reply chooses, of the judge's ways out of what does not fit, to leave it as it is."""
    judgement = state.judgement
    if judgement is None or judgement.feasible or judgement.state_version != version:
        return False
    return any(
        option.get("code") == ACCEPT_RISK and message in (ACCEPT_RISK, option.get("summary"))
        for option in judgement.relaxations
    )
