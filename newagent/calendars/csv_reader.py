"""Timetables as CSV: the columns of the common Chinese timetable apps, and their English names.

Two shapes, told apart by their header: one `周数` column with lists such as `1-8、10、12-16单`, or the three columns
`开始周,结束周,单双周`. Columns may stand in any order and further ones are ignored.
"""

from __future__ import annotations

import csv
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from newagent.calendars.collect import MAX_ROWS, Collector, too_many_rows
from newagent.calendars.decode import lines_of
from newagent.calendars.model import Meeting, clean
from newagent.calendars.reasons import Reason, shown
from newagent.calendars.weeks import parse_parity, parse_weeks, plain, week_range
from newagent.errors import InputError

DELIMITERS = (",", "\t", ";", "，", "|")
_HEADER_WITHIN = 10
_RECORD_LINES = 20
_COLUMNS: dict[str, tuple[str, ...]] = {
    "name": ("课程名称", "课程名", "课程", "名称", "name", "course", "course_name", "title"),
    "weekday": ("星期", "星期几", "周几", "day", "weekday", "day_of_week"),
    "start": ("开始节数", "开始节次", "开始节", "start", "start_section", "first_section"),
    "end": ("结束节数", "结束节次", "结束节", "end", "end_section", "last_section"),
    "sections": ("节次", "节数", "上课节次", "sections"),
    "location": ("地点", "上课地点", "教室", "上课教室", "location", "room", "place"),
    "weeks": ("周数", "周次", "上课周次", "weeks"),
    "first_week": ("开始周", "起始周", "start_week", "first_week"),
    "last_week": ("结束周", "end_week", "last_week"),
    "parity": ("单双周", "parity", "odd_even"),
    "can_embed": ("可嵌入", "水课", "can_embed"),
}
_SPANS = ({"start", "end"}, {"sections"})
_WEEKS = ({"weeks"}, {"first_week", "last_week"})
_COLUMN_OF = {label: column for column, labels in _COLUMNS.items() for label in labels}
_WEEKDAYS = {
    **{str(day): day for day in range(1, 8)},
    **{char: day for day, char in enumerate("一二三四五六日", start=1)},
    "天": 7,
    **{name: day for day, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"), start=1)},
    "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 7,
}  # fmt: skip
_YES = frozenset(("1", "是", "可", "可以", "√", "y", "yes", "true"))
_NO = frozenset(("", "0", "否", "不", "不可以", "×", "n", "no", "false"))
_NUMBER = re.compile(r"第?(\d{1,3})(?:\.0)?节?")
_WEEK = re.compile(r"第?(\d{1,3})(?:\.0)?周?")
_RANGE = re.compile(r"第?(\d{1,3})节?(?:[-–—~〜至到]第?(\d{1,3})节?)?")


@dataclass(frozen=True)
class _Table:
    """Where the header of a file is, and which field of a row each column is."""

    header: int
    width: int
    columns: Mapping[str, int]

    def cell(self, fields: list[str], column: str) -> str | None:
        """A row's text in a column, None if the file has no such column."""
        index = self.columns.get(column)
        if index is None:
            return None
        return fields[index].strip() if index < len(fields) else ""


def read_csv(text: str, collector: Collector) -> None:
    """Gives every row of a CSV to the collector.

    Raises `InputError`: no_header (no row names the columns that are needed), and those of the collector.
    """
    delimiter, table = _find_header(text)
    blank = 0
    for line, fields in _records(text, delimiter):
        if line <= table.header:
            continue
        if fields is None:
            collector.refuse(line, Reason("bad_quotes"))
        elif any(field.strip() for field in fields):
            _take_row(line, fields, table, collector)
        else:
            blank += 1
            if blank > MAX_ROWS:
                raise too_many_rows()


def _take_row(line: int, fields: list[str], table: _Table, collector: Collector) -> None:
    name = clean(table.cell(fields, "name") or "")
    if not name:
        collector.refuse(line, Reason("no_name"))
        return
    if any(field.strip() for field in fields[table.width :]):
        collector.refuse(line, Reason("too_many_fields"), name)
        return
    weekday = _weekday(table.cell(fields, "weekday") or "")
    if isinstance(weekday, Reason):
        collector.refuse(line, weekday, name)
        return
    span = _sections(fields, table)
    if isinstance(span, Reason):
        collector.refuse(line, span, name)
        return
    weeks = _weeks(fields, table, collector.semester.weeks)
    if isinstance(weeks, Reason):
        collector.refuse(line, weeks, name)
        return
    flag = plain(table.cell(fields, "can_embed") or "")
    notes = () if flag in _YES or flag in _NO else (Reason("unknown_flag", {"value": shown(flag)}),)
    collector.take(
        line,
        name,
        clean(table.cell(fields, "location") or ""),
        [Meeting(week, weekday, *span) for week in weeks],
        notes=notes,
        can_embed=flag in _YES,
    )


def _weekday(text: str) -> int | Reason:
    word = re.sub(r"^(?:星期|礼拜|周)", "", plain(text))
    return _WEEKDAYS.get(word) or Reason("bad_weekday", {"value": shown(text)})


def _sections(fields: list[str], table: _Table) -> tuple[int, int] | Reason:
    both = table.cell(fields, "sections")
    if both is None:
        texts = table.cell(fields, "start") or "", table.cell(fields, "end") or ""
        matches = [_NUMBER.fullmatch(plain(text)) for text in texts]
        both = "-".join(texts)
        numbers = [int(match[1]) for match in matches if match]
    else:
        match = _RANGE.fullmatch(re.sub(r"\s", "", plain(both)))
        numbers = [int(match[1]), int(match[2] or match[1])] if match else []
    if len(numbers) != 2 or not 1 <= numbers[0] <= numbers[1]:
        return Reason("bad_sections", {"value": shown(both)})
    return numbers[0], numbers[1]


def _weeks(fields: list[str], table: _Table, last_week: int) -> tuple[int, ...] | Reason:
    text = table.cell(fields, "weeks")
    try:
        if text is not None:
            return parse_weeks(text, last_week)
        ends = [table.cell(fields, column) or "" for column in ("first_week", "last_week")]
        flag = table.cell(fields, "parity") or ""
        text = " ".join(filter(None, ("-".join(ends), flag)))
        first, last = (int(match[1]) if (match := _WEEK.fullmatch(plain(end))) else -1 for end in ends)
        return week_range(first, last, parse_parity(flag))
    except ValueError:
        return Reason("bad_weeks", {"value": shown(text or "")})


def _find_header(text: str) -> tuple[str, _Table]:
    """The delimiter and the first row that names the columns needed, among the first few rows."""
    for delimiter in DELIMITERS:
        for line, fields in islice(_records(text, delimiter), _HEADER_WITHIN):
            columns: dict[str, int] = {}
            for index, field in enumerate(fields or ()):
                column = _COLUMN_OF.get(_label(field))
                if column is not None:
                    columns.setdefault(column, index)
            if (
                {"name", "weekday"} <= columns.keys()
                and any(s <= columns.keys() for s in _SPANS)
                and any(w <= columns.keys() for w in _WEEKS)
            ):
                return delimiter, _Table(line, len(fields or ()), columns)
    raise InputError(
        "no_header",
        "no row names the columns 课程名称, 星期, 开始节数, 结束节数 and 周数 (or 开始周, 结束周, 单双周)",
    )


def _label(field: str) -> str:
    """A header's label without what it says in brackets: `单双周(0全1单2双)` is `单双周`."""
    return re.sub(r"\(.*\)$", "", plain(clean(field))).strip().replace(" ", "_")


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str] | None]]:
    """The records that hold something, with the line on which each begins; None for a line whose quotes are wrong.

    A quoted field may hold line breaks. An unclosed quote costs its own line, not the rest of the file.
    """
    lines = lines_of(text.removeprefix("\ufeff"))
    blank = string.whitespace + delimiter
    at = 0
    while at < len(lines):
        if not lines[at].strip(blank):
            at += 1
            continue
        length, quotes = 1, lines[at].count('"')
        while quotes % 2 and at + length < len(lines) and length < _RECORD_LINES:
            quotes += lines[at + length].count('"')
            length += 1
        try:
            record = list(csv.reader(["\n".join(lines[at : at + length])], delimiter=delimiter, strict=True))
        except csv.Error:
            yield at + 1, None
            at += 1
            continue
        yield at + 1, record[0] if record else []
        at += length
