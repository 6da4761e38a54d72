"""One VEVENT, read: its texts, and its times made aware in the zone they are meant in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from newagent.calendars.ics_lines import RawEvent
from newagent.calendars.ics_values import parse_moment, split_line
from newagent.calendars.ics_zones import Zones
from newagent.calendars.model import clean
from newagent.calendars.reasons import Reason, shown

EMBED_PROPERTY = "X-NEWAGENT-CAN-EMBED"
MAX_DATES = 1_000
YEARS = (1900, 2200)
_WANTED = frozenset(
    ("UID", "SUMMARY", "LOCATION", "STATUS", "DTSTART", "DTEND", "DURATION", "RRULE", "EXRULE", "RDATE", "EXDATE")
) | {"RECURRENCE-ID", "SEQUENCE", EMBED_PROPERTY}
_MANY = frozenset(("RDATE", "EXDATE", "RRULE"))

Moment = dt.date | dt.datetime


@dataclass(frozen=True)
class CalendarEvent:
    """An event whose times are aware; a date among `exdates` excludes whatever starts on that day.

    `rule` is the text of its RRULE, not yet checked. `recurrence_id` is given for one moved occurrence of a series,
    and with `and_future` for all that follow it. `notes` are worth telling if it is taken.
    """

    line: int
    uid: str
    name: str
    location: str
    start: dt.datetime
    end: dt.datetime
    sequence: int = 0
    cancelled: bool = False
    can_embed: bool = False
    rule: str = ""
    rdates: tuple[dt.datetime, ...] = ()
    exdates: tuple[Moment, ...] = ()
    recurrence_id: dt.datetime | None = None
    and_future: bool = False
    notes: tuple[Reason, ...] = ()

    @property
    def key(self) -> tuple[str, dt.datetime | None]:
        """What versions of the same event have in common."""
        return self.uid, self.recurrence_id and self.recurrence_id.astimezone(dt.UTC)


@dataclass(frozen=True)
class Refused:
    """An event that cannot be read, and why."""

    line: int
    reason: Reason
    name: str = ""


@dataclass
class _Clock:
    """How the times of one calendar are read: floating ones in its zone, else in that of the semester."""

    zones: Zones
    local: dt.tzinfo
    utc_as: dt.tzinfo
    unknown: set[str] = field(default_factory=set[str])

    def aware(self, moment: dt.datetime, zone_name: str) -> dt.datetime:
        if not YEARS[0] <= moment.year <= YEARS[1]:
            raise ValueError(f"{moment.year:04}")
        if moment.tzinfo is not None:
            return moment.astimezone(self.utc_as)
        zone = self.zones.find(zone_name) if zone_name else self.local
        if zone is None:
            self.unknown.add(zone_name)
            zone = self.local
        return moment.replace(tzinfo=zone)


Properties = Mapping[str, list[tuple[str, Mapping[str, str]]]]


def read_event(raw: RawEvent, zones: Zones, local: dt.tzinfo) -> CalendarEvent | Refused:
    """Reads an event; floating times are those of `local`, or of the zone that the calendar names for itself."""
    calendar_zone = zones.find(raw.head.zone) if raw.head.zone else None
    clock = _Clock(zones, calendar_zone or local, calendar_zone or dt.UTC)
    name = ""
    try:
        properties = _properties(raw)
        name = clean(_text(properties, "SUMMARY"))
        if not raw.closed:
            raise ValueError("END:VEVENT")
        event = _read(raw, properties, clock, name)
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:
        return Refused(raw.line, Reason("bad_event", {"detail": shown(str(error))}), name)
    if not clock.unknown:
        return event
    unknown = Reason("unknown_zone", {"zone": shown("、".join(sorted(clock.unknown)))})
    return replace(event, notes=(*event.notes, unknown))


def _read(raw: RawEvent, properties: Properties, clock: _Clock, name: str) -> CalendarEvent:
    if "DTSTART" not in properties:
        raise ValueError("DTSTART")
    start = _moment(properties, "DTSTART", clock)
    cancelled = _text(properties, "STATUS").upper() == "CANCELLED" or raw.head.method == "CANCEL"
    if isinstance(start, dt.datetime):
        end = _end(properties, start, clock)
    else:
        start, end = _whole_days(properties, start, clock)
    if end < start:
        raise ValueError("DTEND")
    recurrence_id, and_future = _recurrence_id(properties, start, clock)
    rdates = _moments(properties, "RDATE", clock)
    series = recurrence_id is None
    return CalendarEvent(
        raw.line,
        _text(properties, "UID"),
        name,
        clean(_text(properties, "LOCATION")),
        start,
        end,
        sequence=_sequence(properties),
        cancelled=cancelled,
        can_embed=_text(properties, EMBED_PROPERTY).upper() == "TRUE",
        rule=_rule(properties) if series else "",
        rdates=tuple(_at_time(moment, start) for moment in rdates) if series else (),
        exdates=_moments(properties, "EXDATE", clock) if series else (),
        recurrence_id=recurrence_id,
        and_future=and_future,
    )


def _properties(raw: RawEvent) -> Properties:
    found: dict[str, list[tuple[str, Mapping[str, str]]]] = {}
    for line in raw.lines:
        head = line.partition(":")[0].partition(";")[0].strip().upper()
        if head not in _WANTED:
            continue
        try:
            value = split_line(line)
        except ValueError:
            raise ValueError(head) from None
        known = found.setdefault(head, [])
        if not known or head in _MANY:
            known.append(value)
    return found


def _text(properties: Properties, name: str) -> str:
    return properties[name][0][0] if name in properties else ""


def _rule(properties: Properties) -> str:
    """The text of the only rule; several of them, or one of exclusion, are joined into what is no rule."""
    rules = [value for value, _ in properties.get("RRULE", ())]
    return " + ".join([*rules, *(["EXRULE"] if "EXRULE" in properties else [])])


def _sequence(properties: Properties) -> int:
    text = _text(properties, "SEQUENCE")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0


def _moment(properties: Properties, name: str, clock: _Clock) -> Moment:
    value, parameters = properties[name][0]
    return _parsed(name, value, parameters, clock)


def _moments(properties: Properties, name: str, clock: _Clock) -> tuple[Moment, ...]:
    moments: list[Moment] = []
    for value, parameters in properties.get(name, ()):
        words = [word.strip() for word in value.split(",") if word.strip()]
        if len(moments) + len(words) > MAX_DATES:
            raise ValueError(name)
        moments.extend(_parsed(name, word.partition("/")[0], parameters, clock) for word in words)
    return tuple(moments)


def _parsed(name: str, value: str, parameters: Mapping[str, str], clock: _Clock) -> Moment:
    try:
        moment = parse_moment(value)
    except ValueError:
        raise ValueError(f"{name}:{shown(value)}") from None
    if isinstance(moment, dt.datetime):
        return clock.aware(moment, parameters.get("TZID", ""))
    if isinstance(moment, dt.timedelta):
        raise ValueError(f"{name}:{shown(value)}")
    return moment


def _end(properties: Properties, start: dt.datetime, clock: _Clock) -> dt.datetime:
    if "DTEND" in properties:
        end = _moment(properties, "DTEND", clock)
        if not isinstance(end, dt.datetime):
            raise ValueError("DTEND")
        return end
    if "DURATION" in properties:
        length = parse_moment(_text(properties, "DURATION"))
        if not isinstance(length, dt.timedelta):
            raise ValueError("DURATION")
        return (start.astimezone(dt.UTC) + length).astimezone(start.tzinfo)
    return start


def _whole_days(properties: Properties, first: dt.date, clock: _Clock) -> tuple[dt.datetime, dt.datetime]:
    last = _moment(properties, "DTEND", clock) if "DTEND" in properties else first
    days = max(1, (dt.date(last.year, last.month, last.day) - first).days)
    start = dt.datetime.combine(first, dt.time.min, tzinfo=clock.local)
    return start, start + dt.timedelta(days=days)


def _recurrence_id(properties: Properties, start: dt.datetime, clock: _Clock) -> tuple[dt.datetime | None, bool]:
    if "RECURRENCE-ID" not in properties:
        return None, False
    moment = _moment(properties, "RECURRENCE-ID", clock)
    parameters = properties["RECURRENCE-ID"][0][1]
    return _at_time(moment, start), parameters.get("RANGE", "").upper() == "THISANDFUTURE"


def _at_time(moment: Moment, start: dt.datetime) -> dt.datetime:
    """A date that stands for an occurrence, at the time of day of its event."""
    return moment if isinstance(moment, dt.datetime) else dt.datetime.combine(moment, start.timetz())
