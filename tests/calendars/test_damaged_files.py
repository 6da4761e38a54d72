"""Whatever the bytes: a result whose parts agree, or an InputError. Never another exception, never half a row."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newagent.calendars.importer import read_timetable
from newagent.calendars.model import ImportResult
from newagent.calendars.sample import sample_term
from newagent.errors import InputError
from tests.calendars.calendar_files import HEADER, TERM, calendar, event, rows

SAMPLE = sample_term()[1]
ICS = calendar(
    "X-WR-TIMEZONE:Europe/Berlin",
    "BEGIN:VTIMEZONE\r\nTZID:Custom\r\nBEGIN:STANDARD\r\nDTSTART:20001029T030000\r\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU"
    "\r\nTZOFFSETFROM:+0400\r\nTZOFFSETTO:+0300\r\nEND:STANDARD\r\nEND:VTIMEZONE",
    event("RRULE:FREQ=WEEKLY;COUNT=9;BYDAY=MO,WE", "EXDATE;TZID=Asia/Shanghai:20260309T080000", "LOCATION:三教\\, 201"),
    event(
        "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Asia/Shanghai:20260316T080000", "SEQUENCE:2", start="20260317T101500"
    ),
    event(
        "UID:2", "DTSTART;TZID=Custom:20260303T030000", "DURATION:PT1H40M", "RDATE:20260304T000000Z,20260305T000000Z"
    ),
    event("UID:3", "DTSTART;VALUE=DATE:20260303", "STATUS:CANCELLED"),
).encode()
JSON = json.dumps(
    {
        **rows("线代,1,1,2,,A,1-16双", "体育,3,11,13,,,2").as_json(),
        "days_off": ["2026-05-01"],
        "make_up": [{"date": "2026-05-09", "follows": "2026-05-01"}],
    },
    ensure_ascii=False,
).encode()
FILES = {"t.csv": SAMPLE, "t.ics": ICS, "t.json": JSON}
SCRAPS = (
    *(b"", b"\0", b"\r\n", b"\n ", b'"', b",", b":", b";", b"=", b"-", b"[", b"}", b"9", b"0", b"\xff", b"\xe4\xb8"),
    *(b"BEGIN:VEVENT\r\n", b"END:VEVENT\r\n", b"END:VCALENDAR\r\n", b"TZID=", b"99991231T235959Z", b"00010101T000000"),
    *(b"RRULE:FREQ=DAILY\r\n", b"INTERVAL=0", b"COUNT=-1", b"20260302", b"1e999", b"null", b"true", b"\\u0000"),
    *("1-99、单".encode(), "周".encode(), "㊀".encode(), "٣".encode(), b"\xe2\x80\xa8", b"\x0b", b"\x85"),
)


def check(data: bytes, name: str) -> ImportResult | None:
    refusal: InputError | None = None
    try:
        result = read_timetable(data, TERM, filename=name)
    except InputError as error:
        refusal = error
        result = ImportResult(TERM)
    if refusal is not None:
        assert refusal.code.isidentifier()
        assert refusal.message
        return None
    assert result == read_timetable(data, TERM, filename=name)
    json.dumps(result.as_json(), ensure_ascii=False).encode()
    last = len(result.semester.sections)
    for course in result.courses:
        assert course.name.strip() == course.name != ""
        assert course.meetings == tuple(sorted(set(course.meetings)))
        for m in course.meetings:
            assert 1 <= m.start <= m.end <= last
            assert result.semester.holds(result.semester.date_of(m.week, m.day_of_week))
    taken = {row.course for row in result.report if row.taken}
    assert taken == {course.name for course in result.courses}
    assert all(row.reasons for row in result.report if not row.taken)
    return result


@pytest.mark.parametrize("name", FILES)
def test_the_whole_files_are_read(name: str) -> None:
    result = check(FILES[name], name)
    assert result is not None
    assert result.courses


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["t.csv", "t.ics", "t.json", "t"]))
def test_any_bytes(data: bytes, name: str) -> None:
    check(data, name)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300), st.sampled_from([f"{HEADER}\n", "BEGIN:VCALENDAR\nBEGIN:VEVENT\n", '{"courses":[', ""]))
def test_any_text(text: str, start: str) -> None:
    check((start + text).encode("utf-8", "surrogatepass"), "t")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            *[st.text("甲a,\"' ;\t:1", max_size=5) | st.sampled_from(["a", "甲"])],
            st.sampled_from(["1", "7", "8", "周三", "", "x"]),
            st.sampled_from(["1", "5", "13", "14", "-1", "第2节"]),
            st.sampled_from(["2", "6", "13", "99"]),
            st.text("甲 1\n", max_size=3),
            st.sampled_from(["1-18", "3-9单", "20-40", "2,4", "", "0"]),
        ),
        max_size=8,
    )
)
def test_any_cells(cells: list[tuple[str, ...]]) -> None:
    written = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells)
    result = check(f"课程,星期,开始节,结束节,地点,周数\n{written}\n".encode(), "t.csv")
    assert result is None or len(result.report) == len(cells)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_files_with_a_few_things_changed(name: str, seed: int) -> None:
    check(damaged(FILES[name], seed), name)


def damaged(data: bytes, seed: int) -> bytes:
    """The file with a few pieces cut out, doubled, moved or replaced by scraps."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 6)):
        first = chance.randrange(len(data) + 1)
        last = min(len(data), first + chance.choice((0, 1, 1, 3, 10, 60)))
        piece = chance.choice(
            (b"", chance.choice(SCRAPS), chance.choice(SCRAPS), data[first:last] * 2, data[last:first])
        )
        data = data[:first] + piece + data[last:]
    return data
