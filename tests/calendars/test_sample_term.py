from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from newagent.calendars.importer import read_timetable
from newagent.calendars.sample import sample_term
from newagent.schedule.cost import evaluate
from newagent.schedule.edits import Edited
from newagent.schedule.model import ScheduleState, TaskClass
from newagent.schedule.placement.build import rough_build


@pytest.fixture(scope="module")
def state() -> ScheduleState:
    """The sample as a state, from the first day of its classes to their last."""
    semester, data, classes = sample_term()
    term = read_timetable(data, semester, filename="sample.csv")
    first, last = (
        pick(dt.date.fromisoformat(one[key]) for one in classes)
        for pick, key in ((min, "start_date"), (max, "end_date"))
    )
    days = [
        {
            "day": number,
            "date": date.isoformat(),
            **dict(zip(("week", "day_of_week"), semester.position(date), strict=True)),
        }
        for number, date in enumerate(semester.dates(first, last), start=1)
    ]
    day_of = {(day["week"], day["day_of_week"]): day["day"] for day in days}
    tasks: list[dict[str, Any]] = []
    for course in term.courses:
        slots = [
            {"day": day_of[m.week, m.day_of_week], "start": m.start, "end": m.end}
            for m in course.meetings
            if (m.week, m.day_of_week) in day_of
        ]
        fields = {"kind": "course", "status": "existing", "can_embed": course.can_embed, "slots": slots}
        tasks.append({"id": len(tasks) + 1, "source": "event", "source_id": len(tasks), "name": course.name, **fields})
    for class_id, one in enumerate(classes, start=1):
        for order, item in enumerate(one["items"], start=1):
            fields = {"kind": "task", "status": "pending", "task_class_id": class_id, "order": order, **item}
            tasks.append({"id": len(tasks) + 1, "source": "task_item", "source_id": len(tasks), **fields})
    document = {
        "schema_version": 1,
        "window": {"sections": len(semester.sections), "periods": semester.periods, "days": days},
        "tasks": tasks,
        "task_classes": [
            {"id": class_id, **{key: value for key, value in one.items() if key != "items"}}
            for class_id, one in enumerate(classes, start=1)
        ],
    }
    return ScheduleState.load(document)


def test_the_timetable_is_taken_whole() -> None:
    semester, data, _ = sample_term()
    result = read_timetable(data, semester, filename="sample.csv")
    assert (semester.weeks, len(semester.sections)) == (18, 12)
    assert {(row.taken, row.reasons) for row in result.report} == {(True, ())}
    assert result.overlaps == ()
    assert result.semester == semester
    assert len(result.courses) >= 10
    assert sorted(course.name for course in result.courses if course.can_embed) == ["大学生心理健康", "艺术鉴赏"]
    weeks = {tuple(m.week % 2 for m in course.meetings) for course in result.courses}
    assert any(set(parities) == {0} for parities in weeks)
    assert any(set(parities) == {1} for parities in weeks)
    assert any(course.location == "" for course in result.courses)


def test_the_classes_are_varied_and_fully_told() -> None:
    semester, _, classes = sample_term()
    assert sum(len(one["items"]) for one in classes) >= 40
    for class_id, one in enumerate(classes, start=1):
        task_class = TaskClass(id=class_id, **{key: value for key, value in one.items() if key != "items"})
        assert task_class.missing_profile == ()
        assert task_class.start_date == semester.start_date
        assert task_class.total_slots == sum(item["duration"] for item in one["items"])
        assert len({item["name"] for item in one["items"]}) == len(one["items"])
    for key in ("strategy", "subject_type", "tolerance", "end_date", "cognitive_intensity", "difficulty_level"):
        assert len({one[key] for one in classes}) > 1, key
    assert {bool(one["excluded_slots"]) for one in classes} == {True, False}
    assert {bool(one["excluded_days_of_week"]) for one in classes} == {True, False}
    assert {one["allow_filler_course"] for one in classes} == {True, False}


def test_everything_fits_and_not_every_place_is_good(state: ScheduleState) -> None:
    built = rough_build(state, [1, 2, 3, 4])
    assert isinstance(built, Edited)
    value = evaluate(built.state)
    assert value.pending == 0
    assert value.cost > 0


def test_every_call_gives_fresh_documents() -> None:
    sample_term()[2][0]["items"].clear()
    assert sample_term()[2][0]["items"]
    assert sample_term() == sample_term()
