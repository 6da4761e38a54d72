"""The filters that the query tools share: which days, which sections, which tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from newagent.schedule.model import Day, ScheduleState, Slot, Task
from newagent.tools.base import Arguments

Positive = Annotated[int, Field(ge=1)]
Weekday = Annotated[int, Field(ge=1, le=7)]
Status = Literal["existing", "suggested", "pending"]


class PlaceFilter(Arguments):
    """Days and sections: a single day, a range, workdays or weekends, weekdays, weeks, and bounds within the day."""

    day: Positive | None = None
    day_from: Positive | None = None
    day_to: Positive | None = None
    day_scope: Literal["all", "workday", "weekend"] = "all"
    day_of_week: tuple[Weekday, ...] | None = None
    week: tuple[Positive, ...] | None = None
    after_section: Annotated[int, Field(ge=0, description="只要从这一节之后开始的")] | None = None
    before_section: Annotated[int, Field(ge=1, description="只要在这一节之前结束的")] | None = None
    exclude_sections: tuple[Positive, ...] = ()

    def admits_day(self, day: Day) -> bool:
        """Whether a day passes."""
        return (
            (self.day is None or day.day == self.day)
            and (self.day_from is None or day.day >= self.day_from)
            and (self.day_to is None or day.day <= self.day_to)
            and (self.day_scope == "all" or (day.day_of_week >= 6) == (self.day_scope == "weekend"))
            and (self.day_of_week is None or day.day_of_week in self.day_of_week)
            and (self.week is None or day.week in self.week)
        )

    def admits(self, state: ScheduleState, slot: Slot) -> bool:
        """Whether a place passes."""
        return (
            self.admits_day(state.window.days[slot.day - 1])
            and (self.after_section is None or slot.start > self.after_section)
            and (self.before_section is None or slot.end < self.before_section)
            and not any(slot.start <= section <= slot.end for section in self.exclude_sections)
        )

    @property
    def any_place(self) -> bool:
        """Whether nothing is filtered by place."""
        return self.model_dump(include=set(PlaceFilter.model_fields)) == PlaceFilter().model_dump()


def tasks_of_category(state: ScheduleState, category: str | None) -> Iterable[Task]:
    """The tasks of a category: `course`, `task`, or the name or id of a task class; None is all."""
    if category is None:
        return state.tasks
    if category in ("course", "task"):
        return [task for task in state.tasks if task.kind == category]
    wanted = {c.id for c in state.task_classes if category in (c.name, str(c.id))}
    return [task for task in state.tasks if task.task_class_id in wanted]
