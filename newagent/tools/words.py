"""Days, places and tasks in the words that every tool result uses.

Whenever a day is named, its week, weekday and date stand beside it: models get weekdays wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

from newagent.schedule.calendar import WEEKDAY_NAMES
from newagent.schedule.edits import Change
from newagent.schedule.model import ScheduleState, Slot, Task
from newagent.texts import Locale, say


def day_words(state: ScheduleState, number: int, locale: Locale = "zh") -> str:
    """`D5 第3周 周三 2026-03-18`."""
    day = state.window.days[number - 1]
    weekday = WEEKDAY_NAMES[locale][day.day_of_week - 1]
    words = say(locale, "words.day", day=number, week=day.week, weekday=weekday, date=day.date.isoformat())
    return words + (say(locale, "words.assumed") if day.assumed else "")


def slot_words(state: ScheduleState, slot: Slot, locale: Locale = "zh") -> str:
    """`D5 第3周 周三 2026-03-18 第3-4节`."""
    span = f"{slot.start}-{slot.end}" if slot.end > slot.start else f"{slot.start}"
    return day_words(state, slot.day, locale) + say(locale, "words.sections", span=span)


def task_line(state: ScheduleState, task: Task) -> str:
    """`#12「概率论 第3章」[概率论] 序3 2节 已放 D5 …`, or a course with the days on which it meets."""
    if not task.is_item:
        times = "、".join(slot_words(state, slot) for slot in task.slots[:6])
        more = f" 等{len(task.slots)}次" if len(task.slots) > 6 else ""
        embed = " 可嵌入" if task.can_embed else ""
        return f"#{task.id}「{task.name}」[课程]{embed} {times}{more}"
    line = f"#{task.id}「{task.name}」[{state.class_of(task).name}] 序{task.order} {task.sections}节"
    if task.slot is None:
        return f"{line} 未放"
    status = "已应用" if task.status == "existing" else "已放"
    host = f" 嵌入「{state.by_id[task.embed_host].name}」" if task.embed_host is not None else ""
    return f"{line} {status} {slot_words(state, task.slot)}{host}"


def change_words(state: ScheduleState, change: Change, locale: Locale = "zh") -> str:
    """One change as a person reads it: `「概率论 第3章」：D1 … → D5 …`."""
    nowhere = say(locale, "words.nowhere")
    before = slot_words(state, change.before, locale) if change.before else nowhere
    after = slot_words(state, change.after, locale) if change.after else nowhere
    return say(locale, "words.change", name=state.by_id[change.task_id].name, before=before, after=after)


def shortened(lines: Iterable[str], limit: int, hint: str) -> str:
    """The lines joined, cut where they pass `limit` characters, with a note of how to ask for less."""
    kept: list[str] = []
    size = 0
    every = list(lines)
    for line in every:
        size += len(line) + 1
        if size > limit - len(hint) - 40:
            return "\n".join([*kept, f"（还有 {len(every) - len(kept)} 行未列出；{hint}）"])
        kept.append(line)
    return "\n".join(kept)
