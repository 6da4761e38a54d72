"""What the model is shown of the past: the words of the conversation, and the work of this run.

The latest result of each distinct call stands in full, older and repeated ones in a line, failures in a line each.
"""

from __future__ import annotations

from collections.abc import Sequence

from newagent.llm.mind import Words, WorkItem
from newagent.loop.draft import canonical
from newagent.state.documents import Message

FULL_RESULTS = 6
LINES = 24
LINE = 160


def conversation(messages: Sequence[Message]) -> tuple[Words, ...]:
    """The words up to the last user turn; what the assistant said after it belongs to the work of the run."""
    spoken = [message for message in messages if message.role in ("user", "assistant") and message.text]
    last_user = max((i for i, message in enumerate(spoken) if message.role == "user"), default=-1)
    merged: list[Words] = []
    for message in spoken[: last_user + 1]:
        role = "user" if message.role == "user" else "assistant"
        if merged and merged[-1].role == role:
            merged[-1] = Words(role, f"{merged[-1].text}\n{message.text}")
        else:
            merged.append(Words(role, message.text))
    return tuple(merged)


def work(messages: Sequence[Message], run_id: str | None) -> tuple[WorkItem, ...]:
    """The calls of a run with their results, oldest first."""
    results = [m for m in messages if m.role == "result" and m.run_id == run_id and m.tool and m.call_id]
    kept = [m for m in results if m.ok or m.code == "rejected"][-LINES:]
    latest: dict[str, str | None] = {}
    for message in reversed(kept):
        latest.setdefault(canonical([message.tool, message.arguments]), message.call_id)
    full = set(list(latest.values())[:FULL_RESULTS])
    return tuple(
        WorkItem(m.call_id or "", m.tool or "", m.arguments or {}, m.text if m.call_id in full else first_line(m.text))
        for m in kept
    )


def failures(messages: Sequence[Message], run_id: str | None, most: int = 5) -> list[str]:
    """The latest failures of a run, one line each."""
    failed = [m for m in messages if m.role == "result" and m.run_id == run_id and m.ok is False]
    return [f"{m.tool} {m.code}：{first_line(m.text)}" for m in failed[-most:]]


def said(messages: Sequence[Message], most: int = 2) -> list[str]:
    """What the assistant said since the last user turn, one line each."""
    last_user = max((i for i, message in enumerate(messages) if message.role == "user"), default=-1)
    words = [m.text for m in messages[last_user + 1 :] if m.role == "assistant" and m.text]
    return [first_line(text) for text in words[-most:]]


def first_line(text: str) -> str:
    """The first line, shortened."""
    line = text.split("\n", 1)[0]
    return line if len(line) <= LINE else line[: LINE - 1] + "…"
