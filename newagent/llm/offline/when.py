"""Times as people say them: 周三晚上, next Friday, 9月23日, D5 第3-4节 — and the days of the window that they mean."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any, Literal

from newagent.llm.offline.facts import View, WindowFacts

Period = Literal["morning", "afternoon", "evening"]

_PERIODS: tuple[tuple[Period, str], ...] = (
    ("morning", r"早上|早晨|清晨|上午|早间|[今明后]早|\bmornings?\b"),
    ("afternoon", r"下午|午后|\bafternoons?\b"),
    ("evening", r"晚上|晚间|夜里|夜晚|傍晚|[今明后]晚|每晚|\bevenings?\b|\bnights?\b|\btonight\b"),
)
_DAY_LETTERS = (
    {letter: i for i, letter in enumerate("一二三四五六日", 1)} | {"天": 7} | {str(i): i for i in range(1, 8)}
)
_CJK_DAY = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天1-7])(?![0-9一二三四五六七八九十]*[节章])")
_CJK_RANGE = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天])\s*[到至~—-]\s*(?:周|星期|礼拜)?([一二三四五六日天])")
_CJK_MORE = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天](?:[、和,，]?[二三四五六日天](?![节章科门]))+)")
_EN_DAYS = (
    "mon(?:day)?",
    "tue(?:s|sday)?",
    "wed(?:nesday)?",
    "thu(?:r|rs|rsday)?",
    "fri(?:day)?",
    "sat(?:urday)?",
    "sun(?:day)?",
)
_EN_DAY = re.compile(r"\b(?:" + "|".join(f"({one})" for one in _EN_DAYS) + r")s?\b")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_OFFSETS = (
    (2, r"后天|后[早晚]|\bday after tomorrow\b"),
    (1, r"明天|明日|明[早晚]|\btomorrow\b"),
    (0, r"今天|今日|今[早晚]|\btoday\b|\btonight\b"),
)

_LOOSE = re.compile(
    r"[下这本上]+(?:个)?(?:周|星期|礼拜)|周末|工作日|第\s*\d{1,2}\s*(?:周|大节)|第?\s*\d{1,2}(?:\s*[-~—到至]\s*\d{1,2})?\s*节"
    r"|\d{1,2}月\d{1,2}[日号]?|\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}/\d{1,2}\b|(?<![a-z])d\s?\d{1,3}(?!\d)"
    r"|\b(?:next|this|weekends?|weekdays?|workdays?|week \d+|day \d+|sections? \d+)\b"
    r"|\b(?:" + "|".join(_MONTHS) + r")[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?\b"
)


@dataclass(frozen=True)
class When:
    """A time as it was said; what was not said is empty.

    `shift` counts weeks from this one, `offset` days from today.
    """

    weekdays: tuple[int, ...] = ()
    shift: int | None = None
    week: int | None = None
    offset: int | None = None
    month_day: tuple[int, int] | None = None
    day: int | None = None
    period: Period | None = None
    sections: tuple[int, int] | None = None

    @property
    def names_day(self) -> bool:
        """Whether it says anything about the day."""
        return bool(self.weekdays) or any(
            part is not None for part in (self.shift, self.week, self.offset, self.month_day, self.day)
        )

    def __bool__(self) -> bool:
        return self.names_day or self.period is not None or self.sections is not None

    def days(self, view: View) -> list[int]:
        """The days of the window (numbers from 1) that fit, all of them where no day was named."""
        window = view.facts.window
        if window is None:
            return []
        today = view.today or window.first
        return [
            number
            for number in range(1, window.days + 1)
            if self._admits(number, window.first + dt.timedelta(days=number - 1), window, today)
        ]

    def _admits(self, number: int, date: dt.date, window: WindowFacts, today: dt.date) -> bool:
        monday = today - dt.timedelta(days=today.weekday())
        week = window.weeks[0] + (window.first.weekday() + number - 1) // 7
        return (
            (self.day is None or number == self.day)
            and (not self.weekdays or date.isoweekday() in self.weekdays)
            and (self.offset is None or date == today + dt.timedelta(days=self.offset))
            and (self.shift is None or (date - monday).days // 7 == self.shift)
            and (self.week is None or week == self.week)
            and (self.month_day is None or (date.month, date.day) == self.month_day)
        )

    def bounds(self, view: View) -> tuple[int, int] | None:
        """First and last section that it allows, None where it says nothing about the time of day."""
        if self.sections is not None:
            return self.sections
        window = view.facts.window
        return window.periods.get(self.period) if window is not None and self.period else None

    def filters(self, view: View) -> dict[str, Any]:
        """The arguments of the query tools for its time of day and, where it is a single day, for the day."""
        chosen: dict[str, Any] = {}
        bounds = self.bounds(view)
        if bounds is not None:
            chosen["after_section"], chosen["before_section"] = bounds[0] - 1, bounds[1] + 1
        days = self.days(view) if self.names_day else []
        if len(days) == 1:
            chosen["day"] = days[0]
        elif self.weekdays:
            chosen["day_of_week"] = list(self.weekdays)
        if len(days) > 1 and (self.shift is not None or self.week is not None):
            chosen["day_from"], chosen["day_to"] = days[0], days[-1]
        return chosen


def when_of(text: str) -> When:
    """The time that a text names, empty where it names none."""
    text = text.casefold()
    return When(
        weekdays=_weekdays(text),
        shift=_shift(text),
        week=_number(r"第\s*(\d{1,2})\s*周|\bweek (\d{1,2})\b", text),
        offset=next((days for days, pattern in _OFFSETS if re.search(pattern, text)), None),
        month_day=_month_day(text),
        day=_number(r"(?<![a-z])d\s?(\d{1,3})(?!\d)|\bday (\d{1,3})\b", text),
        period=next((name for name, pattern in _PERIODS if re.search(pattern, text)), None) or _clock(text),
        sections=_sections(text),
    )


def without_time(text: str) -> str:
    """A lower-case text without the words of times."""
    for pattern in (_CJK_RANGE, _CJK_MORE, _CJK_DAY, _EN_DAY, _LOOSE):
        text = pattern.sub(" ", text)
    for _, pattern in (*_PERIODS, *_OFFSETS):
        text = re.sub(pattern, " ", text)
    return text


def _weekdays(text: str) -> tuple[int, ...]:
    found: set[int] = set()
    for first, last in _CJK_RANGE.findall(text):
        found.update(range(_DAY_LETTERS[first], _DAY_LETTERS[last] + 1))
    for letters in _CJK_MORE.findall(text):
        found.update(_DAY_LETTERS[letter] for letter in letters if letter in _DAY_LETTERS)
    found.update(_DAY_LETTERS[letter] for letter in _CJK_DAY.findall(text))
    for groups in _EN_DAY.findall(text):
        found.update(index for index, name in enumerate(groups, 1) if name)
    if re.search(r"周末|\bweekends?\b", text):
        found.update((6, 7))
    if re.search(r"工作日|\bweekdays?\b|\bworkdays?\b", text):
        found.update(range(1, 6))
    return tuple(sorted(found))


def _shift(text: str) -> int | None:
    if re.search(r"下下(?:个)?(?:周|星期|礼拜)", text):
        return 2
    if re.search(r"下(?:个)?(?:周|星期|礼拜)|\bnext (?:week|" + "|".join(_EN_DAYS) + r")\b", text):
        return 1
    if re.search(r"[这本](?:个)?(?:周|星期|礼拜)|\bthis (?:week|" + "|".join(_EN_DAYS) + r")\b", text):
        return 0
    return None


def _month_day(text: str) -> tuple[int, int] | None:
    for pattern in (r"(\d{1,2})月(\d{1,2})[日号]?", r"\b\d{4}-(\d{1,2})-(\d{1,2})\b", r"\b(\d{1,2})/(\d{1,2})\b"):
        found = re.search(pattern, text)
        if found:
            return int(found[1]), int(found[2])
    months = "|".join(_MONTHS)
    found = re.search(rf"\b({months})[a-z]*\.? (\d{{1,2}})(?:st|nd|rd|th)?\b", text)
    if found:
        return _MONTHS.index(found[1]) + 1, int(found[2])
    found = re.search(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({months})[a-z]*\b", text)
    return (_MONTHS.index(found[2]) + 1, int(found[1])) if found else None


def _sections(text: str) -> tuple[int, int] | None:
    block = _number(r"第?\s*(\d{1,2})\s*大节", text)
    if block is not None:
        return 2 * block - 1, 2 * block
    found = re.search(r"第?\s*(\d{1,2})\s*(?:[-~—到至]\s*第?\s*(\d{1,2})\s*)?节", text) or re.search(
        r"\bsections? (\d{1,2})(?:\s*(?:-|to|and)\s*(\d{1,2}))?", text
    )
    if not found:
        return None
    first = int(found[1])
    return first, int(found[2]) if found[2] else 99


def _clock(text: str) -> Period | None:
    """The period of a clock time that tells morning from evening: 3 pm, 15:30, 19点."""
    half = re.search(r"\b(\d{1,2})(?::\d{2})?\s*([ap])\.?m\b", text)
    full = re.search(r"\b(\d{1,2}):\d{2}\b|(?<!\d)(1[3-9]|2[0-3])\s*点", text)
    if half:
        hour = int(half[1]) % 12 + (12 if half[2] == "p" else 0)
    elif full:
        hour = int(full[1] or full[2])
    else:
        return None
    return "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"


def _number(pattern: str, text: str) -> int | None:
    found = re.search(pattern, text)
    return int(next(group for group in found.groups() if group)) if found else None
