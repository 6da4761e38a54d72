"""The VTIMEZONE of a semester: every change of offset that falls into it.

Written by hand, since the library's search steps over summer times that are interrupted for a month.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import icalendar

from newagent.schedule.calendar import Semester

_icalendar: Any = icalendar
_A_DAY = dt.timedelta(days=1)
_A_SECOND = dt.timedelta(seconds=1)


def time_zone(semester: Semester) -> Any:
    """The zone's component: its offset at the start, and each later one, from the first week's Monday to the end."""
    zone = semester.zone
    component = _icalendar.Timezone()
    component["TZID"] = semester.time_zone
    first = dt.datetime.combine(semester.first_monday - _A_DAY, dt.time.min, tzinfo=dt.UTC)
    last = dt.datetime.combine(semester.end_date + _A_DAY, dt.time.min, tzinfo=dt.UTC)
    before = _offset(first, zone)
    component.add_component(_observance(first.astimezone(zone), before))
    for instant in _changes(first, last, zone):
        component.add_component(_observance(instant.astimezone(zone), before))
        before = _offset(instant, zone)
    return component


def _observance(start: dt.datetime, before: dt.timedelta) -> Any:
    """What holds from `start` on. RFC 5545 tells its start as a clock shows it that still has the offset `before`."""
    part = _icalendar.TimezoneDaylight() if start.dst() else _icalendar.TimezoneStandard()
    after = start.utcoffset()
    part["DTSTART"] = _icalendar.vDatetime((start.astimezone(dt.UTC) + before).replace(tzinfo=None))
    part["TZNAME"] = start.tzname()
    part["TZOFFSETFROM"] = _icalendar.vUTCOffset(before)
    part["TZOFFSETTO"] = _icalendar.vUTCOffset(after)
    return part


def _changes(first: dt.datetime, last: dt.datetime, zone: dt.tzinfo) -> Iterator[dt.datetime]:
    """The instants in UTC at which the offset changes, to the second; at most one a day."""
    day = first
    while day < last:
        low, high = day, day + _A_DAY
        day = high
        if _offset(low, zone) == _offset(high, zone):
            continue
        while high - low > _A_SECOND:
            middle = low + dt.timedelta(seconds=(high - low) // _A_SECOND // 2)
            if _offset(middle, zone) == _offset(low, zone):
                low = middle
            else:
                high = middle
        yield high


def _offset(instant: dt.datetime, zone: dt.tzinfo) -> dt.timedelta:
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None, "every zone of the system has one"
    return offset
