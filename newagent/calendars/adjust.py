"""Days off and make-up days (调休): a working day that follows the timetable of another date."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from newagent.calendars.model import Meeting
from newagent.schedule.calendar import Semester


@dataclass(frozen=True)
class Adjustments:
    """Dates without teaching, and dates that follow the timetable of another one instead of their own."""

    days_off: frozenset[dt.date] = frozenset()
    make_up: tuple[tuple[dt.date, dt.date], ...] = ()

    def apply(self, semester: Semester, meetings: Sequence[Meeting]) -> tuple[list[Meeting], int, int]:
        """The meetings as they take place, how many were moved to a make-up day, and how many are off."""
        if not self.days_off and not self.make_up:
            return list(meetings), 0, 0
        dates = {meeting: semester.date_of(meeting.week, meeting.day_of_week) for meeting in meetings}
        replaced = self.days_off.union(date for date, _ in self.make_up)
        kept = [meeting for meeting in meetings if dates[meeting] not in replaced]
        off = {meeting for meeting in meetings if dates[meeting] in replaced}
        moved = 0
        for date, follows in self.make_up:
            week, day_of_week = semester.position(date)
            for meeting in dates:
                if dates[meeting] == follows:
                    kept.append(Meeting(week, day_of_week, meeting.start, meeting.end))
                    off.discard(meeting)
                    moved += 1
        return kept, moved, len(off)
