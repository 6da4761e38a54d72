"""Which recurrence rules are expanded, and what they cost.

A rule that never fires is searched up to the year 9999 by the library, one that fires every second never ends. So
only rules are let through that certainly fire within a few of their steps: those a timetable is made of.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from newagent.calendars.ics_values import parse_moment

MAX_INTERVAL = 1_000
MAX_STEPS = 40_000
_PARTS = frozenset(("FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "BYMONTH", "BYMONTHDAY", "WKST"))
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FOREVER = re.compile(r"^[3-9]\d{3}")
_DAY = re.compile(r"([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)")
_DAYS_OF = {"DAILY": 1, "WEEKLY": 7, "MONTHLY": 28, "YEARLY": 365}
_LONGEST_MONTH_FOR_SURE = 28


class UnsupportedRuleError(ValueError):
    """The rule is dense, empty, or of a kind that no timetable uses."""


@dataclass(frozen=True)
class Rule:
    """A rule that is safe to expand. `text` has UNTIL in UTC; `steps` bounds the work, `dates` what it yields."""

    text: str
    steps: int
    dates: int


NO_RULE = Rule("", steps=1, dates=1)


def safe_rule(text: str, start: dt.datetime, last_day: dt.date, span_days: int) -> Rule:
    """Checks a RRULE of an event that starts at the aware `start`, for the `span_days` that end with `last_day`.

    Raises `UnsupportedRuleError`, also for what is no rule at all.
    """
    parts = _parts(text)
    freq = parts["FREQ"]
    interval = _number(parts.get("INTERVAL", "1"), MAX_INTERVAL)
    if "COUNT" in parts:
        _number(parts["COUNT"], 10**9)
    days = _days(parts.get("BYDAY"))
    months = _numbers(parts.get("BYMONTH"), 1, 12)
    month_days = _numbers(parts.get("BYMONTHDAY"), -31, 31)
    if freq == "MONTHLY" and months and not days:
        month_days = month_days or (start.day,)
    if not _fires(freq, interval, days, months, month_days):
        raise UnsupportedRuleError(text)
    if "UNTIL" in parts:
        parts["UNTIL"] = _until(parts["UNTIL"], start)
    steps = max(0, (last_day - start.date()).days) + 1
    if steps > MAX_STEPS:
        raise UnsupportedRuleError(text)
    a_step = max(1, len(days)) if freq == "WEEKLY" else max(1, len(days) * 5, len(month_days))
    dates = min(span_days, (span_days // (_DAYS_OF[freq] * interval) + 2) * a_step)
    return Rule(";".join(f"{key}={value}" for key, value in parts.items()), steps, dates)


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in filter(None, text.upper().replace(" ", "").split(";")):
        key, _, value = part.partition("=")
        if key not in _PARTS or key in parts or not value:
            raise UnsupportedRuleError(text)
        parts[key] = value
    if parts.get("FREQ") not in _DAYS_OF or parts.get("WKST", "MO") not in _WEEKDAYS:
        raise UnsupportedRuleError(text)
    return parts


def _fires(
    freq: str, interval: int, days: tuple[tuple[int, str], ...], months: tuple[int, ...], month_days: tuple[int, ...]
) -> bool:
    """Whether a rule certainly fires within a few of its steps, whatever its start."""
    ordinals = [abs(ordinal) for ordinal, _ in days if ordinal]
    if freq == "DAILY":
        return not month_days and not ordinals and (interval == 1 or not (days or months))
    if freq == "WEEKLY":
        return not month_days and not ordinals and (interval <= 4 or not months)
    if freq == "MONTHLY":
        mixed = 0 < len(ordinals) < len(days)  # the library wants a day to fit both kinds at once
        if mixed or (days and month_days) or (months and interval > 1):
            return False
        rare = any(ordinal > 4 for ordinal in ordinals) or any(abs(d) > _LONGEST_MONTH_FOR_SURE for d in month_days)
        return not rare or (interval == 1 and not months)
    if days or len(months) != 1 or len(month_days) != 1:
        return not (days or months or month_days)
    return abs(month_days[0]) <= _LONGEST_MONTH_FOR_SURE


def _until(text: str, start: dt.datetime) -> str:
    """UNTIL in UTC: a date means all of that day, a time without zone is local to the event."""
    try:
        value = parse_moment(_FOREVER.sub("2200", text))
        if isinstance(value, dt.datetime):
            local = value if value.tzinfo else value.replace(tzinfo=start.tzinfo)
        elif isinstance(value, dt.timedelta):
            raise UnsupportedRuleError(text)
        else:
            local = dt.datetime.combine(value, dt.time(23, 59, 59), tzinfo=start.tzinfo)
        utc = local.astimezone(dt.UTC)
    except (ValueError, OverflowError):  # the year 1
        raise UnsupportedRuleError(text) from None
    return f"{utc.year:04}{utc:%m%dT%H%M%SZ}"


def _days(text: str | None) -> tuple[tuple[int, str], ...]:
    result: list[tuple[int, str]] = []
    for word in text.split(",") if text else ():
        match = _DAY.fullmatch(word)
        if match is None:
            raise UnsupportedRuleError(word)
        result.append((int(match[1] or 0), match[2]))
    return tuple(dict.fromkeys(result))


def _numbers(text: str | None, low: int, high: int) -> tuple[int, ...]:
    numbers: list[int] = []
    for word in text.split(",") if text else ():
        if not re.fullmatch(r"[+-]?\d{1,2}", word) or not low <= int(word) <= high or int(word) == 0:
            raise UnsupportedRuleError(word)
        numbers.append(int(word))
    return tuple(dict.fromkeys(numbers))


def _number(text: str, high: int) -> int:
    if not re.fullmatch(r"\d{1,10}", text) or not 1 <= int(text) <= high:
        raise UnsupportedRuleError(text)
    return int(text)
