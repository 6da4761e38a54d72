"""The semester's calendar: weeks, weekdays, sections of a day, and the mapping between them and dates.

Week 1 is the Monday–Sunday week that holds the semester's first day; days of that week before the first day are
outside the semester. The number of sections of a day is data, never a constant.
"""

from __future__ import annotations

import datetime as dt
import zoneinfo
from collections.abc import Iterator
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Period = Literal["morning", "afternoon", "evening"]
PERIODS: tuple[Period, ...] = ("morning", "afternoon", "evening")
WEEKDAY_NAMES = {
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
    "en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
}
MAX_SECTIONS = 24


class Section(BaseModel):
    """One teaching section of a day: local start and end, and the period it belongs to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: dt.time
    end: dt.time
    period: Period

    @model_validator(mode="after")
    def _runs_forward(self) -> Self:
        if self.start >= self.end:
            raise ValueError("a section must end after it starts")
        return self


def _default_table() -> tuple[Section, ...]:
    times = (
        *("08:00-08:45", "08:55-09:40", "10:15-11:00", "11:10-11:55"),
        *("14:00-14:45", "14:55-15:40", "16:15-17:00", "17:10-17:55"),
        *("19:00-19:45", "19:55-20:40", "20:50-21:35", "21:45-22:30"),
    )
    table: list[Section] = []
    for index, span in enumerate(times):
        start, end = (dt.time.fromisoformat(part) for part in span.split("-"))
        table.append(Section(start=start, end=end, period=PERIODS[index // 4]))
    return tuple(table)


DEFAULT_SECTIONS = _default_table()


class Semester(BaseModel):
    """A term: its first day, its length in weeks, its time zone and its section table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start_date: dt.date = Field(ge=dt.date(1901, 1, 1), le=dt.date(2199, 1, 1))
    weeks: int = Field(default=18, ge=1, le=30)
    time_zone: str = "Asia/Shanghai"
    sections: tuple[Section, ...] = Field(default=DEFAULT_SECTIONS, min_length=1, max_length=MAX_SECTIONS)

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        if name not in zoneinfo.available_timezones():
            raise ValueError(f"unknown time zone {name!r}")
        return name

    @model_validator(mode="after")
    def _sections_in_order(self) -> Self:
        for before, after in zip(self.sections, self.sections[1:], strict=False):
            if after.start < before.end:
                raise ValueError("sections must follow one another without overlap")
            if PERIODS.index(after.period) < PERIODS.index(before.period):
                raise ValueError("periods must run from morning to evening")
        return self

    @property
    def zone(self) -> zoneinfo.ZoneInfo:
        """The time zone as an object."""
        return zoneinfo.ZoneInfo(self.time_zone)

    @property
    def first_monday(self) -> dt.date:
        """The Monday of week 1, which may lie before the semester starts."""
        return self.start_date - dt.timedelta(days=self.start_date.weekday())

    @property
    def end_date(self) -> dt.date:
        """The last day of the semester: the Sunday of its last week."""
        return self.first_monday + dt.timedelta(days=7 * self.weeks - 1)

    @property
    def periods(self) -> dict[Period, tuple[int, int]]:
        """First and last section number of each period that the table has."""
        spans: dict[Period, tuple[int, int]] = {}
        for number, section in enumerate(self.sections, start=1):
            first = spans.get(section.period, (number, number))[0]
            spans[section.period] = (first, number)
        return spans

    def holds(self, date: dt.date) -> bool:
        """Whether `date` is a day of the semester."""
        return self.start_date <= date <= self.end_date

    def position(self, date: dt.date) -> tuple[int, int]:
        """(week, day_of_week) of a date, both counted from 1; week may fall outside 1..weeks."""
        days = (date - self.first_monday).days
        return days // 7 + 1, days % 7 + 1

    def date_of(self, week: int, day_of_week: int) -> dt.date:
        """The date of a weekday of a week."""
        return self.first_monday + dt.timedelta(days=7 * (week - 1) + day_of_week - 1)

    def dates(self, first: dt.date, last: dt.date) -> Iterator[dt.date]:
        """The semester's days from `first` to `last`, both included."""
        day = max(first, self.start_date)
        while day <= min(last, self.end_date):
            yield day
            day += dt.timedelta(days=1)

    def instant(self, date: dt.date, time: dt.time) -> dt.datetime:
        """A local wall-clock time of the semester as an aware datetime."""
        return dt.datetime.combine(date, time, tzinfo=self.zone)

    def extended(self, sections: int) -> Semester:
        """The same semester with at least `sections` sections a day.

        Each added one lasts 45 minutes after a break of 10 and belongs to the last period. Raises ValueError where
        the day has no room left before midnight.
        """
        table = list(self.sections)
        while len(table) < sections:
            minute = table[-1].end.hour * 60 + table[-1].end.minute + 10
            if minute + 45 > 24 * 60 - 1:
                raise ValueError(f"a day has no room for section {len(table) + 1}")
            start, end = (dt.time(m // 60, m % 60) for m in (minute, minute + 45))
            table.append(Section(start=start, end=end, period=table[-1].period))
        return self.model_copy(update={"sections": tuple(table)})
