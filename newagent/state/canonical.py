"""Canonical JSON and the hashes over it: the same value gives the same text on every machine and in every version."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any, cast

NO_HASH = ""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def canonical(value: Any) -> str:
    """A JSON value as text: keys sorted, no spaces, characters as they are, no NaN or infinity (they become null).

    Half of a surrogate pair, which no database stores, is written as its escape.
    """
    try:
        text = _dumps(value)
    except (ValueError, TypeError):  # not finite, or keys that are no strings and do not sort
        text = _dumps(_finite(json.loads(json.dumps(value))))
    return _LONE_SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def hash_of(*parts: str) -> str:
    """SHA-256 (hex) over texts; where one ends and the next begins is part of what is hashed."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode()
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.hexdigest()


def _dumps(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {key: _finite(held) for key, held in cast("dict[str, Any]", value).items()}
        case list():
            return [_finite(held) for held in cast("list[Any]", value)]
        case _:
            return value
