"""Places as the results of the slot query list them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from newagent.llm.offline.naming import TaskLine

_PLACE = re.compile(r"^(D(\d+)\b.*?第(\d+)(?:-(\d+))?节)(.*)$")


@dataclass(frozen=True)
class Spot:
    """A legal place in the words of the result; `embedded` says that it lies in a course."""

    day: int
    start: int
    end: int
    words: str
    embedded: bool = False


def spots_in(result: str) -> list[Spot]:
    """The places that a result lists, one a line."""
    found: list[Spot] = []
    for line in result.split("\n"):
        match = _PLACE.match(line.strip())
        if match:
            start = int(match[3])
            found.append(Spot(int(match[2]), start, int(match[4] or start), match[1], "可嵌入" in match[5]))
    return found


def spot_in(text: str) -> Spot | None:
    """The first place named anywhere in a text, such as a step or an answer."""
    match = re.search(r"D(\d+)\b[^D#]*?第(\d+)(?:-(\d+))?节", text)
    return Spot(int(match[1]), int(match[2]), int(match[3] or match[2]), match[0]) if match else None


def nearest(spots: Iterable[Spot], task: TaskLine) -> Spot | None:
    """The place nearest in days to where a task stands, free before embedded; the first one for a pending task."""
    return min(
        spots,
        key=lambda spot: (abs(spot.day - task.day) if task.day else spot.day, spot.embedded, spot.start),
        default=None,
    )
