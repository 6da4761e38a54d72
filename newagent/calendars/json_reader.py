"""Timetables as JSON: the document that `newagent import --json` prints, or one written by hand.

`{"courses": [{"name", "location"?, "can_embed"?, "slots": [{"week" | "weeks", "day_of_week", "start", "end"}]}],
"days_off"?: [date], "make_up"?: [{"date", "follows"}]}`, or only the array of courses. `weeks` is a text as in a CSV
or an array of numbers.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, cast

from newagent.calendars.adjust import Adjustments
from newagent.calendars.collect import MAX_MEETINGS, Collector, too_many_rows
from newagent.calendars.model import Meeting, clean
from newagent.calendars.reasons import Reason, shown
from newagent.calendars.weeks import MAX_WEEK, parse_weeks
from newagent.errors import InputError

MAX_MAKE_UP = 100
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]|[^\s"\[\]{},:]+')


def read_json(text: str, collector: Collector) -> None:
    """Gives every course of a JSON document to the collector.

    Raises `InputError`: bad_json (no JSON), bad_document (no timetable), and those of the collector.
    """
    try:
        document = json.loads(text.removeprefix("\ufeff"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InputError("bad_json", f"the file is not a JSON document: {error}") from None
    courses, adjustments = _parts(document)
    lines = _course_lines(text, whole=isinstance(document, list))
    for line, course in zip(lines, courses, strict=True):
        _take_course(line, course, adjustments, collector)


def _parts(document: object) -> tuple[list[object], Adjustments]:
    if isinstance(document, list):
        return cast("list[object]", document), Adjustments()
    fields = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    courses = fields.get("courses")
    if not isinstance(courses, list):
        raise InputError("bad_document", "the document has no array of courses")
    try:
        days_off = frozenset(_date(day) for day in _array(fields.get("days_off", [])))
        changes = _array(fields.get("make_up", []))
        make_up = tuple((_date(_of(change, "date")), _date(_of(change, "follows"))) for change in changes)
        if len(make_up) > MAX_MAKE_UP:
            raise ValueError(f"there are more than {MAX_MAKE_UP} of them")
    except ValueError as error:
        raise InputError("bad_document", f"the days off or make-up days are malformed: {error}") from None
    return cast("list[object]", courses), Adjustments(days_off, make_up)


def _take_course(line: int, course: object, adjustments: Adjustments, collector: Collector) -> None:
    name = ""
    try:
        name = clean(_text(_of(course, "name"), "name"))
        if not name:
            collector.refuse(line, Reason("no_name"))
            return
        fields = cast("dict[str, object]", course)
        location = clean(_text(fields.get("location") or "", "location"))
        can_embed = fields.get("can_embed", False)
        if not isinstance(can_embed, bool):
            raise ValueError("can_embed")
        slots = _array(_of(course, "slots"))
        meetings: list[Meeting] = []
        for slot in slots:
            meetings.extend(_meetings(slot, collector.semester.weeks))
            if len(meetings) > MAX_MEETINGS:
                raise too_many_rows()
        if not meetings:
            raise ValueError("slots")
    except ValueError as error:
        collector.refuse(line, Reason("bad_course", {"detail": shown(str(error))}), name)
        return
    held, moved, off = adjustments.apply(collector.semester, meetings)
    if not held:
        collector.refuse(line, Reason("all_off"), name)
        return
    notes = [Reason("adjusted", {"moved": moved, "off": off})] if moved or off else []
    collector.take(line, name, location, held, notes=notes, can_embed=can_embed)


def _meetings(slot: object, last_week: int) -> list[Meeting]:
    day_of_week = _number(_of(slot, "day_of_week"), "day_of_week", 7)
    start = _number(_of(slot, "start"), "start", 99)
    end = _number(_of(slot, "end"), "end", 99)
    if end < start:
        raise ValueError("end")
    fields = cast("dict[str, object]", slot)
    weeks = fields.get("weeks", [fields.get("week")])
    if isinstance(weeks, str):
        numbers: Sequence[int] = parse_weeks(weeks, last_week)
    else:
        numbers = [_number(week, "week", MAX_WEEK) for week in _array(weeks)]
    return [Meeting(week, day_of_week, start, end) for week in numbers]


def _of(value: object, key: str) -> object:
    if not isinstance(value, dict) or key not in value:
        raise ValueError(key)
    return cast("dict[str, object]", value)[key]


def _array(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("an array is missing")
    return cast("list[object]", value)


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise ValueError(key)
    return value


def _number(value: object, key: str, last: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= last:
        raise ValueError(key)
    return value


def _date(value: object) -> dt.date:
    return dt.date.fromisoformat(_text(value, "date"))


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _course_lines(text: str, *, whole: bool) -> list[int]:
    """The line on which each course begins, in a text that is known to be JSON.

    The courses are the elements of the whole document, or of its last "courses".
    """
    starts: list[int] = []
    key: str | None = None
    depth, level = 0, 1 if whole else 2
    inside = awaited = False
    for match in _PART.finditer(text):
        part = match[0]
        if awaited and part not in "],":
            starts.append(match.start())
            awaited = False
        if part in "[{":
            depth += 1
            if depth == level and part == "[" and (whole or key == "courses"):
                starts, inside, awaited = [], True, True
        elif part in "]}":
            depth -= 1
            if depth < level:
                inside = awaited = False
        elif part == ",":
            awaited = inside and depth == level
            key = None if depth == 1 else key
        elif part[0] == '"' and depth == 1 and key is None:
            key = json.loads(part)
    breaks = [match.end() for match in re.finditer(r"\r\n|\n|\r", text)]
    return [bisect_right(breaks, start) + 1 for start in starts]
