"""What may be shown of an answer while it arrives: words, not the calls and thoughts that some models write as text."""

from __future__ import annotations

import re
from dataclasses import replace

from newagent.llm.assemble import Answer
from newagent.llm.mind import Delta

THINK, THOUGHT = "<think>", "</think>"
MACHINE = ("```", "<tool_call>")
_SPEAK = re.compile(r'"speak"\s*:\s*"')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def without_thinking(answer: Answer) -> Answer:
    """The answer with a leading think block moved from its text to its reasoning, where servers leave it in."""
    text = answer.text.lstrip()
    if not text.startswith(THINK):
        return answer
    thought, _, said = text.removeprefix(THINK).partition(THOUGHT)
    return replace(answer, text=said.lstrip(), reasoning=answer.reasoning + thought.strip())


class Speech:
    """Words as they come, up to where a fence or a call begins; a leading think block is reasoning.

    An end that may be the beginning of a mark is kept back; the finished answer has it.
    """

    def __init__(self) -> None:
        self._kept = ""
        self._mode = "start"

    def feed(self, piece: Delta) -> list[Delta]:
        """What a piece adds to what is shown."""
        if piece.kind == "restart":
            self._kept, self._mode = "", "start"
            return [piece]
        if piece.kind == "reasoning":
            return [piece]
        self._kept += piece.text
        shown: list[Delta] = []
        if self._mode == "start":
            self._begin()
        if self._mode == "thinking":
            thought, mark, rest = self._kept.partition(THOUGHT)
            if mark:
                shown.append(Delta("reasoning", thought))
                self._kept, self._mode = rest.lstrip(), "talking" if rest.strip() else "gap"
            else:
                shown.append(Delta("reasoning", self._take(self._kept, (THOUGHT,))))
        if self._mode == "gap":
            self._kept = self._kept.lstrip()
            self._mode = "talking" if self._kept else "gap"
        if self._mode == "talking":
            shown.append(Delta("text", self._talk()))
        return [delta for delta in shown if delta.text]

    def _begin(self) -> None:
        text = self._kept.lstrip()
        if not text or (THINK.startswith(text) and text != THINK):
            return
        if text.startswith(THINK):
            self._kept, self._mode = text.removeprefix(THINK), "thinking"
        elif text.startswith("{"):
            self._mode = "machine"
        else:
            self._mode = "talking"

    def _talk(self) -> str:
        starts = [at for mark in MACHINE if (at := self._kept.find(mark)) >= 0]
        if starts:
            text = self._kept[: min(starts)]
            self._mode = "machine"
            return text
        return self._take(self._kept, MACHINE)

    def _take(self, text: str, marks: tuple[str, ...]) -> str:
        """The text but for an end that may be the beginning of a mark, which is kept."""
        longest = max(len(mark) for mark in marks) - 1
        for size in range(min(longest, len(text)), 0, -1):
            if any(mark.startswith(text[-size:]) for mark in marks):
                self._kept = text[-size:]
                return text[:-size]
        self._kept = ""
        return text


class SpokenField:
    """The value of the field `speak` of a JSON object, letter by letter as it arrives."""

    def __init__(self) -> None:
        self._text = ""
        self._at: int | None = None
        self._closed = False

    def feed(self, piece: Delta) -> list[Delta]:
        """What a piece adds to what is shown."""
        if piece.kind == "restart":
            self._text, self._at, self._closed = "", None, False
            return [piece]
        if piece.kind == "reasoning":
            return [piece]
        self._text += piece.text
        if self._at is None:
            found = _SPEAK.search(self._text)
            if found is None:
                return []
            self._at = found.end()
        text = self._decode()
        return [Delta("text", text)] if text else []

    def _decode(self) -> str:
        """The characters that have become certain since the last time."""
        assert self._at is not None
        out: list[str] = []
        while not self._closed and self._at < len(self._text):
            letter = self._text[self._at]
            if letter == '"':
                self._closed = True
            elif letter != "\\":
                out.append(letter)
                self._at += 1
            else:
                escape = self._escape(self._text[self._at : self._at + 12])
                if escape is None:
                    break
                out.append(escape[0])
                self._at += escape[1]
        return "".join(out)

    def _escape(self, text: str) -> tuple[str, int] | None:
        """The character of an escape and the length of it; None while it is not complete."""
        if len(text) < 2:
            return None
        if text[1] != "u":
            return _ESCAPES.get(text[1], text[1]), 2
        if len(text) < 6:
            return None
        try:
            code = int(text[2:6], 16)
            if not 0xD800 <= code < 0xDC00:
                return (chr(code) if not 0xDC00 <= code < 0xE000 else "�"), 6
            if len(text) < 12:
                return None
            low = int(text[8:12], 16) if text[6:8] == "\\u" else 0
        except ValueError:
            return "", 2
        if not 0xDC00 <= low < 0xE000:
            return "�", 6
        return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), 12
