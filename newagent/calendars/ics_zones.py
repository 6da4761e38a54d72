"""The time zones that an iCalendar file names: known names, names of Windows, and zones that it defines itself."""

from __future__ import annotations

import datetime as dt
import io
import zoneinfo
from collections.abc import Iterator, Mapping
from typing import Any

import dateutil.tz
from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from newagent.calendars.ics_lines import property_of

_tzical: Any = dateutil.tz.tzical
_MAX_OBSERVANCES = 60
_OF_THE_MACHINE = frozenset(("localtime", "posixrules", "Factory"))
_RULE_PARTS = frozenset(("FREQ", "INTERVAL", "COUNT", "UNTIL", "BYMONTH", "BYMONTHDAY", "BYDAY", "WKST"))
_PROPERTIES = frozenset(("DTSTART", "RRULE", "RDATE", "TZOFFSETFROM", "TZOFFSETTO", "TZNAME"))


class Zones:
    """The zones of one file. A known name goes before a definition in the file, which may be old or cut short.

    Definitions are never kept beyond the file: another may use the same name for something else.
    """

    def __init__(self, definitions: Mapping[str, list[str]]) -> None:
        self._definitions = definitions
        self._known: dict[str, dt.tzinfo | None] = {}

    def find(self, name: str) -> dt.tzinfo | None:
        """The zone of a TZID, None if neither the system nor the file knows it."""
        name = name.strip().strip('"')
        if name not in self._known:
            self._known[name] = _named(name) or _defined(self._definitions.get(name, []))
        return self._known[name]


def _named(name: str) -> dt.tzinfo | None:
    for candidate in _candidates(name):
        if candidate not in _OF_THE_MACHINE:
            try:
                return zoneinfo.ZoneInfo(candidate)
            except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
                continue
    return None


def _candidates(name: str) -> Iterator[str]:
    """The name, its meaning on Windows, and the ends of a path such as /vendor.example/20260101/Europe/Paris."""
    yield name
    if name in WINDOWS_TO_OLSON:
        yield WINDOWS_TO_OLSON[name]
    if name.startswith("/"):
        parts = name.strip("/").split("/")[-4:]
        for first in range(len(parts)):
            yield "/".join(parts[first:])


def _defined(lines: list[str]) -> dt.tzinfo | None:
    """The zone that a VTIMEZONE defines, None if there is none, or one whose rules are not those of a zone."""
    text: list[str] = []
    for line in lines:
        name, value = property_of(line)
        if name == "RRULE" and not _is_yearly(value):
            return None
        if name == "TZID":
            text.append("TZID:file")
        elif name in ("BEGIN", "END") or name in _PROPERTIES:
            text.append(f"{name}:{value}")
    if not 0 < text.count("BEGIN:STANDARD") + text.count("BEGIN:DAYLIGHT") <= _MAX_OBSERVANCES:
        return None
    try:
        zone: dt.tzinfo = _tzical(io.StringIO("\r\n".join(text) + "\r\n")).get()
        for month in (1, 7):
            dt.datetime(2026, month, 1, tzinfo=zone).utcoffset()  # raises for an offset that cannot be
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None
    return zone


def _is_yearly(rule: str) -> bool:
    parts: dict[str, str] = {}
    for part in filter(None, rule.upper().split(";")):
        key, _, parts[key] = part.partition("=")
    return parts.get("FREQ") == "YEARLY" and parts.keys() <= _RULE_PARTS and parts.get("INTERVAL", "1") == "1"
