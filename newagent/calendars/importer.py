"""The import of a timetable file, whatever its format: pure, whole or not at all, with a report line by line."""

from __future__ import annotations

from newagent.calendars.collect import Collector
from newagent.calendars.csv_reader import read_csv
from newagent.calendars.decode import decode
from newagent.calendars.ics_lines import is_calendar
from newagent.calendars.ics_reader import read_calendar
from newagent.calendars.json_reader import read_json
from newagent.calendars.model import ImportResult
from newagent.errors import InputError
from newagent.schedule.calendar import Semester

_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def read_timetable(data: bytes, semester: Semester, *, filename: str) -> ImportResult:
    """Reads a timetable file into courses of a semester, with a report of every row.

    The content says which format it is. Only where it says nothing, the extension of `filename` decides what the
    file was meant to be, and so what is wrong with it. The same bytes always give an equal result.

    Raises `InputError` for a file of which nothing can be read: file_too_large, empty_file, not_text, spreadsheet,
    no_header, not_a_calendar, bad_json, bad_document, nothing_to_import (no row at all), and too_many_rows,
    too_many_occurrences for what no timetable needs.
    """
    collector = Collector(semester)
    extension = filename.rpartition(".")[2].lower()
    if data.startswith(_SPREADSHEETS):
        raise InputError("spreadsheet", f"{filename} is a spreadsheet; save it as CSV and import that")
    if is_calendar(data):
        read_calendar(data, collector)
    elif extension in ("ics", "ical"):
        decode(data)
        raise InputError("not_a_calendar", f"{filename} holds no calendar: BEGIN:VCALENDAR is missing")
    else:
        text = decode(data)
        if extension == "json" or text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
            read_json(text, collector)
        else:
            read_csv(text, collector)
    result = collector.result()
    if not result.report:
        raise InputError("nothing_to_import", f"{filename} has no row to import")
    return result
