"""The rules L1–L8 and the cost once more, written from their definitions on plain JSON, slowly and by themselves.

Nothing of the product is used here, so that a fault in it cannot hide itself.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

Document = Mapping[str, Any]
Cell = tuple[int, int]


def cells(slot: Mapping[str, int]) -> set[Cell]:
    """The (day, section) pairs that a slot holds."""
    return {(slot["day"], section) for section in range(slot["start"], slot["end"] + 1)}


def period_of(state: Document, section: int) -> str:
    """The period that holds a section."""
    return next(name for name, (first, last) in state["window"]["periods"].items() if first <= section <= last)


def duration_of(state: Document, item: Mapping[str, Any]) -> int:
    """An item's own duration, else its share of the class's budget, else two sections."""
    if item.get("duration"):
        return item["duration"]
    total = next(c for c in state["task_classes"] if c["id"] == item["task_class_id"]).get("total_slots")
    if not total:
        return 2
    siblings = sum(task.get("task_class_id") == item["task_class_id"] for task in state["tasks"])
    return max(1, int(total / siblings + 0.5))


def broken_rules(state: Document) -> set[str]:
    """The codes of the rules L1–L5 that some suggested item breaks."""
    broken: set[str] = set()
    for item in state["tasks"]:
        if item["kind"] == "task" and item["status"] == "suggested":
            broken |= _broken_by(state, item)
    return broken


def _broken_by(state: Document, item: Mapping[str, Any]) -> set[str]:
    broken: set[str] = set()
    task_class = next(c for c in state["task_classes"] if c["id"] == item["task_class_id"])
    (slot,) = item["slots"]
    mine = cells(slot)
    if len(mine) != duration_of(state, item) or not _fits(state, slot):
        broken.add("out_of_window")
    if _excluded(state, task_class, slot):
        broken.add("excluded")
    hosts: list[Mapping[str, Any]] = []
    for other in state["tasks"]:
        shared = any(mine & cells(one) for one in other["slots"])
        if other["id"] == item["id"] or not shared:
            continue
        if other.get("can_embed"):
            hosts.append(other)
        else:
            broken.add("conflict")
    whole = len(hosts) == 1 and any(mine <= cells(one) for one in hosts[0]["slots"])
    host = item.get("embed_host")
    if hosts:
        right = whole and task_class.get("allow_filler_course") and host in (None, hosts[0]["id"])
        if not right or ("embed_host" in item and host != hosts[0]["id"]):
            broken.add("embed_invalid")
    elif host is not None:
        broken.add("embed_invalid")
    for other in state["tasks"]:
        if other.get("task_class_id") != item["task_class_id"] or other["id"] == item["id"] or not other["slots"]:
            continue
        early, late = (item, other) if item["order"] < other["order"] else (other, item)
        if max(cells(early["slots"][0])) >= min(cells(late["slots"][0])):
            broken.add("order_violation")
    return broken


def _fits(state: Document, slot: Mapping[str, int]) -> bool:
    window = state["window"]
    if not 1 <= slot["day"] <= len(window["days"]) or not 1 <= slot["start"] <= slot["end"] <= window["sections"]:
        return False
    first, last = window["periods"][period_of(state, slot["start"])]
    length = slot["end"] - slot["start"] + 1
    return slot["end"] <= last or length > last - first + 1


def _excluded(state: Document, task_class: Mapping[str, Any], slot: Mapping[str, int]) -> bool:
    blocks = {(section + 1) // 2 for _, section in cells(slot)}
    return not _eligible(state, task_class, slot["day"]) or bool(blocks & set(task_class.get("excluded_slots", ())))


def _eligible(state: Document, task_class: Mapping[str, Any], number: int) -> bool:
    day = state["window"]["days"][number - 1]
    date = dt.date.fromisoformat(day["date"])
    start, end = task_class.get("start_date"), task_class.get("end_date")
    inside = (not start or dt.date.fromisoformat(start) <= date) and (not end or date <= dt.date.fromisoformat(end))
    return inside and day["day_of_week"] not in task_class.get("excluded_days_of_week", ())


def is_shielded(state: Document, item: Mapping[str, Any], number: int | None) -> bool:
    """L7: whether the item, or a day of the window, is protected from the agent."""
    for one in state.get("protections", ()):
        kind, value = one["kind"], one["value"]
        if kind == "task" and value == item["id"]:
            return True
        if kind == "class" and value == item["task_class_id"]:
            return True
        if number is not None and kind == "day" and value == number:
            return True
        if number is not None and kind == "weekday" and value == state["window"]["days"][number - 1]["day_of_week"]:
            return True
    return False


def broken_by_change(before: Document, after: Document, actor: str) -> set[str]:
    """What an accepted edit must never have done: L6, L7 and L8."""
    broken: set[str] = set()
    if {k: v for k, v in before.items() if k != "tasks"} != {k: v for k, v in after.items() if k != "tasks"}:
        broken.add("frame")
    if [task["id"] for task in before["tasks"]] != [task["id"] for task in after["tasks"]]:
        return broken | {"vanished"}
    for one, other in zip(before["tasks"], after["tasks"], strict=True):
        if one == other:
            continue
        if one["kind"] == "course" or one["status"] == "existing" or one.get("locked"):
            broken.add("locked")
        kept = set(one) | set(other)
        if any(one.get(name) != other.get(name) for name in kept - {"status", "slots", "embed_host"}):
            broken.add("identity")
        if (other["status"] == "pending") != (not other["slots"]) or other["status"] not in ("pending", "suggested"):
            broken.add("status")
        touched = [slot["day"] for slot in (*one["slots"], *other["slots"])]
        if actor == "agent" and any(is_shielded(before, one, number) for number in (None, *touched)):
            broken.add("protected")
    return broken


def day_terms(state: Document, number: int) -> dict[str, int]:
    """The ten weighted terms of a day."""
    wishes = state.get("preferences", {})
    classes = {c["id"]: c for c in state["task_classes"]}
    items = sorted(
        (t["slots"][0]["start"], t["slots"][0]["end"], t["task_class_id"])
        for t in state["tasks"]
        if t["kind"] == "task" and t["slots"] and t["slots"][0]["day"] == number
    )
    heavy = {key for key, c in classes.items() if c.get("cognitive_intensity") == "high"}
    entries = [(start + 2 * i, c) for start, end, c in items for i in range((end - start + 2) // 2)]
    switches = sum(one[1] != other[1] for one, other in pairwise(entries))
    adjacent = sum(
        one[2] != other[2]
        and {one[2], other[2]} <= heavy
        and other[0] - one[1] - 1 < 2
        and period_of(state, one[1]) == period_of(state, other[0])
        for one, other in pairwise(items)
    )
    study = {section for start, end, _ in items for section in range(start, end + 1)}
    held = study | {
        section
        for t in state["tasks"]
        if t["kind"] == "course"
        for s in t["slots"]
        for d, section in cells(s)
        if d == number
    }
    sections = state["window"]["sections"]
    gaps = [s for s in range(1, sections) if s not in held and s + 1 not in held]
    avoided = unpreferred = evening = 0
    for section, class_id in entries:
        period = period_of(state, section)
        avoid = _periods(wishes.get("avoid", ()), classes[class_id], 0)
        prefer = _periods(wishes.get("prefer", ()), classes[class_id], 2)
        avoided += period in avoid
        unpreferred += bool(prefer) and period not in prefer and period not in avoid
        evening += period == "evening" and class_id in heavy
    allowed = {"light": 8, "balanced": 10, "sprint": 12}[wishes.get("load", "balanced")] * sections // 12
    free = {"low": 1, "balanced": 2, "high": 4}[wishes.get("switching", "balanced")]
    factor = {"ok": 0, "mild": 1, "avoid": 5}[wishes.get("evening_heavy", "mild")]
    cap = wishes.get("daily_cap")
    length = sum(end - start + 1 for start, end, _ in items)
    return {
        "heavy_adjacent": 40 * adjacent,
        "heavy_run": 25 * max(0, _longest([c in heavy for _, c in entries], True) - 3),
        "long_block": 15
        * max(
            0, max((_longest([c for _, c in entries], c) for c in classes), default=0) - wishes.get("long_blocks", 4)
        ),
        "switching": 10 * max(0, switches - free),
        "overload": 5 * max(0, len(held) - allowed),
        "avoided": 20 * avoided,
        "unpreferred": 10 * unpreferred,
        "evening_heavy": 4 * factor * evening,
        "buffer": 10 * (wishes.get("tolerance", "balanced") == "high" and not gaps),
        "cap": 20 * max(0, length - cap) if cap is not None else 0,
    }


def _periods(wishes: Any, task_class: Mapping[str, Any], weight: int) -> set[str]:
    found = {
        wish["period"]
        for wish in wishes
        if wish.get("task_class_id") in (None, task_class["id"])
        and wish.get("intensity") in (None, task_class.get("cognitive_intensity"))
    }
    return found | {p for p, w in (task_class.get("time_of_day") or {}).items() if w == weight}


def _longest(values: list[Any], wanted: Any) -> int:
    best = run = 0
    for value in values:
        run = run + 1 if value == wanted else 0
        best = max(best, run)
    return best


def cost_terms(state: Document) -> dict[str, int]:
    """Every weighted term of a state."""
    total = {"heavy_adjacent": 0}
    for day in state["window"]["days"]:
        for name, value in day_terms(state, day["day"]).items():
            total[name] = total.get(name, 0) + value
    spread = same_day = 0
    for task_class in state["task_classes"]:
        items = sorted(
            (t["order"], t["slots"][0]["day"])
            for t in state["tasks"]
            if t.get("task_class_id") == task_class["id"] and t["slots"]
        )
        numbers = range(1, len(state["window"]["days"]) + 1)
        eligible = [n for n in numbers if _eligible(state, task_class, n)]
        ranks = [sum(n < day for n in eligible) for _, day in items]
        if task_class.get("strategy", "steady") == "rapid":
            spread += 2 * sum(ranks)
            continue
        count = len(ranks)
        targets = [(2 * k - 1) * len(eligible) // (2 * count) for k in range(1, count + 1)]
        spread += 2 * sum(abs(rank - target) for rank, target in zip(ranks, targets, strict=True))
        factor = {"cluster": 0, "balanced": 1, "interleave": 2}[task_class.get("aggregation") or "balanced"]
        on = [day for _, day in items]
        same_day += 12 * factor * sum(on[i] == on[j] for i in range(count) for j in range(i))
    return {**total, "spread": spread, "same_day": same_day}
