"""Wishes about how to study, as the fields of `set_preferences`; one clause of a sentence at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from newagent.llm.offline.naming import named_classes, plain
from newagent.llm.offline.when import when_of

FIELDS = ("avoid", "prefer", "load", "switching", "tolerance", "long_blocks", "evening_heavy", "daily_cap")
_CLAUSE = re.compile(r"[，。；！？,;!?\n]|(?:并且|而且|同时|另外|还有|然后)|\b(?:and|but|also)\b")
_HEAVY = r"费脑|烧脑|动脑|太难|难的|高强度|吃力|硬骨头|烧脑的|\bheavy\b|\bhard\b|\bdemanding\b|\bdifficult\b|\bintens(?:e|ive)\b|\btough\b"
_STUDY = (
    _HEAVY
    + r"|学|排|任务|复习|做题|背|功课|作业|用功|\bstud(?:y|ying)\b|\btasks?\b|\bwork(?:ing)?\b|\blearn(?:ing)?\b|"
    r"\bschedul\w*|\bthings?\b|\bsubjects?\b|\bclass(?:es)?\b"
)
_AGAINST = r"不想|不要|别|不愿|不喜欢|不排|不学|少排|少学|避开|避免|讨厌|不能|\bno\b|\bnot\b|\bnever\b|n't\b|\bavoid\b|\bwithout\b|\bhate\b|\bkeep\b.*\bfree\b|\bless\b"
_FOR = r"喜欢|想|尽量|多排|多安排|多学|优先|最好|放在|安排在|排在|集中在|\bprefer\b|\blike\b|\bmostly\b|\bmore\b|\brather\b|\bput\b|\bin the\b"
_FINE = r"没关系|无所谓|也行|可以|没问题|不介意|\bfine\b|\bok(?:ay)?\b|\bdon't mind\b|\bno problem\b"
_SIMPLE: Sequence[tuple[str, str, Any]] = (
    (
        r"少换|少切换|减少切换|切换.*(?:太多|少|频繁)|换科.*(?:少|太)|换来换去|别老换|不要.*换.*科|别.*换.*科",
        "switching",
        "low",
    ),
    (r"(?:一天|每天|一日).*(?:只|少|别).*[几两一三]?(?:门|科)", "switching", "low"),
    (
        r"\b(?:few|less|fewer|reduce|minimi[sz]e)\b.*\b(?:switch\w*|subjects|changes)\b|\btoo many (?:switches|subjects)\b",
        "switching",
        "low",
    ),
    (r"\bswitch(?:ing)?\b.*\b(?:less|fewer|too)\b|\bstick to (?:one|fewer)\b", "switching", "low"),
    (r"多换换|换着学|穿插|交替", "switching", "high"),
    (
        r"\bmix (?:it|them|subjects|things) (?:up|more)\b|\bmore variety\b|\binterleave\b|\balternate\b",
        "switching",
        "high",
    ),
    (
        r"轻松(?:一)?点|轻一点|(?:别|不要|不想).*(?:太满|太累|太挤|排满)|太满|太累|少排(?:一)?[点些]|松一点",
        "load",
        "light",
    ),
    (
        r"\b(?:lighter|less (?:packed|busy|crowded|full)|too (?:packed|busy|full|tiring|crowded)|easier days|take it easy)\b",
        "load",
        "light",
    ),
    (
        r"冲刺|多学(?:一)?点|加量|抓紧|排满一?点|\bsprint\b|\bcram\b|\bpack (?:it|the days?|them) (?:in|tight\w*)\b",
        "load",
        "sprint",
    ),
    (
        r"留(?:一)?(?:点|些|出)?.*(?:余地|缓冲|空档|机动|富余|弹性)|\bbuffers?\b|\bslack\b|\bleave (?:some |a bit of |me )?(?:room|space|gaps?)\b",
        "tolerance",
        "high",
    ),
    (r"(?:别|不要|不想).*连(?:着|续).*(?:太久|太长|几个小时|学|上)|一次.*别.*太久|短一点的?时段", "long_blocks", 3),
    (
        r"\bshorter (?:blocks|sessions)\b|\bnot (?:so|too) long (?:at a (?:stretch|time)|in a row)\b|\bno long (?:blocks|sessions)\b",
        "long_blocks",
        3,
    ),
    (
        r"(?:可以|喜欢|想).*连(?:着|续).*(?:久|长)|整块时间|大块时间|\blonger (?:blocks|sessions)\b|\blong sessions are (?:fine|ok)\b",
        "long_blocks",
        6,
    ),
)
_CAP = re.compile(
    r"(?:每天|一天|每日).*?(?:最多|不超过|至多|别超过|不要超过).*?(\d{1,2}|[一二两三四五六七八九十])\s*节"
    r"|\b(?:at most|no more than|max(?:imum)?(?: of)?) (\d{1,2}) sections?\b"
)
_RESET = r"(?:恢复|重置|清空|清除|取消).*偏好|\b(?:reset|clear|forget) (?:my |the |all )?preferences\b"


def wishes_of(text: str, classes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The preference fields that a text asks for; `avoid` and `prefer` hold only what it adds. Empty for none."""
    wishes: dict[str, Any] = {}
    if re.search(_RESET, plain(text)):
        return dict.fromkeys(FIELDS)
    for clause in filter(None, (one.strip() for one in _CLAUSE.split(plain(text)))):
        for field, value in _of_clause(clause, classes).items():
            wishes[field] = [*wishes.get(field, []), *value] if isinstance(value, list) else value
    return wishes


def _of_clause(clause: str, classes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    cap = _CAP.search(clause)
    if cap:
        return {"daily_cap": _small(cap[1] or cap[2])}
    for pattern, field, value in _SIMPLE:
        if re.search(pattern, clause):
            return {field: value}
    when = when_of(clause)
    if when.period is None or when.names_day or not re.search(_STUDY, clause):
        return {}
    heavy = bool(re.search(_HEAVY, clause))
    against, fine = bool(re.search(_AGAINST, clause)), bool(re.search(_FINE, clause))
    if when.period == "evening" and heavy and (fine or against):
        return {"evening_heavy": "ok" if fine and not re.search(r"别|不想|不要", clause) else "avoid"}
    wish: dict[str, Any] = {"period": when.period}
    named = named_classes(clause, [dict(one) for one in classes])
    if heavy:
        wish["intensity"] = "high"
    elif len(named) == 1:
        wish["task_class_id"] = named[0]
    if against:
        return {"avoid": [wish]}
    return {"prefer": [wish]} if re.search(_FOR, clause) else {}


def merged(wishes: Mapping[str, Any], present: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `set_preferences`: what is added to a list joins what stands there, since lists are replaced.

    A wish for a period takes back the opposite one.
    """
    arguments = dict(wishes)
    for field, other in (("avoid", "prefer"), ("prefer", "avoid")):
        added = wishes.get(field)
        if not added:
            continue
        arguments[field] = [*(one for one in present.get(field) or [] if one not in added), *added]
        standing = present.get(other) or []
        if other not in wishes and any(one in added for one in standing):
            arguments[other] = [one for one in standing if one not in added]
    return arguments


def _small(text: str) -> int:
    return int(text) if text.isdecimal() else "零一二三四五六七八九十".find(text.replace("两", "二"))
