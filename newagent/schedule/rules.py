"""The rules of a legal timetable (L1–L8) in one place; every edit and every placement goes through them.

A refusal is a value, `Violation`, never an exception. `CODES` is the order in which codes are reported when several
rules are broken at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from newagent.schedule.model import Actor, ScheduleState, Slot, Task, TaskClass, Window, host_of

CODES = (
    "invalid_args",
    "unknown_task",
    "locked",
    "wrong_status",
    "duration_mismatch",
    "protected",
    "out_of_window",
    "excluded",
    "conflict",
    "embed_invalid",
    "order_violation",
)


@dataclass(frozen=True)
class Violation:
    """Why something is refused: a stable code, a sentence, what is involved, and the legal range where there is one.

    `legal` holds JSON-ready bounds, such as the first and last places that the order of a class allows.
    """

    code: str
    message: str
    task_ids: tuple[int, ...] = ()
    slots: tuple[Slot, ...] = ()
    legal: dict[str, Any] = field(default_factory=dict[str, Any])

    def as_json(self) -> dict[str, Any]:
        """The violation as a JSON document."""
        return {
            "code": self.code,
            "message": self.message,
            "task_ids": list(self.task_ids),
            "slots": [slot.model_dump() for slot in self.slots],
            "legal": self.legal,
        }


def first(violations: Iterable[Violation]) -> Violation | None:
    """The violation to report of several: the first code of `CODES`, None if there is none."""
    return min(violations, key=lambda violation: CODES.index(violation.code), default=None)


def fixed(task: Task) -> bool:
    """L6: whether a task may never be changed by an edit."""
    return not task.is_item or task.status == "existing" or task.locked


def fits_day(window: Window, start: int, sections: int) -> bool:
    """L3: whether an item of that length may start there: inside the day, and not across a period's border unless
    it is longer than the period in which it starts."""
    end = start + sections - 1
    if start < 1 or end > window.sections:
        return False
    period = window.period_of[start]
    first_section, last_section = window.periods[period]
    return end <= last_section or sections > last_section - first_section + 1


def excluded(state: ScheduleState, task_class: TaskClass, slot: Slot) -> bool:
    """L4: whether a slot lies outside a class's dates or touches a block or weekday that the class excludes."""
    if not task_class.admits(state.window.days[slot.day - 1]):
        return True
    blocks = range((slot.start + 1) // 2, (slot.end + 1) // 2 + 1)
    return any(block in task_class.excluded_slots for block in blocks)


def protection_of(state: ScheduleState, task: Task, slot: Slot | None) -> str | None:
    """L7: what protects a task or a place from the agent, in words; None if nothing does."""
    return _shield(state, task, slot.day if slot else None)


def _shield(state: ScheduleState, task: Task, day: int | None) -> str | None:
    """What protects a task or a day of the window from the agent."""
    for protection in state.protections:
        match protection.kind:
            case "task":
                hit = protection.value == task.id
            case "class":
                hit = protection.value == task.task_class_id
            case "day":
                hit = protection.value == day
            case "weekday":
                hit = day is not None and state.window.days[day - 1].day_of_week == protection.value
        if hit:
            return f"{protection.kind} {protection.value}"
    return None


def protection_faults(state: ScheduleState, days: Mapping[int, Iterable[int | None]], actor: Actor) -> list[Violation]:
    """L7 for an edit: `days` tells for each changed task the days of the window that it leaves and enters."""
    if actor == "user" or not state.protections:
        return []
    found: list[Violation] = []
    for task_id, touched in days.items():
        task = state.by_id[task_id]
        shield = next((shield for day in touched if (shield := _shield(state, task, day))), None)
        if shield:
            found.append(Violation("protected", f"「{task.name}」 or its place is protected ({shield})", (task_id,)))
    return found


def overlaps(one: Slot, other: Slot) -> bool:
    """Whether two slots share a section."""
    return one.day == other.day and one.start <= other.end and other.start <= one.end


def before(one: Slot, other: Slot) -> bool:
    """Whether `one` ends before `other` starts."""
    return (one.day, one.end) < (other.day, other.start)


def place_faults(state: ScheduleState, task: Task) -> list[Violation]:
    """Every rule (L1–L5) that an item breaks where it stands in `state`; it must be placed."""
    slot = task.slot
    assert slot is not None
    task_class = state.class_of(task)
    found: list[Violation] = []
    if slot.end - slot.start + 1 != task.sections or not fits_day(state.window, slot.start, task.sections):
        found.append(
            Violation(
                "out_of_window",
                f"「{task.name}」 of {task.sections} section(s) cannot start at section {slot.start}: "
                "it would leave the day or cross the border of a period",
                (task.id,),
                (slot,),
                {"sections": [1, state.window.sections], "days": [1, len(state.window.days)]},
            )
        )
    if excluded(state, task_class, slot):
        found.append(
            Violation(
                "excluded",
                f"the class 「{task_class.name}」 excludes this date, weekday or block",
                (task.id,),
                (slot,),
                {
                    "start_date": task_class.start_date and task_class.start_date.isoformat(),
                    "end_date": task_class.end_date and task_class.end_date.isoformat(),
                    "excluded_slots": list(task_class.excluded_slots),
                    "excluded_days_of_week": list(task_class.excluded_days_of_week),
                },
            )
        )
    found.extend(_neighbour_faults(state, task, slot))
    found.extend(_host_faults(state, task, task_class, slot))
    found.extend(_order_faults(state, task, slot))
    return found


def _neighbour_faults(state: ScheduleState, task: Task, slot: Slot) -> Iterable[Violation]:
    for other, taken in state.meetings.get(slot.day, ()):
        if other.id != task.id and not other.can_embed and overlaps(slot, taken):
            yield Violation("conflict", f"the place is taken by 「{other.name}」", (task.id, other.id), (slot, taken))


def _host_faults(state: ScheduleState, task: Task, task_class: TaskClass, slot: Slot) -> Iterable[Violation]:
    on_day = state.meetings.get(slot.day, ())
    touched = list({c.id: c for c, taken in on_day if c.can_embed and overlaps(slot, taken)}.values())
    ids = (task.id, *(course.id for course in touched))
    if not touched:
        if task.embed_host is not None:
            yield Violation("embed_invalid", "the item names a host course that it does not stand in", ids, (slot,))
    elif not task_class.allow_filler_course:
        yield Violation(
            "embed_invalid", f"the class 「{task_class.name}」 does not allow courses as hosts", ids, (slot,)
        )
    elif len(touched) > 1 or host_of(touched, slot) is None:
        yield Violation("embed_invalid", "an item must lie wholly inside one meeting of one course", ids, (slot,))
    elif task.embed_host != touched[0].id:
        yield Violation("embed_invalid", "the item does not name the course it stands in", ids, (slot,))


def order_range(state: ScheduleState, task: Task) -> tuple[Slot | None, Slot | None]:
    """The last place of a lower-ordered and the first place of a higher-ordered placed sibling (L5)."""
    return state.order_bounds[task.id]


def _order_faults(state: ScheduleState, task: Task, slot: Slot) -> Iterable[Violation]:
    earlier, later = order_range(state, task)
    if (earlier is None or before(earlier, slot)) and (later is None or before(slot, later)):
        return
    legal: dict[str, Any] = {
        "after": earlier and {"day": earlier.day, "section": earlier.end},
        "before": later and {"day": later.day, "section": later.start},
    }
    bounds = [slot for slot in (earlier, later) if slot is not None]
    yield Violation(
        "order_violation",
        f"「{task.name}」 must stay between its earlier and its later siblings",
        (task.id,),
        (slot, *bounds),
        legal,
    )


def state_faults(state: ScheduleState) -> list[Violation]:
    """Every rule that any suggested item of the state breaks.

    Facts are facts: courses and existing items bind others and are never at fault themselves.
    """
    return [fault for task in state.items if task.status == "suggested" for fault in place_faults(state, task)]


def change_faults(
    before_state: ScheduleState, after_state: ScheduleState, changed: Iterable[int], actor: Actor
) -> list[Violation]:
    """L7 and L1–L5 for an edit: protections of what is left and entered, then the rules on the whole new state."""
    changed_ids = tuple(changed)
    days = {
        task_id: [slot and slot.day for slot in (before_state.by_id[task_id].slot, after_state.by_id[task_id].slot)]
        for task_id in changed_ids
    }
    found = protection_faults(before_state, days, actor)
    for task_id in changed_ids:
        task = after_state.by_id[task_id]
        if task.slot is not None:
            found.extend(place_faults(after_state, task))
    return found or state_faults(after_state)
