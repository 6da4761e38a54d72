"""Timetables as iCalendar: every event's occurrences in the semester, put on the sections that they cover."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

from newagent.calendars.collect import Collector
from newagent.calendars.ics_event import CalendarEvent, Refused, read_event
from newagent.calendars.ics_expand import Span, occurrences
from newagent.calendars.ics_lines import split_calendar
from newagent.calendars.ics_rules import NO_RULE, UnsupportedRuleError, safe_rule
from newagent.calendars.ics_zones import Zones
from newagent.calendars.model import Meeting
from newagent.calendars.reasons import Reason, shown
from newagent.calendars.sections import meetings_of
from newagent.errors import InputError

MAX_OCCURRENCES = 12_000
MAX_STEPS = 400_000
_BEYOND = dt.timedelta(days=36)
_A_DAY = dt.timedelta(days=1)
_FARTHEST_MOVE = dt.timedelta(days=31)


@dataclass(frozen=True)
class _Taken:
    meetings: list[Meeting]
    notes: list[Reason]


def read_calendar(data: bytes, collector: Collector) -> None:
    """Gives every event of an iCalendar file to the collector.

    Raises `InputError`: those of `split_calendar`, and too_many_occurrences.
    """
    raw = split_calendar(data)
    zones = Zones(raw.zones)
    events: list[CalendarEvent] = []
    for one in raw.events:
        event = read_event(one, zones, collector.semester.zone)
        if isinstance(event, Refused):
            collector.refuse(event.line, event.reason, event.name)
        else:
            events.append(event)
    Expansion(collector).run(events)


class Expansion:
    """Expands the events of a file one series at a time, within a budget for all of them together."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        semester = collector.semester
        self.semester = semester
        self.first = semester.instant(semester.start_date, dt.time.min)
        self.last_day = semester.end_date + _BEYOND
        self.last = semester.instant(self.last_day, dt.time.min)
        self.steps = self.dates = 0

    def run(self, events: Sequence[CalendarEvent]) -> None:
        """Takes or refuses each of the events; the work is bounded before it begins."""
        checked = [(series, self._rules(series)) for series in _series_of(self._sifted(events))]
        for series, rules in checked:
            taken = [event for event in series if not event.cancelled]
            outcomes = [rules] * len(taken) if isinstance(rules, Reason) else self._outcomes(series, rules, taken)
            for event, outcome in zip(taken, outcomes, strict=True):
                if isinstance(outcome, Reason):
                    self._refuse(event, outcome)
                    continue
                self.collector.take(
                    event.line,
                    event.name,
                    event.location,
                    outcome.meetings,
                    notes=(*event.notes, *outcome.notes),
                    can_embed=event.can_embed,
                )

    def _sifted(self, events: Sequence[CalendarEvent]) -> list[CalendarEvent]:
        """The events that can take sections, in order; the others are refused.

        A moved occurrence that takes none stays as a cancelled one, since its series does not meet at that time.
        """
        newest: dict[object, CalendarEvent] = {}
        for event in events:
            if event.uid and event.sequence >= newest.get(event.key, event).sequence:
                newest[event.key] = event
        kept: list[CalendarEvent] = []
        for event in events:
            last = newest.get(event.key, event)
            reason = None
            if event.sequence < last.sequence or (event.recurrence_id is not None and event is not last):
                self._refuse(event, Reason("superseded"))
                continue
            if event.cancelled:
                reason = Reason("cancelled")
            elif not event.name:
                reason = Reason("no_name")
            elif event.end - event.start >= _A_DAY:
                reason = Reason("all_day")
            if reason is None:
                kept.append(event)
                continue
            self._refuse(event, reason)
            if event.recurrence_id is not None:
                kept.append(replace(event, cancelled=True))
        return kept

    def _rules(self, series: Sequence[CalendarEvent]) -> list[str] | Reason:
        """The checked rules of a series; raises `InputError` when the file's budget is spent."""
        rules: list[str] = []
        for event in series:
            try:
                if event.and_future and event.recurrence_id and abs(event.start - event.recurrence_id) > _FARTHEST_MOVE:
                    raise UnsupportedRuleError("RANGE=THISANDFUTURE")
                span = (self.last - self.first).days
                rule = safe_rule(event.rule, event.start, self.last_day, span) if event.rule else NO_RULE
            except UnsupportedRuleError as error:
                return Reason("unsupported_rule", {"rule": shown(str(error))})
            rules.append(rule.text)
            self.steps += rule.steps
            self.dates += rule.dates + len(event.rdates) + len(event.exdates)
        if self.dates > MAX_OCCURRENCES or self.steps > MAX_STEPS:
            raise InputError("too_many_occurrences", "the events of the file take place too often to be read")
        return rules

    def _outcomes(
        self, series: Sequence[CalendarEvent], rules: Sequence[str], taken: Sequence[CalendarEvent]
    ) -> list[_Taken | Reason]:
        try:
            found = occurrences(list(zip(series, rules, strict=True)), self.first, self.last)
            rule_of = dict(zip((event.line for event in series), rules, strict=True))
            return [self._outcome(event, rule_of[event.line], found.get(event.line, [])) for event in taken]
        except ValueError as error:
            return [Reason("bad_event", {"detail": shown(str(error))})] * len(taken)

    def _outcome(self, event: CalendarEvent, rule: str, spans: Sequence[Span]) -> _Taken | Reason:
        """What an event comes to in the semester, given its occurrences, or why it comes to nothing."""
        inside = [span for span in spans if self.semester.holds(span[0].date())]
        if not inside:
            return Reason("no_occurrence" if not spans and self._would_fire(event, rule) else "outside_semester")
        notes: list[Reason] = []
        if len(inside) < len(spans) or (event.recurrence_id is None and event.start < self.first):
            notes.append(Reason("some_outside"))
        meetings = [meetings_of(self.semester, *span) for span in inside]
        missing = meetings.count([])
        if missing == len(meetings):
            return Reason("no_section")
        if missing:
            notes.append(Reason("some_no_section", {"count": missing}))
        return _Taken([meeting for group in meetings for meeting in group], notes)

    def _would_fire(self, event: CalendarEvent, rule: str) -> bool:
        """Whether an event without occurrences had some, were none of them taken away."""
        if self.semester.holds(event.start.astimezone(self.semester.zone).date()):
            return True
        bare = replace(event, exdates=(), recurrence_id=None, and_future=False)
        return bool(occurrences([(bare, rule)], self.first, self.last))

    def _refuse(self, event: CalendarEvent, reason: Reason) -> None:
        self.collector.refuse(event.line, reason, event.name)


def _series_of(events: Sequence[CalendarEvent]) -> list[list[CalendarEvent]]:
    """The events by UID, each time at most one that may recur, with its moved occurrences.

    Different events with the same UID, which some exporters write, are series of their own.
    """
    by_uid: dict[str, list[CalendarEvent]] = {}
    result: list[list[CalendarEvent]] = []
    for event in events:
        series = by_uid.get(event.uid) if event.uid else None
        if series is None or (event.recurrence_id is None and any(one.recurrence_id is None for one in series)):
            series = list[CalendarEvent]()
            result.append(series)
            by_uid.setdefault(event.uid, series)
        series.append(event)
    return result
