"""Envelopes as text: JSON that is kept under the limit by shortening its longest lists, and stays whole."""

from __future__ import annotations

import json
from typing import Any, cast

from newagent.tools.base import TEXT_LIMIT

NOTE = "lists were cut; ask for fewer days, with detail=summary or fewer dimensions"
KEPT = ("decision.candidates", "decision.options")
"""Lists that are never cut: what is chosen from must be there whole."""


def envelope_text(envelope: dict[str, Any], limit: int = TEXT_LIMIT) -> str:
    """The envelope as JSON of at most `limit` characters.

    First the schema of the metrics goes, then the longest lists are halved, again and again, then the terms before and
    after each candidate. `shortened` says so.
    """
    text = _dump(envelope)
    if len(text) <= limit:
        return text
    shown = cast("dict[str, Any]", json.loads(text))
    shown["shortened"] = NOTE
    shown["metric_schema"] = {}
    while len(_dump(shown)) > limit:
        longest = max(_lists(shown, ""), key=lambda one: len(_dump(one)), default=None)
        if longest is None:
            break
        del longest[len(longest) // 2 :]
    for candidate in shown.get("decision", {}).get("candidates", ()):
        if len(_dump(shown)) > limit:
            candidate.pop("before", None)
            candidate.pop("after", None)
    return _dump(shown)


def _dump(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _lists(document: Any, path: str) -> list[list[Any]]:
    """The lists of a document that may be cut and still hold something."""
    if isinstance(document, dict):
        items = cast("dict[str, Any]", document).items()
        return [found for key, value in items for found in _lists(value, f"{path}.{key}" if path else key)]
    if isinstance(document, list) and path not in KEPT:
        inner = cast("list[Any]", document)
        found = [one for value in inner for one in _lists(value, path + "[]")]
        return [inner, *found] if inner else found
    return []
