"""A made-up term that ships with the package: what `newagent demo` and a new user's first try run on.

A second-year student's 18 weeks: a dozen courses, among them odd and even weeks and two that leave time for other
work, and four bodies of work due four to six weeks after the start.
"""

from __future__ import annotations

import datetime as dt
from importlib.resources import files
from typing import Any

from newagent.schedule.calendar import Semester

FIRST_DAY = dt.date(2026, 9, 7)


def sample_term() -> tuple[Semester, bytes, list[dict[str, Any]]]:
    """The semester, its timetable as a CSV file, and its task classes.

    A task class is a document with the fields of `newagent.schedule.model.TaskClass`, without id, and `items` in
    order: {name, duration in sections}. Every call gives fresh documents.
    """
    timetable = files("newagent.calendars").joinpath("sample.csv").read_bytes()
    return Semester(start_date=FIRST_DAY), timetable, [_probability(), _project(), _words(), _reading()]


def _probability() -> dict[str, Any]:
    chapters = (
        "随机事件与概率",
        "条件概率与独立性",
        "离散型随机变量",
        "连续型随机变量",
        "二维随机变量",
        "数字特征",
        "大数定律与中心极限定理",
    )
    rounds = [
        f"第{number}章 {name}·{step}" for number, name in enumerate(chapters, start=1) for step in ("复习", "习题")
    ]
    return {
        "name": "概率论期中复习",
        "mode": "auto",
        "start_date": FIRST_DAY.isoformat(),
        "end_date": _end_of_week(5),
        "strategy": "steady",
        "total_slots": 32,
        "allow_filler_course": False,
        "excluded_slots": [6],
        "excluded_days_of_week": [7],
        "subject_type": "quantitative",
        "difficulty_level": "high",
        "cognitive_intensity": "high",
        "tolerance": "balanced",
        "items": _items([*rounds, "期中模拟卷一", "期中模拟卷二"]),
    }


def _project() -> dict[str, Any]:
    steps = (
        *("选题与需求", "数据结构选型", "接口设计", "核心算法", "读写文件", "界面"),
        *("单元测试", "性能测试", "写报告", "准备答辩"),
    )
    return {
        "name": "数据结构课程设计",
        "mode": "auto",
        "start_date": FIRST_DAY.isoformat(),
        "end_date": _end_of_week(4),
        "strategy": "rapid",
        "total_slots": 20,
        "allow_filler_course": False,
        "excluded_slots": [],
        "excluded_days_of_week": [],
        "subject_type": "mixed",
        "difficulty_level": "high",
        "cognitive_intensity": "high",
        "tolerance": "high",
        "items": _items([f"课程设计：{step}" for step in steps]),
    }


def _words() -> dict[str, Any]:
    return {
        "name": "英语六级词汇",
        "mode": "auto",
        "start_date": FIRST_DAY.isoformat(),
        "end_date": _end_of_week(6),
        "strategy": "steady",
        "total_slots": 24,
        "allow_filler_course": True,
        "excluded_slots": [],
        "excluded_days_of_week": [],
        "subject_type": "memory",
        "difficulty_level": "medium",
        "cognitive_intensity": "low",
        "tolerance": "low",
        "items": _items([f"六级词汇 第{number}单元" for number in range(1, 13)]),
    }


def _reading() -> dict[str, Any]:
    return {
        "name": "马原文献阅读",
        "mode": "auto",
        "start_date": FIRST_DAY.isoformat(),
        "end_date": _end_of_week(5),
        "strategy": "steady",
        "total_slots": 16,
        "allow_filler_course": True,
        "excluded_slots": [1],
        "excluded_days_of_week": [6, 7],
        "subject_type": "reading",
        "difficulty_level": "low",
        "cognitive_intensity": "medium",
        "tolerance": "balanced",
        "items": _items([*(f"精读 第{number}篇" for number in range(1, 7)), "读书笔记", "读书报告"]),
    }


def _items(names: list[str]) -> list[dict[str, Any]]:
    return [{"name": name, "duration": 2} for name in names]


def _end_of_week(week: int) -> str:
    return (FIRST_DAY + dt.timedelta(days=7 * week - 1)).isoformat()
