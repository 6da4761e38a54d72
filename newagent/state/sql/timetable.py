"""The stored timetable of one user inside one transaction: loaded as a state, and written from a preview."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import exc, insert

from newagent.errors import RefusedError
from newagent.schedule.model import ScheduleState
from newagent.state.sql.applying import Wish, conflicts_of, wishes_of
from newagent.state.sql.facts import Facts, build_state, days_of, scope_of
from newagent.state.sql.reading import read_facts
from newagent.state.sql.tables import item_slots
from newagent.state.sql.transaction import Transaction


class SqlTimetable:
    """See `newagent.state.store.Timetable`."""

    def __init__(self, connection: Transaction, user_id: str) -> None:
        self._connection = connection
        self._user_id = user_id

    async def load_state(self, task_class_ids: tuple[int, ...] | None, now: dt.datetime) -> ScheduleState:
        """See `Timetable.load_state`. Without ids, classes that have ended are left out."""
        facts = await read_facts(self._connection, self._user_id)
        today = now.astimezone(facts.semester.zone).date()
        scope = scope_of(facts, task_class_ids, today)
        return build_state(facts, days_of(facts, scope, today), {one.task_class.id for one in scope})

    async def apply(self, schedule: ScheduleState, task_class_ids: tuple[int, ...] | None) -> list[dict[str, Any]]:
        """See `Timetable.apply`.

        A row that is written is {task_item_id, task_class_id, name, week, day_of_week, date, start, end}; a conflict
        is {code, message, task_id, task_item_id, name, date, start, end}. The user's semester is held, so that of two
        writers the second sees the rows of the first; and the keys of `item_slots` stand against both an item that is
        applied twice and two items on one section.
        """
        facts = await read_facts(self._connection, self._user_id, hold=True)
        wishes = wishes_of(schedule, task_class_ids)
        conflicts = conflicts_of(facts, schedule, wishes)
        if conflicts:
            raise _refused(conflicts)
        if wishes:
            try:
                await self._connection.execute(insert(item_slots), self._rows(facts, wishes))
            except exc.IntegrityError:
                raise _refused(
                    [wish.conflict("conflict", "the place was taken meanwhile") for wish in wishes]
                ) from None
        return [wish.as_row(facts.semester) for wish in wishes]

    def _rows(self, facts: Facts, wishes: list[Wish]) -> list[dict[str, Any]]:
        places = [(wish, *facts.semester.position(wish.date)) for wish in wishes]
        return [
            {
                "semester_id": facts.semester_id,
                "user_id": self._user_id,
                "week": week,
                "day_of_week": day_of_week,
                "section": section,
                "task_item_id": wish.task.source_id,
                "part": part,
            }
            for wish, week, day_of_week in places
            for part, section in enumerate(range(wish.slot.start, wish.slot.end + 1), 1)
        ]


def _refused(conflicts: list[dict[str, Any]]) -> RefusedError:
    return RefusedError(
        "timetable_conflict",
        f"the timetable has changed: {len(conflicts)} conflict(s) with the preview, nothing was written",
        conflicts=conflicts,
    )
