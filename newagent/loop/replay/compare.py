"""Where two documents differ first."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

Part = Literal["journal", "round", "state", "messages", "schedule", "head"]


@dataclass(frozen=True)
class Difference:
    """The first thing that is not as it was recorded: in which round, in what, where, and both values.

    `part` is one of the three documents (state, messages, schedule), the row itself (journal), the end of the chain
    (head), or the round where it cannot be made again at all.
    """

    version: int
    part: Part
    path: str
    recorded: Any
    replayed: Any

    def as_json(self) -> dict[str, Any]:
        """The difference as a JSON document."""
        return asdict(self)


def first_difference(recorded: Any, replayed: Any, path: str = "$") -> tuple[str, Any, Any] | None:
    """The JSON path of the first difference, by sorted keys, with both values; None where the two are the same.

    A value that one side does not have is None on it.
    """
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        one, other = cast("dict[str, Any]", recorded), cast("dict[str, Any]", replayed)
        for key in sorted({*one, *other}):
            if (key in one) != (key in other):
                return f"{path}.{key}", one.get(key), other.get(key)
            found = first_difference(one.get(key), other.get(key), f"{path}.{key}")
            if found is not None:
                return found
        return None
    if isinstance(recorded, list) and isinstance(replayed, list):
        rows, made = cast("list[Any]", recorded), cast("list[Any]", replayed)
        for index in range(max(len(rows), len(made))):
            kept, again = (side[index] if index < len(side) else None for side in (rows, made))
            found = first_difference(kept, again, f"{path}[{index}]")
            if found is not None:
                return found
        return None if len(rows) == len(made) else (path, len(rows), len(made))
    if _same(recorded, replayed):
        return None
    return path, cast("Any", recorded), replayed


def _same(recorded: Any, replayed: Any) -> bool:
    """JSON's equality: true is not 1."""
    return isinstance(recorded, bool) == isinstance(replayed, bool) and recorded == replayed
