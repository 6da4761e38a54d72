"""Why a line of an imported file was not taken, or what to know about one that was: stable codes with texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from newagent.texts import Locale, say

_LONGEST_QUOTE = 40

Refusal = Literal[
    "no_name",
    "bad_weekday",
    "bad_sections",
    "bad_weeks",
    "no_room",
    "too_many_fields",
    "bad_quotes",
    "bad_course",
    "bad_event",
    "all_day",
    "cancelled",
    "superseded",
    "unsupported_rule",
    "outside_semester",
    "no_occurrence",
    "no_section",
    "all_off",
]
"""The codes of a line that was not taken; the texts are those of `import.reason` in the catalogue."""

Note = Literal[
    "some_weeks_outside",
    "some_outside",
    "some_no_section",
    "extended",
    "shortened",
    "duplicate",
    "adjusted",
    "unknown_flag",
    "unknown_zone",
]
"""The codes of what to know about a line that was taken."""


@dataclass(frozen=True)
class Reason:
    """A code with the values of its text."""

    code: Refusal | Note
    values: Mapping[str, object] = field(default_factory=dict[str, object])

    def text(self, locale: Locale = "zh") -> str:
        """The reason for a person."""
        return say(locale, f"import.reason.{self.code}", **self.values)


def shown(text: str) -> str:
    """A cell of the file as a reason quotes it: on one line, and short."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1] + "…"
