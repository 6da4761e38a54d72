"""Weeks of a timetable as tables: a row for each block, a column for each day, what moved marked."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from newagent.schedule.calendar import WEEKDAY_NAMES
from newagent.schedule.model import Day, ScheduleState, Task
from newagent.texts import Locale, say


def moved_tasks(before: ScheduleState, after: ScheduleState) -> list[Task]:
    """The items of `after` that stand elsewhere than in `before`; the two must be of one conversation."""
    return [task for task in after.items if task.id in before.by_id and before.by_id[task.id].slots != task.slots]


def busiest_week(state: ScheduleState, moved: Iterable[Task] = ()) -> int:
    """The week with the most moved items, else the most placed ones."""
    count: dict[int, int] = {}
    chosen = list(moved) or [task for task in state.items if task.slot is not None]
    for task in chosen:
        if task.slot is not None:
            week = state.window.days[task.slot.day - 1].week
            count[week] = count.get(week, 0) + 1
    return max(count, key=lambda week: (count[week], -week), default=state.window.days[0].week)


def week_table(state: ScheduleState, week: int, locale: Locale, title: str, marked: Iterable[int] = ()) -> Table:
    """One week as a table."""
    days = [day for day in state.window.days if day.week == week]
    table = Table(title=title, title_justify="left", show_lines=False, padding=(0, 1))
    table.add_column("", justify="right", style="dim")
    for day in days:
        table.add_column(
            f"{WEEKDAY_NAMES[locale][day.day_of_week - 1]} {day.date:%m-%d}", overflow="fold", max_width=18
        )
    highlight = set(marked)
    for block in range(1, (state.window.sections + 1) // 2 + 1):
        first = 2 * block - 1
        last = min(2 * block, state.window.sections)
        table.add_row(f"{first}-{last}", *(_cell(state, day, first, last, highlight) for day in days))
    return table


def _cell(state: ScheduleState, day: Day, first: int, last: int, marked: set[int]) -> Text:
    cell = Text()
    for task in state.tasks:
        if not any(slot.day == day.day and slot.start <= last and first <= slot.end for slot in task.slots):
            continue
        if cell:
            cell.append(" / ")
        style = "bold green" if task.id in marked else "" if task.is_item else "dim"
        cell.append(task.name, style)
    return cell


def show_before_after(console: Console, before: ScheduleState, after: ScheduleState, locale: Locale) -> None:
    """The week in which most moved, before and after, and what moved."""
    moved = moved_tasks(before, after)
    week = busiest_week(after, moved)
    ids = [task.id for task in moved]
    console.print()
    console.print(week_table(before, week, locale, say(locale, "view.week_before", week=week), ids))
    console.print(week_table(after, week, locale, say(locale, "view.week_after", week=week), ids))
    console.print(say(locale, "view.moved", count=len(moved)), style="dim")
