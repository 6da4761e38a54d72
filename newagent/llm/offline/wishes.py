"""Wishes about how to study, as the fields of `set_preferences`; one clause of a sentence at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from newagent.llm.offline import vocabulary as known
from newagent.llm.offline.facts import ClassFacts
from newagent.llm.offline.naming import named_classes, plain
from newagent.llm.offline.when import when_of

FIELDS = ("avoid", "prefer", "load", "switching", "tolerance", "long_blocks", "evening_heavy", "daily_cap")


def wishes_of(text: str, classes: Sequence[ClassFacts]) -> dict[str, Any]:
    """The preference fields that a text asks for; `avoid` and `prefer` hold only what it adds. Empty for none."""
    wishes: dict[str, Any] = {}
    if known.RESET.search(plain(text)):
        return dict.fromkeys(FIELDS)
    for clause in clauses(plain(text)):
        for field, value in _of_clause(clause, classes).items():
            wishes[field] = [*wishes.get(field, []), *value] if isinstance(value, list) else value
    return wishes


def clauses(text: str) -> list[str]:
    """The parts of a sentence that are understood one by one."""
    return [one.strip() for one in known.CLAUSE.split(text) if one.strip()]


def _of_clause(clause: str, classes: Sequence[ClassFacts]) -> dict[str, Any]:
    cap = known.CAP.search(clause)
    if cap:
        return {"daily_cap": _small(cap[1] or cap[2])}
    for pattern, field, value in known.DIALS:
        if pattern.search(clause):
            return {field: value}
    when = when_of(clause)
    if when.period is None or when.names_day or not (known.STUDY.search(clause) or known.HEAVY.search(clause)):
        return {}
    heavy = bool(known.HEAVY.search(clause))
    against, fine = bool(known.AGAINST.search(clause)), bool(known.FINE.search(clause))
    if when.period == "evening" and heavy and (fine or against):
        return {"evening_heavy": "ok" if fine else "avoid"}
    wish: dict[str, Any] = {"period": when.period}
    named = named_classes(clause, classes)
    if heavy:
        wish["intensity"] = "high"
    elif len(named) == 1:
        wish["task_class_id"] = named[0]
    if against:
        return {"avoid": [wish]}
    return {"prefer": [wish]} if known.FAVOUR.search(clause) else {}


def merged(wishes: Mapping[str, Any], present: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `set_preferences`: what is added to a list joins what stands there, since lists are replaced.

    A wish for a period takes back the opposite one.
    """
    arguments = dict(wishes)
    for field, other in (("avoid", "prefer"), ("prefer", "avoid")):
        added = _rows(wishes, field)
        if not added:
            continue
        arguments[field] = [*(one for one in _rows(present, field) if one not in added), *added]
        standing = _rows(present, other)
        if other not in wishes and any(one in added for one in standing):
            arguments[other] = [one for one in standing if one not in added]
    return arguments


def _rows(preferences: Mapping[str, Any], field: str) -> list[Any]:
    """A list of wishes without the fields that are null."""
    rows: list[dict[str, Any]] = preferences.get(field) or []
    return [{key: value for key, value in row.items() if value is not None} for row in rows]


def _small(text: str) -> int:
    return int(text) if text.isdecimal() else "零一二三四五六七八九十".find(text.replace("两", "二"))
