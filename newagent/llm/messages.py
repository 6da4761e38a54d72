"""From the four parts of a prompt to the messages of the protocol; the first two stay byte for byte the same."""

from __future__ import annotations

import json
from typing import Any

from newagent.llm.mind import Prompt, WorkItem


def native_messages(prompt: Prompt) -> list[dict[str, Any]]:
    """The messages for models with tool calls: each earlier call of the run is a call and its result."""
    messages = _front(prompt, prompt.system)
    for item in prompt.work:
        call = {"name": item.name, "arguments": arguments_text(item)}
        messages.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": item.call_id, "type": "function", "function": call}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": item.call_id, "content": item.result})
    messages.append({"role": "user", "content": prompt.brief})
    return messages


def plain_messages(prompt: Prompt, rules: str) -> list[dict[str, Any]]:
    """The messages for models without tool calls: `rules` tell the format, calls and results are text."""
    messages = _front(prompt, f"{prompt.system}\n\n{rules}")
    for item in prompt.work:
        call = {"tool_call": {"name": item.name, "arguments": item.arguments}}
        messages.append({"role": "assistant", "content": json.dumps(call, ensure_ascii=False)})
        messages.append({"role": "user", "content": f"[{item.name} 的结果]\n{item.result}"})
    messages.append({"role": "user", "content": prompt.brief})
    return messages


def alternating(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with neighbours of the same role joined: some chat templates refuse two in a row."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        last = joined[-1] if joined else None
        if last is not None and last["role"] == message["role"] in ("user", "system"):
            joined[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
        else:
            joined.append(message)
    return joined


def arguments_text(item: WorkItem) -> str:
    """The arguments of an earlier call as JSON text."""
    return json.dumps(item.arguments, ensure_ascii=False, separators=(",", ":"))


def _front(prompt: Prompt, system: str) -> list[dict[str, Any]]:
    words = [{"role": one.role, "content": one.text} for one in prompt.conversation]
    return [{"role": "system", "content": system}, *words]
