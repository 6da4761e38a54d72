"""The raw shape of an iCalendar file: unfolded lines, and which of them make up each event and time zone.

Only what an import needs is kept, so that one broken event costs that event and not the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from newagent.calendars.collect import MAX_ROWS, too_many_rows
from newagent.calendars.decode import BOM, decode

_BEGIN = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n])[ \t]*BEGIN:VCALENDAR[ \t]*(?:[\r\n]|\Z)", re.IGNORECASE)
_DEEPEST = 10
_MARK = re.compile(r"(BEGIN|END):\s*(\S+)\s*", re.IGNORECASE)


@dataclass
class CalendarHead:
    """What a VCALENDAR says of all its events; filled in while it is read."""

    method: str = ""
    zone: str = ""


@dataclass
class RawEvent:
    """The content lines of one VEVENT, without those of its alarms. `line` is where its BEGIN stands."""

    line: int
    head: CalendarHead
    lines: list[str] = field(default_factory=list[str])
    closed: bool = False


@dataclass
class RawCalendar:
    """The events of a file in order, and the content lines of its time zones by TZID."""

    events: list[RawEvent] = field(default_factory=list[RawEvent])
    zones: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def is_calendar(data: bytes) -> bool:
    """Whether a file is an iCalendar file: some line begins a VCALENDAR."""
    return _BEGIN.search(data) is not None


def split_calendar(data: bytes) -> RawCalendar:
    """Splits a file into its events. Raises `InputError`: those of `decode`, too_many_rows."""
    numbers, text = _unfold(data)
    calendar = RawCalendar()
    head = CalendarHead()
    stack: list[str] = []
    event: RawEvent | None = None
    zone: list[str] = []
    for number, line in zip(numbers, text.split("\n"), strict=True):
        mark = _MARK.fullmatch(line)
        if mark is None:
            if not stack:
                continue
            if stack[-1] == "VCALENDAR":
                _read_head(head, line)
            elif event is not None and stack[-1] == "VEVENT":
                event.lines.append(line)
            elif "VTIMEZONE" in stack:
                zone.append(line)
            continue
        word, name = mark[1].upper(), mark[2].upper()
        if word == "BEGIN":
            if name == "VCALENDAR":
                head, stack, event = CalendarHead(), [], None
            elif name == "VEVENT":
                stack = [part for part in stack if part == "VCALENDAR"]
                event = RawEvent(number, head)
                calendar.events.append(event)
                if len(calendar.events) > MAX_ROWS:
                    raise too_many_rows()
            elif name == "VTIMEZONE":
                zone = []
            if len(stack) < _DEEPEST:
                stack.append(name)
            if "VTIMEZONE" in stack:
                zone.append(f"BEGIN:{name}")
        elif name in stack:
            if "VTIMEZONE" in stack:
                zone.append(f"END:{name}")
            while stack.pop() != name:
                pass
            if name == "VEVENT" and event is not None:
                event.closed, event = True, None
            elif name == "VTIMEZONE":
                _keep_zone(calendar, zone)
    return calendar


def property_of(line: str) -> tuple[str, str]:
    """The name of a content line and its value, without looking at quotes in its parameters."""
    name, _, value = line.partition(":")
    return name.partition(";")[0].strip().upper(), value.strip()


def _read_head(head: CalendarHead, line: str) -> None:
    name, value = property_of(line)
    if name == "METHOD":
        head.method = value.upper()
    elif name == "X-WR-TIMEZONE":
        head.zone = value


def _keep_zone(calendar: RawCalendar, lines: list[str]) -> None:
    for line in lines:
        name, value = property_of(line)
        if name == "TZID":
            calendar.zones.setdefault(value.strip('"'), lines)
            return


def _unfold(data: bytes) -> tuple[list[int], str]:
    """The content lines, one a line, and the number of the line on which each begins.

    Unfolding goes by bytes, since exporters fold in the middle of a character.
    """
    numbers: list[int] = []
    parts: list[list[bytes]] = []
    for number, line in enumerate(re.split(rb"\r\n|\n|\r", data.removeprefix(BOM)), start=1):
        if line[:1] in (b" ", b"\t") and parts:
            parts[-1].append(line[1:])
        else:
            numbers.append(number)
            parts.append([line])
    return numbers, decode(b"\n".join(b"".join(part) for part in parts))
