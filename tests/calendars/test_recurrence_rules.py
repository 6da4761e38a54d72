from __future__ import annotations

import datetime as dt

import pytest
from dateutil.rrule import rrulestr
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from newagent.calendars.ics_rules import MAX_STEPS, UnsupportedRuleError, safe_rule

START = dt.datetime(2026, 3, 2, 8, tzinfo=dt.UTC)
LAST = dt.date(2026, 7, 5)
SPAN = 126


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR",
        "FREQ=DAILY;BYMONTH=3",
        "FREQ=DAILY;INTERVAL=1000",
        "FREQ=WEEKLY;INTERVAL=4;BYMONTH=3",
        "FREQ=MONTHLY;BYMONTHDAY=31",
        "FREQ=MONTHLY;BYMONTHDAY=-1,28;INTERVAL=12",
        "FREQ=MONTHLY;BYDAY=-1FR,2MO;BYMONTH=3,4",
        "FREQ=MONTHLY;BYDAY=5MO",
        "FREQ=MONTHLY;BYMONTH=2",
        "FREQ=YEARLY;INTERVAL=4",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28",
    ],
)
def test_rules_that_a_timetable_may_have(text: str) -> None:
    assert safe_rule(text, START, LAST, SPAN).text == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "FREQ=WEEKLY;FREQ=DAILY",
        "FREQ=WEEKLY;COUNT=",
        "FREQ=HOURLY",
        "FREQ=MINUTELY;INTERVAL=10",
        "FREQ=SECONDLY;COUNT=1000000000",
        "FREQ=DAILY;BYHOUR=8,9,10",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
        "FREQ=DAILY;BYDAY=1MO",
        "FREQ=WEEKLY;INTERVAL=0",
        "FREQ=WEEKLY;INTERVAL=1001",
        "FREQ=WEEKLY;INTERVAL=-1",
        "FREQ=WEEKLY;INTERVAL=5;BYMONTH=2",
        "FREQ=WEEKLY;BYMONTHDAY=13",
        "FREQ=WEEKLY;BYDAY=XX",
        "FREQ=WEEKLY;BYDAY=9MO",
        "FREQ=WEEKLY;WKST=M",
        "FREQ=WEEKLY;COUNT=0",
        "FREQ=WEEKLY;COUNT=10000000000",
        "FREQ=WEEKLY;UNTIL=soon",
        "FREQ=WEEKLY;UNTIL=P1D",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1",
        "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
        "FREQ=MONTHLY;BYMONTHDAY=30;BYMONTH=2",
        "FREQ=MONTHLY;BYMONTHDAY=31;INTERVAL=12",
        "FREQ=MONTHLY;BYDAY=5MO;INTERVAL=2",
        "FREQ=MONTHLY;BYDAY=MO,1TU",
        "FREQ=MONTHLY;BYMONTH=2;INTERVAL=2",
        "FREQ=MONTHLY;BYMONTHDAY=0",
        "FREQ=MONTHLY;BYMONTHDAY=32",
        "FREQ=YEARLY;BYDAY=1MO",
        "FREQ=YEARLY;BYMONTH=2",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYWEEKNO=20",
    ],
)
def test_rules_that_are_not_expanded(text: str) -> None:
    with pytest.raises(UnsupportedRuleError):
        safe_rule(text, START, LAST, SPAN)


def test_a_month_that_lacks_the_day_of_the_start() -> None:
    with pytest.raises(UnsupportedRuleError):
        safe_rule("FREQ=MONTHLY;BYMONTH=2", START.replace(day=30), LAST, SPAN)


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        ("20260501T080000Z", "20260501T080000Z"),
        ("20260501T080000", "20260501T000000Z"),
        ("20260501", "20260501T155959Z"),
        ("99991231T235959Z", "22001231T235959Z"),
        ("00011231T000000Z", "00011231T000000Z"),
    ],
)
def test_until_is_told_in_utc(until: str, expected: str) -> None:
    start = START.astimezone(dt.timezone(dt.timedelta(hours=8)))
    assert safe_rule(f"FREQ=WEEKLY;UNTIL={until}", start, LAST, SPAN).text == f"FREQ=WEEKLY;UNTIL={expected}"


def test_an_until_before_the_first_year() -> None:
    start = START.astimezone(dt.timezone(dt.timedelta(hours=8)))
    with pytest.raises(UnsupportedRuleError):
        safe_rule("FREQ=WEEKLY;UNTIL=00010101T000000", start, LAST, SPAN)


def test_the_work_of_a_rule_is_told_and_bounded() -> None:
    assert safe_rule("FREQ=WEEKLY", START, LAST, SPAN).steps == SPAN
    assert safe_rule("FREQ=WEEKLY", START.replace(year=2027), LAST, SPAN).steps == 1
    with pytest.raises(UnsupportedRuleError):
        safe_rule("FREQ=WEEKLY", START - dt.timedelta(days=MAX_STEPS), LAST, SPAN)


_NUMBERS = st.integers(-31, 32)
_PARTS = st.fixed_dictionaries(
    {"FREQ": st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])},
    optional={
        "INTERVAL": st.integers(1, 13).map(str),
        "BYDAY": st.lists(st.sampled_from(["MO", "SU", "1TU", "-1FR", "4WE", "5MO"]), min_size=1, max_size=3).map(
            ",".join
        ),
        "BYMONTH": st.lists(st.integers(1, 12), min_size=1, max_size=3).map(lambda ns: ",".join(map(str, ns))),
        "BYMONTHDAY": st.lists(_NUMBERS, min_size=1, max_size=3).map(lambda ns: ",".join(map(str, ns))),
    },
)


@settings(max_examples=150, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(_PARTS, st.dates(dt.date(2020, 1, 1), dt.date(2026, 7, 1)))
def test_a_rule_that_is_let_through_fires_within_its_bounds(parts: dict[str, str], day: dt.date) -> None:
    """And is never one that the library searches for up to the year 9999."""
    text = ";".join(f"{key}={value}" for key, value in parts.items())
    start = dt.datetime.combine(day, dt.time(8))
    try:
        rule = safe_rule(text, start.replace(tzinfo=dt.UTC), LAST, SPAN)
    except UnsupportedRuleError:
        return
    fired = rrulestr(rule.text, dtstart=start)
    assert next(iter(fired)) <= start + dt.timedelta(days=366 * 9 * int(parts.get("INTERVAL", 1)))
    first = dt.datetime.combine(LAST, dt.time(23)) - dt.timedelta(days=SPAN)
    assert len(fired.between(first, dt.datetime.combine(LAST, dt.time(23)))) <= rule.dates
