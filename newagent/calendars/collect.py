"""The one place where rows of any format become courses and report lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from newagent.calendars.model import Course, ImportResult, LineReport, Meeting, merged, overlaps_of
from newagent.calendars.reasons import Reason
from newagent.errors import InputError
from newagent.schedule.calendar import MAX_SECTIONS, Semester

MAX_ROWS = 5_000
MAX_MEETINGS = 60_000
MAX_TEXT = 200


def too_many_rows() -> InputError:
    """The error for a file of which a person could not read the report."""
    return InputError("too_many_rows", f"the file has more than {MAX_ROWS} rows", limit=MAX_ROWS)


class Collector:
    """Takes or refuses rows in order; `result` is the whole file.

    A row beyond the section table extends it; where no section has room any more the row is refused. Both methods
    raise `InputError` too_many_rows, which also bounds the meetings of all rows together.
    """

    def __init__(self, semester: Semester) -> None:
        self.semester = semester
        self._meetings: dict[tuple[str, str], set[Meeting]] = {}
        self._sections: dict[tuple[str, str, int, int], int] = {}
        self._taken = 0
        self._embeddable: set[tuple[str, str]] = set()
        self._report: list[LineReport] = []

    def refuse(self, line: int, reason: Reason, course: str | None = None) -> None:
        """Reports a row that is not taken."""
        self._tell(LineReport(line, False, (reason,), _shortened(course) if course else None))

    def take(
        self,
        line: int,
        name: str,
        location: str,
        meetings: Sequence[Meeting],
        *,
        notes: Iterable[Reason] = (),
        can_embed: bool = False,
    ) -> None:
        """Takes those of a row's meetings that lie in the semester, and reports what became of them."""
        first_day = 1, self.semester.start_date.isoweekday()
        inside = [m for m in meetings if first_day <= (m.week, m.day_of_week) and m.week <= self.semester.weeks]
        reasons = list(notes)
        if max(len(name), len(location)) > MAX_TEXT:
            name, location = _shortened(name), _shortened(location)
            reasons.append(Reason("shortened", {"length": MAX_TEXT}))
        if not inside:
            self.refuse(line, Reason("outside_semester"), name)
            return
        if len(inside) < len(meetings):
            weeks = sorted({m.week for m in set(meetings) - set(inside)})
            reasons.append(Reason("some_weeks_outside", {"weeks": "、".join(map(str, weeks))}))
        last = max(m.end for m in inside)
        if last > len(self.semester.sections):
            extended = _extended(self.semester, last)
            if extended is None:
                self.refuse(line, Reason("no_room", {"section": last}), name)
                return
            self.semester = extended
            reasons.append(Reason("extended", {"sections": last}))
        self._taken += len(inside)
        if self._taken > MAX_MEETINGS:
            raise too_many_rows()
        key = (name, location)
        if not self._adds(key, inside):
            reasons.append(Reason("duplicate"))
        self._meetings.setdefault(key, set()).update(inside)
        if can_embed:
            self._embeddable.add(key)
        self._tell(LineReport(line, True, tuple(reasons), name))

    def result(self) -> ImportResult:
        """Everything that was taken and reported."""
        courses = merged(
            Course(name, location, tuple(meetings), can_embed=(name, location) in self._embeddable)
            for (name, location), meetings in self._meetings.items()
        )
        report = tuple(sorted(self._report, key=lambda row: row.line))
        return ImportResult(self.semester, courses, report, overlaps_of(courses))

    def _tell(self, row: LineReport) -> None:
        self._report.append(row)
        if len(self._report) > MAX_ROWS:
            raise too_many_rows()

    def _adds(self, key: tuple[str, str], meetings: Iterable[Meeting]) -> bool:
        """Whether a course had not yet all the sections of the meetings; from now on it has them."""
        added = False
        for meeting in meetings:
            place = (*key, meeting.week, meeting.day_of_week)
            sections = (1 << (meeting.end + 1)) - (1 << meeting.start)
            before = self._sections.get(place, 0)
            added = added or bool(sections & ~before)
            self._sections[place] = before | sections
        return added


def _extended(semester: Semester, sections: int) -> Semester | None:
    if sections > MAX_SECTIONS:
        return None
    try:
        return semester.extended(sections)
    except ValueError:
        return None


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
