"""From a stretch of time to the sections of the days that it covers."""

from __future__ import annotations

import datetime as dt

from newagent.calendars.model import Meeting
from newagent.schedule.calendar import Semester


def meetings_of(semester: Semester, start: dt.datetime, end: dt.datetime) -> list[Meeting]:
    """The meetings of an event: on each of its days the sections of which it covers more than half.

    `start` and `end` are wall-clock times of the semester's zone, without tzinfo.
    """
    meetings: list[Meeting] = []
    date = start.date()
    while date <= end.date():
        covered = [
            number
            for number, section in enumerate(semester.sections, start=1)
            if _covers(start, end, dt.datetime.combine(date, section.start), dt.datetime.combine(date, section.end))
        ]
        if covered:
            meetings.append(Meeting(*semester.position(date), covered[0], covered[-1]))
        date += dt.timedelta(days=1)
    return meetings


def _covers(start: dt.datetime, end: dt.datetime, first: dt.datetime, last: dt.datetime) -> bool:
    return 2 * (min(end, last) - max(start, first)) > last - first
