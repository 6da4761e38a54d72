"""Reading JSON as models write it: fences, text around it, trailing commas, unclosed ends."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import json_repair

_FENCE = re.compile(r"```(?:json|JSON)?\s*(\{.*?\})\s*```", re.DOTALL)
_TAG = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
NESTED = 64
LONGEST = 200_000


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is, repaired where it is nearly one; None where it is none.

    Strict JSON first; repair only starts where there is an opening brace, so that prose is never turned into data.
    """
    text = text.strip()
    if not text:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _repaired(text)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _repaired(text: str) -> object:
    start = text.find("{")
    if start < 0 or len(text) > LONGEST or text.count("{") + text.count("[") > NESTED * 8:
        return None
    try:
        return json_repair.loads(text[start:])
    except (ValueError, RecursionError, IndexError, TypeError, AttributeError):
        return None


def embedded_objects(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The JSON objects that stand in a text as fenced blocks, tagged calls, or the whole of it, with their source."""
    found: list[tuple[str, dict[str, Any]]] = []
    for pattern in (_TAG, _FENCE):
        for match in pattern.finditer(text):
            value = json_object(match[1])
            if value is not None:
                found.append((match[0], value))
    if not found and text.lstrip().startswith("{"):
        value = json_object(text)
        if value is not None:
            found.append((text, value))
    return found
