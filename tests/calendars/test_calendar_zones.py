from __future__ import annotations

import datetime as dt

import pytest

from newagent.calendars.ics_zones import Zones
from tests.calendars.calendar_files import TERM, codes, event, events, places

MOSCOW_RULES = (
    "BEGIN:VTIMEZONE",
    "TZID:{name}",
    "X-LIC-LOCATION:Somewhere",
    "BEGIN:STANDARD",
    "DTSTART;VALUE=DATE-TIME:20001029T030000",
    "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
    "TZOFFSETFROM:+0400",
    "TZOFFSETTO:+0300",
    "X-ODD:1",
    "END:STANDARD",
    "BEGIN:DAYLIGHT",
    "DTSTART:20000326T020000",
    "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
    "TZOFFSETFROM:+0300",
    "TZOFFSETTO:+0400",
    "END:DAYLIGHT",
    "END:VTIMEZONE",
)


def zone(name: str = "Custom", old: str = "", new: str = "") -> str:
    """A VTIMEZONE three hours ahead of UTC, four in summer, with something replaced."""
    return "\r\n".join(MOSCOW_RULES).format(name=name).replace(old, new)


def timed(name: str, start: str = "20260302T030000", end: str = "20260302T044000") -> str:
    return event(f'DTSTART;TZID="{name}":{start}', f"DTEND;TZID={name}:{end}", "RRULE:FREQ=WEEKLY;COUNT=5")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Asia/Shanghai", "Asia/Shanghai"),
        ("China Standard Time", "Asia/Shanghai"),
        ("W. Europe Standard Time", "Europe/Berlin"),
        ("/example.org/20260101_1/Europe/Paris", "Europe/Paris"),
        ("/example.org/America/Argentina/Salta", "America/Argentina/Salta"),
        ('"Europe/Rome"', "Europe/Rome"),
        ("localtime", None),
        ("posixrules", None),
        ("../../etc/passwd", None),
        ("/etc/localtime", None),
        ("Europe", None),
        ("Nowhere/Town", None),
        ("北京", None),
        ("", None),
    ],
)
def test_names_of_zones(name: str, known: str | None) -> None:
    found = Zones({}).find(name)
    assert getattr(found, "key", None) == known


def test_the_zone_of_a_windows_calendar() -> None:
    shanghai = timed("China Standard Time", "20260302T080000", "20260302T094000")
    assert places(events(shanghai)) == [(week, 1, 1, 2) for week in range(1, 6)]


def test_a_zone_that_the_file_defines() -> None:
    result = events(zone(), timed("Custom"), semester=TERM)
    assert codes(result) == [(True, ())]
    # 03:00 of UTC+3 is 08:00 in Shanghai; with summer time, from week 5, it is 07:00
    assert places(result) == [*((week, 1, 1, 2) for week in range(1, 5)), (5, 1, 1, 1)]


def test_a_known_name_goes_before_its_definition() -> None:
    shanghai = timed("Asia/Shanghai", "20260302T080000", "20260302T094000")
    assert len(places(events(zone("Asia/Shanghai"), shanghai))) == 5


def test_a_definition_ends_with_its_file() -> None:
    assert codes(events(zone(), timed("Custom"))) == [(True, ())]
    result = events(timed("Custom", "20260302T080000", "20260302T094000"))
    assert codes(result) == [(True, ("unknown_zone",))]
    assert result.report[0].reason() == "时区“Custom”未知，按学期的时区理解"
    assert places(result)[0] == (1, 1, 1, 2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FREQ=YEARLY", "FREQ=SECONDLY"),
        ("FREQ=YEARLY", "FREQ=YEARLY;INTERVAL=2"),
        ("FREQ=YEARLY", "FREQ=YEARLY;BYHOUR=1"),
        ("BEGIN:STANDARD", "BEGIN:OTHER"),
        ("TZOFFSETTO:+0300", "TZOFFSETTO:later"),
        ("TZOFFSETTO:+0300", "TZOFFSETTO:+9900"),
        ("DTSTART;VALUE=DATE-TIME:20001029T030000", "X:Y"),
        ("TZID:Custom", "TZID:Another"),
        (
            "END:STANDARD\r\nBEGIN:DAYLIGHT",
            "END:STANDARD\r\n" + "BEGIN:STANDARD\r\nEND:STANDARD\r\n" * 60 + "BEGIN:DAYLIGHT",
        ),
    ],
)
def test_definitions_that_are_no_zone(old: str, new: str) -> None:
    result = events(zone("Custom", old, new), timed("Custom", "20260302T080000", "20260302T094000"))
    assert codes(result) == [(True, ("unknown_zone",))]


def test_a_zone_without_a_name_and_one_without_rules() -> None:
    nameless = zone("Custom", "TZID:Custom\r\n", "")
    plain = "BEGIN:VTIMEZONE\r\nTZID:Fixed\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0300\r\n"
    plain += "TZOFFSETTO:+0300\r\nEND:STANDARD\r\nEND:VTIMEZONE"
    assert len(places(events(nameless, plain, timed("Fixed")))) == 5


def test_every_event_says_which_zone_is_unknown() -> None:
    odd = event("DTSTART;TZID=B:20260302T080000", "DTEND;TZID=A:20260302T094000")
    assert events(odd).report[0].reason("en") == "unknown time zone “A、B”; read as the semester's"


def test_a_found_zone_is_the_same_object_each_time() -> None:
    lines = zone().split("\r\n")
    zones = Zones({"Custom": lines})
    found = zones.find("Custom")
    assert found is not None
    assert zones.find("Custom") is found
    assert found.utcoffset(dt.datetime(2026, 7, 1)) == dt.timedelta(hours=4)
