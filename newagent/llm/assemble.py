"""From the chunks of a streamed chat completion to one answer, whatever the endpoint makes of the protocol.

Chunks are plain dictionaries, never trusted: every field may be missing, null, or of another type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from newagent.llm.mind import Delta, Usage

MOST_CHARACTERS = 400_000


@dataclass(frozen=True)
class RawCall:
    """A tool call as it came: `arguments` is text that should be a JSON object."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """A finished model answer on the wire. `finish_reason` is empty where the endpoint told none."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[RawCall, ...] = ()
    finish_reason: str = ""
    refusal: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str = ""


class _Call:
    def __init__(self, index: int, identity: str) -> None:
        self.index = index
        self.identity = identity
        self.name = ""
        self.arguments: list[str] = []


class Assembler:
    """Collects the chunks of one answer. `progress` counts the chunks that carried something of it."""

    def __init__(self) -> None:
        self.progress = 0
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_Call] = []
        self._finish = ""
        self._usage = Usage()
        self._model = ""
        self._size = 0

    @property
    def endless(self) -> bool:
        """Whether the answer has grown beyond anything a decision needs."""
        return self._size > MOST_CHARACTERS

    def feed(self, chunk: object) -> Iterator[Delta]:
        """Takes a chunk and gives what it adds to reasoning and text."""
        document = _record(chunk)
        self._model = self._model or _text(document.get("model"))
        usage = _record(document.get("usage"))
        if usage:
            self._usage = usage_of(usage)
        for choice in map(_record, _rows(document.get("choices"))):
            if choice.get("index") not in (None, 0):
                continue
            self._finish = _text(choice.get("finish_reason")) or self._finish
            yield from self._delta(_record(choice.get("delta")) or _record(choice.get("message")))

    def _delta(self, delta: dict[str, Any]) -> Iterator[Delta]:
        before = self._size
        reasoning = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
        if reasoning:
            self._keep(self._reasoning, reasoning)
            yield Delta("reasoning", reasoning)
        text = _text(delta.get("content"))
        if text:
            self._keep(self._text, text)
            yield Delta("text", text)
        self._keep(self._refusal, _text(delta.get("refusal")))
        for piece in map(_record, _rows(delta.get("tool_calls"))):
            self._call(piece)
        self.progress += self._size > before

    def _call(self, piece: dict[str, Any]) -> None:
        function = _record(piece.get("function"))
        name = _text(function.get("name"))
        call = self._open(piece, name)
        # Some endpoints repeat the whole name with every piece, others send it in pieces.
        if name and name != call.name:
            call.name += name
            self._size += len(name)
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        self._keep(call.arguments, _text(arguments))

    def _open(self, piece: dict[str, Any], name: str) -> _Call:
        """The call that a piece belongs to: by index, else by id, else the latest; a new one where none fits."""
        index, identity = piece.get("index"), _text(piece.get("id"))
        last = self._calls[-1] if self._calls else None
        found: _Call | None
        if isinstance(index, int):
            same = [call for call in self._calls if call.index == index]
            found = same[-1] if same else None
            # Several calls that all claim index 0 differ in their ids.
            if found and name and identity and found.identity and found.identity != identity:
                found, index = None, max(call.index for call in self._calls) + 1
        else:
            index = last.index + 1 if last else 0
            found = next((call for call in self._calls if call.identity == identity), None) if identity else last
        if found is None:
            found = _Call(index, identity)
            self._calls.append(found)
        found.identity = found.identity or identity
        return found

    def _keep(self, parts: list[str], text: str) -> None:
        if text:
            parts.append(text)
            self._size += len(text)

    def answer(self) -> Answer:
        """What has been collected; an endless answer counts as one that was cut off."""
        calls = sorted(self._calls, key=lambda call: call.index)
        return Answer(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            calls=tuple(RawCall(call.name, "".join(call.arguments)) for call in calls),
            finish_reason="endless" if self.endless else self._finish,
            refusal="".join(self._refusal),
            usage=self._usage,
            model=self._model,
        )


def usage_of(usage: dict[str, Any]) -> Usage:
    """Token counts, with the names that endpoints have for cached tokens."""
    details = _record(usage.get("prompt_tokens_details"))
    cached = _count(details.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens"))
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), cached)


def _record(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _rows(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _text(value: object) -> str:
    """Text as such, or the text parts of a list of content parts."""
    if isinstance(value, str):
        return value
    return "".join(_text(_record(part).get("text")) for part in _rows(value))
