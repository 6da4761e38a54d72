"""Why a line of an imported file was not taken, or what to know about one that was: stable codes, two languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

_LONGEST_QUOTE = 40
Locale = Literal["zh", "en"]

REASONS: dict[str, tuple[str, str]] = {
    # not taken
    "no_name": ("没有课程名称", "there is no name"),
    "bad_weekday": ("星期“{value}”看不懂，应为 1 到 7", "cannot read the weekday {value!r}: it is 1 to 7"),
    "bad_sections": (
        "节次“{value}”不对，应为从小到大的正整数",
        "the sections {value!r} are wrong: a first and a last one, counted from 1",
    ),
    "bad_weeks": ("周数“{value}”看不懂", "cannot read the weeks {value!r}"),
    "no_room": (
        "第{section}节排不下：一天到不了那么晚",
        "there is no section {section}: it would end after midnight",
    ),
    "too_many_fields": (
        "列数比表头多；含逗号的周数要加引号",
        "more fields than the header has; weeks with commas need quotes",
    ),
    "bad_quotes": ("引号没有成对或不在字段两端", "the quotes are not in pairs around a field"),
    "bad_course": ("这门课的格式不对：{detail}", "this course is malformed: {detail}"),
    "bad_event": ("这个日程的格式不对：{detail}", "this event is malformed: {detail}"),
    "all_day": ("全天或跨天的日程，不占节次", "an all-day event takes no sections"),
    "cancelled": ("已取消的日程", "the event is cancelled"),
    "superseded": ("同一日程有更新的版本", "a newer version of the same event is in the file"),
    "unsupported_rule": (
        "重复规则太密或太特殊，没有展开：{rule}",
        "the recurrence is too dense or too unusual to be expanded: {rule}",
    ),
    "outside_semester": ("全部在学期之外", "wholly outside the semester"),
    "no_occurrence": ("每一次都被取消或移走了", "every single occurrence was cancelled or moved away"),
    "no_section": ("时间没有占到任何一节的一半以上", "covers more than half of no section"),
    "all_off": ("全部落在放假的日子", "falls wholly on days off"),
    # taken, and worth knowing
    "some_weeks_outside": (
        "第{weeks}周有在学期之外的，没有取",
        "weeks {weeks} lie partly or wholly outside the semester",
    ),
    "some_outside": ("在学期之外的部分没有取", "what lies outside the semester was left out"),
    "some_no_section": (
        "有 {count} 次没有占到任何一节，没有取",
        "{count} times it covers no section; these were left out",
    ),
    "extended": ("课表延长到 {sections} 节", "the day was extended to {sections} sections"),
    "shortened": ("名称或地点太长，截到 {length} 字", "the name or place is too long; cut to {length} characters"),
    "duplicate": ("与前面的行重复，已合并", "repeats what is above; merged"),
    "adjusted": (
        "按调休移动 {moved} 次、放假取消 {off} 次",
        "{moved} times moved to a make-up day, {off} times off",
    ),
    "unknown_flag": (
        "“{value}”看不懂，按不可嵌入处理",
        "cannot read the flag {value!r}; study is not put inside this course",
    ),
    "unknown_zone": ("时区“{zone}”未知，按学期的时区理解", "unknown time zone {zone!r}; read as the semester's"),
}


@dataclass(frozen=True)
class Reason:
    """A code of `REASONS` with the values of its text."""

    code: str
    values: Mapping[str, object] = field(default_factory=dict[str, object])

    def text(self, locale: Locale = "zh") -> str:
        """The reason for a person."""
        return REASONS[self.code][0 if locale == "zh" else 1].format(**self.values)


def shown(text: str) -> str:
    """A cell of the file as a reason quotes it: on one line, and short."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1] + "…"
