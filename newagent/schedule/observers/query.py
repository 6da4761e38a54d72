"""What every observer is asked with, and how its answer becomes an envelope: limits, spans of days, faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from newagent.schedule.envelope import THRESHOLDS, Schema, failure, success
from newagent.schedule.model import Day, ScheduleState

Threshold = Literal["strict", "normal", "relaxed"]
Detail = Literal["summary", "full"]


class Query(BaseModel):
    """Base of all arguments of observers; `threshold` moves every limit by a tenth."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    threshold: Threshold = "normal"

    def above(self, limit: float) -> float:
        """A limit that triggers from above: lower when strict, higher when relaxed."""
        return round(limit * THRESHOLDS[self.threshold], 9)

    def below(self, limit: float) -> float:
        """A limit that triggers from below: higher when strict, lower when relaxed."""
        return round(limit * (2 - THRESHOLDS[self.threshold]), 9)


class SpanQuery(Query):
    """A query about the whole window, some weeks of it, or a range of its days."""

    scope: Literal["full", "week", "day_range"] = "full"
    week_from: int | None = Field(default=None, ge=1)
    week_to: int | None = Field(default=None, ge=1)
    day_from: int | None = Field(default=None, ge=1)
    day_to: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.scope == "day_range" and (self.day_from is None or self.day_to is None):
            raise ValueError("scope day_range needs day_from and day_to")
        if self.scope != "day_range" and (self.day_from is not None or self.day_to is not None):
            raise ValueError("day_from and day_to need scope day_range")
        if self.scope != "week" and (self.week_from is not None or self.week_to is not None):
            raise ValueError("week_from and week_to need scope week")
        return self

    def days(self, state: ScheduleState) -> list[Day]:
        """The days asked about. Raises `Unusable` where there are none."""
        if self.scope == "day_range":
            return day_range(state, self.day_from, self.day_to)
        if self.scope == "full":
            return list(state.window.days)
        weeks = {day.week for day in state.window.days}
        first, last = self.week_from or min(weeks), self.week_to or max(weeks)
        days = [day for day in state.window.days if first <= day.week <= last]
        if first > last or first not in weeks or last not in weeks:
            raise Unusable("invalid_args", f"weeks {first}–{last} are not in the window ({min(weeks)}–{max(weeks)})")
        return days


class Unusable(Exception):  # noqa: N818 - a result in the making, not an error of the program
    """Arguments or data from which no answer can be made; becomes a failed envelope."""

    def __init__(self, code: Literal["invalid_args", "insufficient_data"], message: str) -> None:
        super().__init__(message)
        self.code: Literal["invalid_args", "insufficient_data"] = code
        self.message = message


@dataclass(frozen=True)
class Findings:
    """What an observer has to say, before it is put into the envelope."""

    schema: Schema
    metrics: dict[str, Any]
    issues: Iterable[dict[str, Any]] = ()
    next_actions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


Q = TypeVar("Q", bound=Query)


def observe(
    tool: str,
    query: type[Q],
    look: Callable[[ScheduleState, Q], Findings],
    state: ScheduleState,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """The envelope of an observer. Never raises: bad arguments and missing data are failures with a code."""
    try:
        found = look(state, query.model_validate(dict(arguments)))
    except ValidationError as error:
        faults = [f"{'.'.join(str(part) for part in e['loc']) or tool}: {e['msg']}" for e in error.errors()]
        return failure(tool, "invalid_args", "; ".join(faults))
    except Unusable as unusable:
        return failure(tool, unusable.code, unusable.message)
    return success(tool, found.schema, found.metrics, found.issues, found.next_actions[:3])


def day_range(state: ScheduleState, first: int | None, last: int | None) -> list[Day]:
    """The days from `first` to `last`, by default all. Raises `Unusable` where they are not in the window."""
    count = len(state.window.days)
    low, high = first or 1, last or count
    if not 1 <= low <= high <= count:
        raise Unusable("invalid_args", f"days {low}–{high} are not in the window (1–{count})")
    return list(state.window.days[low - 1 : high])


def std(values: list[float]) -> float:
    """Sample standard deviation; 0 of fewer than two values."""
    if len(values) < 2:
        return 0.0
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
