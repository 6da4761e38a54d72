"""Reading what the rule model was sent: the facts of the brief, the tools offered, the calls of the run so far.

Everything comes from the request of this very round; nothing is kept.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MARK = "FACTS "
ANSWERED, REJECTED, REASON = "用户回答：", "用户拒绝了", "理由："
_TODAY = re.compile(r"现在是 (\d{4}-\d{2}-\d{2})")
_FAILURES = "最近的失败：\n"


class Part(BaseModel):
    """Base of the facts: what is not known here is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ClassFacts(Part):
    """A task class: how many items it has, and how many have a place."""

    id: int
    name: str
    items: int = 0
    placed: int = 0
    pending: int = 0
    missing_profile: tuple[str, ...] = ()


class WindowFacts(Part):
    """The days that can be planned: their number, dates, first and last week; sections and periods of a day."""

    days: int
    first: dt.date
    last: dt.date
    sections: int
    weeks: tuple[int, int]
    periods: dict[str, tuple[int, int]]


class CandidateFacts(Part):
    """A candidate of the judge."""

    candidate_id: str
    tool: str
    summary: str
    benefit: int


class OptionFacts(Part):
    """A way out of a timetable that does not fit."""

    code: str
    summary: str


class JudgementFacts(Part):
    """The last judgement; `current` says that it is one of the timetable as it stands."""

    current: bool
    cost: int
    should_continue: bool
    feasible: bool
    recommended: str
    candidates: tuple[CandidateFacts, ...] = ()
    options: tuple[OptionFacts, ...] = ()


class StepFacts(Part):
    """A step of the plan."""

    content: str


class LastFacts(Part):
    """The latest result of the run."""

    tool: str | None = None
    ok: bool | None = None
    code: str | None = None


class BudgetFacts(Part):
    """What is left."""

    writes: int = 1


class Facts(Part):
    """The facts of the brief, as the loop writes them."""

    phase: str
    goal: str
    locale: Literal["zh", "en"] = "zh"
    step: int = 1
    steps: tuple[StepFacts, ...] = ()
    classes: tuple[ClassFacts, ...] = ()
    window: WindowFacts | None = None
    pending: int = 0
    placed: int = 0
    preferences: dict[str, Any] = Field(default_factory=dict)
    judgement: JudgementFacts | None = None
    last: LastFacts | None = None
    budget: BudgetFacts = BudgetFacts()
    must_close: str = ""


@dataclass(frozen=True)
class Call:
    """An earlier call of this run and what came of it: only successes and refusals by the user are shown."""

    name: str
    arguments: dict[str, Any]
    result: str

    @property
    def rejected(self) -> bool:
        """Whether the user refused it."""
        return self.result.startswith(REJECTED)

    @property
    def words(self) -> str:
        """What the user said in the result: the reply to a question, or the reason of a refusal."""
        if self.rejected:
            return self.result.partition(REASON)[2].strip()
        return self.result.removeprefix(ANSWERED).strip() if self.result.startswith(ANSWERED) else ""


@dataclass(frozen=True)
class View:
    """What one request of the loop says."""

    facts: Facts
    brief: str = ""
    tools: frozenset[str] = frozenset()
    calls: tuple[Call, ...] = field(default=())

    @cached_property
    def language(self) -> Literal["zh", "en"]:
        """The language of the user's words, where they show one; else the locale."""
        if re.search(r"[一-鿿]", self.facts.goal):
            return "zh"
        return "en" if re.search(r"[A-Za-z]{2}", self.facts.goal) else self.facts.locale

    @cached_property
    def today(self) -> dt.date | None:
        """The date in the brief."""
        found = _TODAY.search(self.brief)
        try:
            return dt.date.fromisoformat(found[1]) if found else None
        except ValueError:
            return None

    @property
    def judgement(self) -> JudgementFacts | None:
        """The last judgement, where it is one of the timetable as it stands."""
        judgement = self.facts.judgement
        return judgement if judgement is not None and judgement.current else None

    @property
    def latest(self) -> Call | None:
        """The latest call that is shown."""
        return self.calls[-1] if self.calls else None

    def failed(self, tool: str) -> str:
        """The code of the latest call where it was of this tool and failed (not: was refused by the user)."""
        last = self.facts.last
        if last is None or last.tool != tool or last.ok is not False or last.code == "rejected":
            return ""
        return last.code or "failed"

    @cached_property
    def failures(self) -> tuple[str, ...]:
        """The failures that the brief lists, oldest first: `tool code：text`."""
        found: list[str] = []
        for line in self.brief.partition(_FAILURES)[2].split("\n"):
            if not re.match(r"[a-z_]+ [a-z_]+：", line):
                break
            found.append(line)
        return tuple(found)

    @property
    def reason(self) -> str:
        """The text of the latest failure."""
        failure = self.failures[-1] if self.failures else ""
        return (failure.partition("：")[2] or failure).rstrip("。.")

    def made(self, name: str, **arguments: Any) -> Call | None:
        """The latest call of that name with at least these arguments."""
        for call in reversed(self.calls):
            if call.name == name and all(call.arguments.get(key) == value for key, value in arguments.items()):
                return call
        return None

    @cached_property
    def in_step(self) -> tuple[Call, ...]:
        """The calls since the plan was agreed to or the last step ended."""
        at = max((i for i, one in enumerate(self.calls) if one.name in ("plan_done", "next_step")), default=-1)
        return self.calls[at + 1 :]


def read_view(body: Mapping[str, Any]) -> View | None:
    """The view of a request body, None where its last user message carries no facts. Never raises."""
    messages = [_record(message) for message in _rows(body.get("messages"))]
    names = (_record(_record(tool).get("function")).get("name") for tool in _rows(body.get("tools")))
    brief = last_words(body)
    facts = _facts(brief)
    if facts is None:
        return None
    return View(facts, brief, frozenset(name for name in names if isinstance(name, str)), _calls(messages))


def last_words(body: Mapping[str, Any]) -> str:
    """The text of the last user message."""
    messages = map(_record, reversed(_rows(body.get("messages"))))
    return next((text_of(message.get("content")) for message in messages if message.get("role") == "user"), "")


def _facts(brief: str) -> Facts | None:
    line = next((line for line in reversed(brief.split("\n")) if line.startswith(MARK)), None)
    if line is None:
        return None
    try:
        return Facts.model_validate_json(line.removeprefix(MARK))
    except ValidationError:
        return None


def _calls(messages: Sequence[Mapping[str, Any]]) -> tuple[Call, ...]:
    results = {
        identity: text_of(message.get("content"))
        for message in messages
        if message.get("role") == "tool" and isinstance(identity := message.get("tool_call_id"), str)
    }
    found: list[Call] = []
    for message in messages:
        for call in map(_record, _rows(message.get("tool_calls"))):
            function = _record(call.get("function"))
            name, identity = function.get("name"), call.get("id")
            if isinstance(name, str) and isinstance(identity, str):
                found.append(Call(name, _arguments(function.get("arguments")), results.get(identity, "")))
    return tuple(found)


def _arguments(value: object) -> dict[str, Any]:
    try:
        return _record(json.loads(value)) if isinstance(value, str) else _record(value)
    except (ValueError, RecursionError):
        return {}


def text_of(content: object) -> str:
    """The text of a message's content, which may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = (_record(part).get("text") for part in _rows(content))
    return "".join(part for part in parts if isinstance(part, str))


def _record(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _rows(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
