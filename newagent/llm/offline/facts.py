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

MARK = "FACTS "
ANSWERED, REJECTED = "用户回答：", "用户拒绝了"
_TODAY = re.compile(r"现在是 (\d{4}-\d{2}-\d{2})")


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
            _, _, reason = self.result.partition("理由：")
            return reason.strip()
        return self.result.removeprefix(ANSWERED).strip() if self.result.startswith(ANSWERED) else ""


@dataclass(frozen=True)
class View:
    """What one request says. `facts` is empty where the messages carry no brief."""

    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    brief: str = ""
    tools: frozenset[str] = frozenset()
    calls: tuple[Call, ...] = ()
    last_words: str = ""

    @property
    def phase(self) -> str:
        """The phase of the run."""
        return str(self.facts.get("phase", ""))

    @property
    def goal(self) -> str:
        """The words of the user's turn."""
        return str(self.facts.get("goal", ""))

    @cached_property
    def language(self) -> Literal["zh", "en"]:
        """The language of the user's latest words."""
        text = next((call.words for call in reversed(self.calls) if re.search(r"\w{3}", call.words)), self.goal)
        if re.search(r"[一-鿿]", text):
            return "zh"
        return "en" if re.search(r"[A-Za-z]", text) else "zh" if self.facts.get("locale", "zh") == "zh" else "en"

    @cached_property
    def today(self) -> dt.date | None:
        """The date in the brief."""
        found = _TODAY.search(self.brief)
        return dt.date.fromisoformat(found[1]) if found else None

    @property
    def classes(self) -> list[dict[str, Any]]:
        """The task classes of the facts: id, name, items, placed, pending, missing_profile."""
        return cast("list[dict[str, Any]]", self.facts.get("classes") or [])

    @property
    def placed(self) -> int:
        """Items that the preview has placed."""
        return int(self.facts.get("placed") or 0)

    @property
    def pending(self) -> int:
        """Items not placed yet."""
        return int(self.facts.get("pending") or 0)

    @property
    def judgement(self) -> Mapping[str, Any] | None:
        """The last judgement, where it is one of the timetable as it stands."""
        judgement = self.facts.get("judgement")
        return (
            cast("Mapping[str, Any]", judgement) if isinstance(judgement, dict) and judgement.get("current") else None
        )

    @property
    def last(self) -> Mapping[str, Any]:
        """Tool, success and code of the last call of the run."""
        return cast("Mapping[str, Any]", self.facts.get("last") or {})

    def failed(self, *tools: str) -> str:
        """The code of the last call where it was one of these tools and failed (not: was refused by the user)."""
        last = self.last
        if last.get("tool") in tools and last.get("ok") is False and last.get("code") != "rejected":
            return str(last.get("code") or "")
        return ""

    @cached_property
    def failures(self) -> tuple[str, ...]:
        """The failures that the brief lists, oldest first: `tool code：text`."""
        _, mark, rest = self.brief.partition("最近的失败：\n")
        lines = rest.split("\n") if mark else []
        found: list[str] = []
        for line in lines:
            if not re.match(r"[a-z_]+ [a-z_]+：", line):
                break
            found.append(line)
        return tuple(found)

    def made(self, name: str, **arguments: Any) -> Call | None:
        """The latest call of that name with at least these arguments."""
        for call in reversed(self.calls):
            if call.name == name and all(call.arguments.get(key) == value for key, value in arguments.items()):
                return call
        return None

    def done(self, name: str) -> Call | None:
        """The latest call of that name that the user did not refuse."""
        return next((call for call in reversed(self.calls) if call.name == name and not call.rejected), None)


def read_view(body: Mapping[str, Any]) -> View:
    """The view of a request body; a body without a brief gives a view without facts. Never raises."""
    messages = [_record(message) for message in _rows(body.get("messages"))]
    names = (_record(_record(tool).get("function")).get("name") for tool in _rows(body.get("tools")))
    tools = frozenset(name for name in names if isinstance(name, str))
    user = [text_of(message.get("content")) for message in messages if message.get("role") == "user"]
    brief = user[-1] if user else ""
    facts = _facts(brief)
    return View(facts, brief if facts else "", tools, _calls(messages), brief)


def _facts(brief: str) -> dict[str, Any]:
    line = next((line for line in reversed(brief.split("\n")) if line.startswith(MARK)), None)
    if line is None:
        return {}
    try:
        return _record(json.loads(line.removeprefix(MARK)))
    except (ValueError, RecursionError):
        return {}


def _calls(messages: Sequence[Mapping[str, Any]]) -> tuple[Call, ...]:
    results = {
        message.get("tool_call_id"): text_of(message.get("content"))
        for message in messages
        if message.get("role") == "tool" and isinstance(message.get("tool_call_id"), str)
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
