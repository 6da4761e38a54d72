"""What a card says of its changes: the student's own words for days, places and preferences."""

from __future__ import annotations

from typing import Any, cast

from newagent.schedule.calendar import WEEKDAY_NAMES
from newagent.schedule.edits import Change
from newagent.schedule.model import ScheduleState, Slot
from newagent.texts import Locale, say


def change_text(state: ScheduleState, change: Change, locale: Locale) -> str:
    """`「概率论 第3章」：第1周周二（09-08）第9-10节 → 第1周周三（09-09）第1-2节`."""
    before, after = (
        place_text(state, slot, locale) if slot is not None else say(locale, "words.nowhere")
        for slot in (change.before, change.after)
    )
    return say(locale, "words.change", name=state.by_id[change.task_id].name, before=before, after=after)


def place_text(state: ScheduleState, slot: Slot, locale: Locale) -> str:
    """A place by week, weekday, date and sections."""
    day = state.window.days[slot.day - 1]
    span = f"{slot.start}-{slot.end}" if slot.end > slot.start else f"{slot.start}"
    weekday = WEEKDAY_NAMES[locale][day.day_of_week - 1]
    return say(locale, "words.place", week=day.week, weekday=weekday, date=f"{day.date:%m-%d}", span=span)


def field_text(state: ScheduleState | None, field: dict[str, Any], locale: Locale) -> str:
    """`晚上学费脑的内容：尽量少 → 避开`: a preference, a class's end or the protections before and after."""
    name = field["field"]
    before, after = (_value_text(state, name, field[side], locale) for side in ("before", "after"))
    told = say(locale, f"preference.{name}")
    if "task_class_id" in field:
        told = say(locale, "words.limited", what=told, limits=_class_name(state, field["task_class_id"]))
    return say(locale, "words.field", name=told, before=before, after=after)


def _value_text(state: ScheduleState | None, name: str, value: Any, locale: Locale) -> str:
    if value is None or value == []:
        return say(locale, "words.none")
    if isinstance(value, list):
        wishes = cast("list[dict[str, Any]]", value)
        tell = _shield_text if name == "protections" else _wish_text
        return say(locale, "words.and").join(tell(state, wish, locale) for wish in wishes)
    if isinstance(value, int) or name == "end_date":
        return str(value)
    return say(locale, f"preference_value.{name}.{value}")


def _wish_text(state: ScheduleState | None, wish: dict[str, Any], locale: Locale) -> str:
    """`晚上（概率论，高强度）`: a period, and what of it is meant."""
    period = say(locale, f"period.{wish['period']}")
    limits: list[str] = []
    class_id = wish.get("task_class_id")
    if class_id is not None:
        limits.append(_class_name(state, class_id))
    if wish.get("intensity") is not None:
        limits.append(say(locale, f"intensity.{wish['intensity']}"))
    return say(locale, "words.limited", what=period, limits=say(locale, "words.and").join(limits)) if limits else period


def _shield_text(state: ScheduleState | None, shield: dict[str, Any], locale: Locale) -> str:
    """What is protected, by its name or date."""
    kind, value = str(shield["kind"]), int(shield["value"])
    if kind == "weekday":
        return WEEKDAY_NAMES[locale][value - 1]
    if kind == "class":
        return _class_name(state, value)
    if state is not None and kind == "task" and value in state.by_id:
        return state.by_id[value].name
    if state is not None and kind == "day" and value <= len(state.window.days):
        return state.window.days[value - 1].date.isoformat()
    return str(value)


def _class_name(state: ScheduleState | None, class_id: int) -> str:
    known = state.class_by_id.get(class_id) if state is not None else None
    return known.name if known is not None else str(class_id)
