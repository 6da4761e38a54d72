"""The occurrences of a series of events, by the recurring-ical-events library."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import icalendar
import recurring_ical_events  # pyright: ignore[reportMissingTypeStubs]

from newagent.calendars.ics_event import CalendarEvent

_icalendar: Any = icalendar
_recurring: Any = recurring_ical_events
_LINE = "X-NEWAGENT-LINE"

Span = tuple[dt.datetime, dt.datetime]


def occurrences(
    events: Sequence[tuple[CalendarEvent, str]], first: dt.datetime, last: dt.datetime
) -> dict[int, list[Span]]:
    """What takes place between `first` and `last`, by the line of the event that describes it.

    `events` are one series, each with its checked rule or "". Start and end are wall-clock times in the zone of
    `first`, without tzinfo. Raises `ValueError` for what the library cannot make sense of.
    """
    calendar = _icalendar.Calendar()
    for event, rule in events:
        calendar.add_component(_component(event, rule))
    found: dict[int, list[Span]] = defaultdict(list)
    try:
        for one in _recurring.of(calendar).between(first, last):
            start, end = (one[name].dt.astimezone(first.tzinfo).replace(tzinfo=None) for name in ("DTSTART", "DTEND"))
            found[int(one[_LINE])].append((start, end))
    except (TypeError, AttributeError, LookupError, ArithmeticError, AssertionError) as error:
        raise ValueError(str(error)) from error
    return found


def _component(event: CalendarEvent, rule: str) -> Any:
    """The event with nothing in it but what recurrence needs."""
    component = _icalendar.Event()
    component["UID"] = "series"
    component[_LINE] = str(event.line)
    component["DTSTART"] = _icalendar.vDDDTypes(event.start)
    component["DTEND"] = _icalendar.vDDDTypes(event.end)
    if rule:
        component["RRULE"] = _icalendar.vRecur.from_ical(rule)
    if event.rdates:
        component["RDATE"] = _icalendar.vDDDLists(list(event.rdates))
    if event.exdates:
        component["EXDATE"] = _icalendar.vDDDLists(list(event.exdates))
    if event.recurrence_id is not None:
        parameters = {"RANGE": "THISANDFUTURE"} if event.and_future else {}
        component["RECURRENCE-ID"] = _icalendar.vDDDTypes(event.recurrence_id, parameters)
    return component
