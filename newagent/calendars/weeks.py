"""The weeks of a course as people write them: `1-8、10、12-16单`, `2-5,7-9`, `第1-16周(双)`, `单周`."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Parity = Literal["all", "odd", "even"]

MAX_WEEK = 60
_PARITY_WORDS: dict[str, Parity] = {
    "": "all", "0": "all", "全": "all", "每": "all", "all": "all", "全周": "all", "每周": "all",
    "1": "odd", "单": "odd", "奇": "odd", "odd": "odd", "单周": "odd", "奇周": "odd",
    "2": "even", "双": "even", "偶": "even", "even": "even", "双周": "even", "偶周": "even",
}  # fmt: skip
_DASHES = re.compile(r"\s*(?:-|–|—|―|−|~|〜|至|到)\s*")
_SEPARATORS = re.compile(r"[,、;\s|/]+")
_TOKEN = re.compile(
    r"(?P<before>单|双|奇|偶)?周?(?P<first>\d{1,3})周?(?:-第?(?P<last>\d{1,3}))?周?"
    r"\(?(?P<after>单|双|奇|偶|odd|even)?周?\)?周?"
)
_ALL_WEEKS = re.compile(r"\(?(?P<parity>全|每|单|双|奇|偶|all|odd|even)周?\)?")


def parse_parity(text: str) -> Parity:
    """A flag of odd and even weeks: 0/全, 1/单, 2/双, or empty. Raises ValueError."""
    word = plain(text).strip("()")
    if word not in _PARITY_WORDS:
        raise ValueError(f"unknown parity {text!r}")
    return _PARITY_WORDS[word]


def parse_weeks(text: str, last_week: int) -> tuple[int, ...]:
    """The weeks that a text names, in order. `last_week` is where 单周, 双周 and 全周 without numbers end.

    A parity belongs to the one range that it follows: `1-8、12-16单` are the weeks 1 to 8, 13 and 15. Raises
    ValueError for what is no list of weeks, runs backwards, or names no week at all (`10单`).
    """
    flat = _DASHES.sub("-", plain(text))
    flat = re.sub(r"\s+(?=\(?(?:单|双|奇|偶|odd|even))(?=\D*(?:$|[,、;\s]))", "", flat).replace("第", "")
    weeks: set[int] = set()
    for token in filter(None, _SEPARATORS.split(flat)):
        weeks.update(_weeks_of(token, last_week))
    if not weeks:
        raise ValueError(f"no weeks in {text!r}")
    return tuple(sorted(weeks))


def week_range(first: int, last: int, parity: Parity) -> tuple[int, ...]:
    """The weeks from `first` to `last` of a parity. Raises ValueError if there are none."""
    if not 0 <= first <= last <= MAX_WEEK:
        raise ValueError(f"no weeks {first} to {last}")
    weeks = tuple(w for w in range(first, last + 1) if parity == "all" or (w % 2 == 1) == (parity == "odd"))
    if not weeks:
        raise ValueError(f"no {parity} week in {first} to {last}")
    return weeks


def plain(text: str) -> str:
    """Full-width forms as their plain ones, lower case, no space around."""
    return unicodedata.normalize("NFKC", text).strip().lower()


def _weeks_of(token: str, last_week: int) -> tuple[int, ...]:
    everything = _ALL_WEEKS.fullmatch(token)
    if everything:
        return week_range(1, last_week, _PARITY_WORDS[everything["parity"]])
    match = _TOKEN.fullmatch(token)
    if not match or (match["before"] and match["after"]):
        raise ValueError(f"cannot read the weeks {token!r}")
    first = int(match["first"])
    last = int(match["last"]) if match["last"] else first
    return week_range(first, last, _PARITY_WORDS[match["before"] or match["after"] or ""])
