"""Weeks, weekdays, sections, periods and dates."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from pydantic import ValidationError

from newagent.schedule.calendar import DEFAULT_SECTIONS, Section, Semester


def test_week_one_is_the_week_that_holds_the_first_day() -> None:
    semester = Semester(start_date=dt.date(2026, 3, 4), weeks=2)
    assert semester.first_monday == dt.date(2026, 3, 2)
    assert semester.end_date == dt.date(2026, 3, 15)
    assert semester.position(dt.date(2026, 3, 4)) == (1, 3)
    assert semester.position(dt.date(2026, 3, 1)) == (0, 7)
    assert semester.date_of(2, 7) == dt.date(2026, 3, 15)
    assert not semester.holds(dt.date(2026, 3, 3)), "days of week 1 before the first day are outside"
    assert semester.holds(dt.date(2026, 3, 4))
    assert semester.holds(dt.date(2026, 3, 15))
    assert not semester.holds(dt.date(2026, 3, 16))


def test_dates_are_cut_to_the_semester() -> None:
    semester = Semester(start_date=dt.date(2026, 3, 4), weeks=1)
    all_days = list(semester.dates(dt.date(2026, 1, 1), dt.date(2026, 12, 31)))
    assert all_days == [dt.date(2026, 3, day) for day in range(4, 9)]
    assert list(semester.dates(dt.date(2026, 3, 7), dt.date(2026, 3, 6))) == []


@pytest.mark.parametrize("start", [dt.date(2026, 3, 2) + dt.timedelta(days=n) for n in range(7)])
def test_positions_and_dates_are_inverse(start: dt.date) -> None:
    semester = Semester(start_date=start, weeks=3)
    for date in semester.dates(start, semester.end_date):
        assert semester.date_of(*semester.position(date)) == date


def test_the_default_day() -> None:
    assert len(DEFAULT_SECTIONS) == 12
    assert DEFAULT_SECTIONS[0].start == dt.time(8, 0)
    assert DEFAULT_SECTIONS[11].end == dt.time(22, 30)
    assert Semester(start_date=dt.date(2026, 3, 2)).periods == {
        "morning": (1, 4),
        "afternoon": (5, 8),
        "evening": (9, 12),
    }


def test_a_day_can_be_made_longer_until_midnight() -> None:
    semester = Semester(start_date=dt.date(2026, 3, 2))
    longer = semester.extended(13)
    assert len(longer.sections) == 13
    assert (longer.sections[12].start, longer.sections[12].end) == (dt.time(22, 40), dt.time(23, 25))
    assert longer.periods["evening"] == (9, 13)
    assert semester.extended(5) == semester
    with pytest.raises(ValueError, match="section 14"):
        semester.extended(14)


def test_times_know_their_zone() -> None:
    semester = Semester(start_date=dt.date(2026, 3, 2), time_zone="Europe/Berlin")
    summer = semester.instant(dt.date(2026, 3, 30), dt.time(8))
    winter = semester.instant(dt.date(2026, 3, 27), dt.time(8))
    assert (summer.utcoffset(), winter.utcoffset()) == (dt.timedelta(hours=2), dt.timedelta(hours=1))


NIGHT = Section(start=dt.time(20), end=dt.time(21), period="evening")
MORNING = Section(start=dt.time(8), end=dt.time(9), period="morning")


@pytest.mark.parametrize(
    "fields",
    [
        {"weeks": 0},
        {"weeks": 31},
        {"time_zone": "Mars/Olympus"},
        {"sections": ()},
        {"sections": (NIGHT, MORNING)},
        {"sections": (MORNING, MORNING)},
        {"sections": (NIGHT.model_copy(update={"start": dt.time(7), "end": dt.time(8)}), MORNING)},
        {"sections": tuple(DEFAULT_SECTIONS) * 3},
        {"unknown": 1},
    ],
)
def test_a_faulty_semester_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Semester(start_date=dt.date(2026, 3, 2), **fields)


def test_a_section_ends_after_it_starts() -> None:
    with pytest.raises(ValidationError):
        Section(start=dt.time(9), end=dt.time(9), period="morning")
