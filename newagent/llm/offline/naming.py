"""Names: which task or class a phrase means, from the task lines of tool results and the class names of the facts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from newagent.llm.offline.facts import ClassFacts

_LINE = re.compile(r"#(\d+)「(.+)」\[([^\]]*)\](.*)")
_PLACE = re.compile(r"D(\d+)\b.*?第(\d+)(?:-(\d+))?节")
_DIGITS = {letter: value for value, letter in enumerate("零一二三四五六七八九")} | {"两": 2}
_CJK_NUMBER = re.compile(r"第\s*([零一二三四五六七八九十两]+)|([零一二三四五六七八九十两]+)(?=[章讲课篇回套卷])")
_IDENTITY = re.compile(r"#\s*(\d+)|(?:任务|编号|task)\s*#?\s*(\d+)(?!\s*[章讲节课篇])|(\d+)\s*号(?:任务)?")
_UNITS = re.compile(r"第|章节?|单元|篇|讲|课时|小节|chapters?|units?|lessons?|ch\b|number|no\b")
_FILLERS = re.compile(
    r"那个|这个|那门|这门|那项|这项|任务|作业|的|我|请|帮|把|将|一下"
    r"|\b(?:the|my|a|an|task|item|of|please|for|class|course)\b"
)
GENERIC = (
    *("复习", "学习", "任务", "课程", "作业", "练习", "习题", "阅读", "日程", "课表", "安排", "计划", "准备"),
    *("期中", "期末", "考试", "时间", "课程设计"),
    *("study", "review", "task", "tasks", "class", "course", "reading", "exercise", "exercises", "exam", "final"),
    *("midterm", "project", "chapter"),
)
"""Words that many classes have in their names: alone they name none."""


@dataclass(frozen=True)
class TaskLine:
    """A task as a tool result lists it. `day`, `start`, `end` are 0 where it has no place."""

    id: int
    name: str
    klass: str
    line: str
    day: int = 0
    start: int = 0
    end: int = 0

    @property
    def is_course(self) -> bool:
        """Whether it is a course, which nobody moves."""
        return self.klass.startswith("课程")

    @property
    def pending(self) -> bool:
        """Whether it has no place yet."""
        return not self.is_course and "未放" in self.line

    @property
    def label(self) -> str:
        """How options and plans name it."""
        return f"#{self.id}「{self.name}」"


def tasks_in(result: str) -> list[TaskLine]:
    """The task lines of a result."""
    found: list[TaskLine] = []
    for line in result.split("\n"):
        match = _LINE.match(line.strip())
        if match:
            place = _PLACE.search(match[4])
            day, start, end = (int(place[1]), int(place[2]), int(place[3] or place[2])) if place else (0, 0, 0)
            found.append(TaskLine(int(match[1]), match[2], match[3], match[4], day, start, end))
    return found


def plain(text: str) -> str:
    """A text without case, width, and Chinese numerals after 第 or before a counting word."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return _CJK_NUMBER.sub(lambda m: ("第" if m[1] else "") + str(_count(m[1] or m[2])), text)


def _count(letters: str) -> int:
    if "十" in letters:
        tens, _, ones = letters.partition("十")
        return (_DIGITS.get(tens, 1) if tens else 1) * 10 + (_DIGITS.get(ones[:1], 0) if ones else 0)
    return int("".join(str(_DIGITS[letter]) for letter in letters))


def identity_of(phrase: str) -> int | None:
    """The task id that a phrase gives: #12, 任务12, 12号."""
    found = _IDENTITY.search(plain(phrase))
    return int(next(group for group in found.groups() if group)) if found else None


def find_tasks(phrase: str, tasks: Iterable[TaskLine]) -> list[TaskLine]:
    """The tasks that a phrase may mean: the best matches, several where it does not tell them apart."""
    tasks = list(tasks)
    identity = identity_of(phrase)
    if identity is not None and any(task.id == identity for task in tasks):
        return [task for task in tasks if task.id == identity]
    scored = [(score, task) for task in tasks if (score := match(phrase, task.name, task.klass))]
    best = max((score for score, _ in scored), default=0)
    return [task for score, task in scored if score == best]


def match(phrase: str, name: str, klass: str = "") -> int:
    """How well a phrase names a thing: 0 not at all, 5 exactly."""
    said, called = plain(phrase), plain(name)
    if _bare(said) == _bare(called) and _bare(said):
        return 5
    numbers = re.findall(r"\d+", said)
    if any(number not in re.findall(r"\d+", called) for number in numbers):
        return 0
    words = _bare(re.sub(r"\d+", " ", _UNITS.sub(" ", _FILLERS.sub(" ", said))))
    if not words:
        return 1 if numbers else 0
    whole = _bare(plain(klass) + called)
    if _bare(said) in _bare(called):
        return 4
    if words in _bare(called):
        return 3
    if words in whole:
        return 2
    if words.isascii():
        parts = re.findall(r"[a-z]+", re.sub(r"\d+", " ", _UNITS.sub(" ", _FILLERS.sub(" ", said))))
        known = re.findall(r"[a-z]+", plain(f"{klass} {name}"))
        return 2 if parts and all(any(word.startswith(part[:5]) for word in known) for part in parts) else 0
    return 1 if len(words) >= 2 and _is_within(words, whole) else 0


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def _is_within(letters: str, text: str) -> bool:
    """Whether the letters stand in the text in this order, as in 高数 for 高等数学."""
    at = iter(text)
    return all(letter in at for letter in letters)


def named_classes(text: str, classes: Sequence[ClassFacts]) -> tuple[int, ...]:
    """The ids of the classes that a text names by their name or a telling part of it."""
    said = plain(text)
    found = [one.id for one in classes if _bare(plain(one.name)) in _bare(said)]
    if found:
        return tuple(found)
    parts = {one.id: _telling_parts(said, plain(one.name)) for one in classes}
    longest = max((size for size in parts.values()), default=0)
    return tuple(identity for identity, size in parts.items() if size and (size >= 2 or size == longest))


def _telling_parts(said: str, name: str) -> int:
    """The length of the longest part of a class's name in a text that is not a word of every class."""
    longest = 0
    for word in re.findall(r"[a-z]{3,}", name):
        if word not in GENERIC and re.search(rf"\b{word}\b", said):
            longest = max(longest, len(word))
    for run in re.findall(r"[一-鿿]{2,}", name):
        for start in range(len(run)):
            for end in range(start + 2, len(run) + 1):
                part = run[start:end]
                if part in said and not any(part in word for word in GENERIC):
                    longest = max(longest, len(part))
    return longest
