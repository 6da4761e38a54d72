"""How well the agent optimises, from the journal alone: the product's three figures.

- closing rate: of the runs that optimised and have ended, the share that closed in order: completed, not forced to
  close by writes that did not help, and not cut off by a budget, a fault or the user.
- effective rounds: of the executed writes of those runs, the share that lowered (pending, cost) and added no critical
  issue.
- swing-backs: executed writes that put an item back to a place that it had left earlier in the same run; an undo,
  which is asked for, is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from newagent.loop.optimise import is_effective
from newagent.state.recording import Entry


@dataclass(frozen=True)
class Figures:
    """Counts of one or several conversations; the rates are None where there is nothing to take one of."""

    runs: int = 0
    optimised: int = 0
    closed: int = 0
    writes: int = 0
    effective: int = 0
    swing_backs: int = 0

    @property
    def closing_rate(self) -> float | None:
        """Closed of optimised runs."""
        return self.closed / self.optimised if self.optimised else None

    @property
    def effective_rate(self) -> float | None:
        """Effective of executed writes of optimised runs."""
        return self.effective / self.writes if self.writes else None

    def __add__(self, other: Figures) -> Figures:
        return Figures(*(getattr(self, name) + getattr(other, name) for name in Figures.__dataclass_fields__))

    def as_json(self) -> dict[str, Any]:
        """The figures as a JSON document; rates have four digits."""
        counts = {name: getattr(self, name) for name in Figures.__dataclass_fields__}
        rates = {"closing_rate": self.closing_rate, "effective_rate": self.effective_rate}
        return {**counts, **{name: None if rate is None else round(rate, 4) for name, rate in rates.items()}}


@dataclass
class _Run:
    optimised: bool = False
    forced: bool = False
    outcome: str = ""
    writes: int = 0
    effective: int = 0
    swing_backs: int = 0
    left: dict[int, set[str]] = field(default_factory=dict[int, "set[str]"])

    def figures(self) -> Figures:
        if not self.outcome:
            return Figures()
        if not self.optimised:
            return Figures(runs=1)
        closed = self.outcome == "completed" and not self.forced
        return Figures(1, 1, int(closed), self.writes, self.effective, self.swing_backs)


def figures_of(entries: Iterable[Entry]) -> Figures:
    """The figures of one conversation, from its journal in order; a run that has not ended is not counted."""
    total, run = Figures(), _Run()
    for entry in entries:
        if "turn" in entry.body:
            total, run = total + run.figures(), _Run()
        _take(run, entry.body)
    return total + run.figures()


def _take(run: _Run, body: dict[str, Any]) -> None:
    changed: dict[str, Any] = body.get("state", {})
    if changed.get("optimizing"):
        run.optimised = True
    if changed.get("forced_close"):
        run.forced = True
    if changed.get("outcome"):
        run.outcome = changed["outcome"]["kind"]
    tool: dict[str, Any] = body.get("tool", {})
    result: dict[str, Any] = tool.get("result", {})
    judged = result.get("data", {}).get("judge")
    if not result.get("ok") or not judged or "after" not in judged:
        return
    run.writes += 1
    run.effective += is_effective(judged)
    back = False
    for change in result.get("changes", ()):
        places = run.left.setdefault(change["task_id"], set())
        back = back or str(change["after"]) in places
        places.add(str(change["before"]))
    run.swing_backs += back and tool["name"] != "undo_last"
