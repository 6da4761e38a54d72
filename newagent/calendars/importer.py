"""The import of a timetable file, whatever its format: pure, whole or not at all, with a report line by line."""

from __future__ import annotations

from newagent.calendars.collect import Collector
from newagent.calendars.csv_reader import read_csv
from newagent.calendars.decode import decode
from newagent.calendars.ics_lines import is_calendar
from newagent.calendars.ics_reader import read_calendar
from newagent.calendars.model import ImportResult
from newagent.errors import InputError
from newagent.schedule.calendar import Semester


def read_timetable(data: bytes, semester: Semester, *, filename: str) -> ImportResult:
    """Reads a timetable file into courses of a semester, with a report of every row.

    The content says which format it is; the extension of `filename` only decides between error messages. Reads and
    writes nothing else, and the same bytes always give an equal result.

    Raises `InputError` for a file of which nothing can be read: the codes of `decode` and of the readers, and
    nothing_to_import for a file without any row.
    """
    collector = Collector(semester)
    if is_calendar(data):
        read_calendar(data, collector)
    else:
        read_csv(decode(data), collector)
    result = collector.result()
    if not result.report:
        raise InputError("nothing_to_import", f"{filename} has no row to import")
    return result
