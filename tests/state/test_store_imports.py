"""Semesters, timetable files and task classes, stored: the same again changes nothing, and what changed is said."""

from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from newagent.calendars.model import Course, ImportResult, Meeting
from newagent.calendars.sample import sample_term
from newagent.errors import InputError, NotFoundError, RefusedError, StoreError
from newagent.schedule.calendar import Section, Semester
from newagent.state.sql.store import SqlStore
from newagent.state.sql.tables import metadata
from tests.state.term_bed import MATHS, NOW, SEMESTER, SPARE, TERM, USER, putting, ready, tamper, task_class, turn


async def rows(store: SqlStore) -> dict[str, list[tuple[Any, ...]]]:
    async with store._database.read() as connection:
        return {
            name: [tuple(row) for row in await connection.execute(text(f"SELECT * FROM {name} ORDER BY 1, 2, 3"))]
            for name in metadata.tables
        }


def file_with(*courses: Course, semester: Semester = SEMESTER) -> ImportResult:
    return ImportResult(semester, courses)


async def test_a_file_is_stored_once(store: SqlStore) -> None:
    first = await store.import_courses(USER, TERM)
    assert first == {
        "courses": 2,
        "added": 2,
        "changed": 0,
        "unchanged": 0,
        "absent": 0,
        "details": {
            "added": [{"name": "思政", "location": ""}, {"name": "高等数学", "location": "A301"}],
            "changed": [],
            "absent": [],
        },
    }
    before = await rows(store)
    again = await store.import_courses(USER, TERM)
    assert (again["unchanged"], again["added"], again["changed"]) == (2, 0, 0)
    assert await rows(store) == before


async def test_what_a_second_file_changes(store: SqlStore) -> None:
    await store.import_courses(USER, TERM)
    moved = replace(MATHS, meetings=(Meeting(1, 1, 1, 2), Meeting(1, 1, 3, 4)))
    hosting = replace(SPARE, can_embed=False)
    other_room = Course("高等数学", "B1", (Meeting(4, 5, 11, 12),))
    said = await store.import_courses(USER, file_with(moved, other_room))
    assert said["details"] == {
        "added": [{"name": "高等数学", "location": "B1"}],
        "changed": [{"name": "高等数学", "location": "A301"}],
        "absent": [{"name": "思政", "location": ""}],
    }
    stored = (await store.read_timetable(USER)).courses
    assert stored == (SPARE, moved, other_room), "meetings that only touch stay two; an absent course stays"
    said = await store.import_courses(USER, file_with(hosting, moved), replace=True)
    assert (said["changed"], said["unchanged"], said["absent"]) == (1, 1, 1)
    assert (await store.read_timetable(USER)).courses == (hosting, moved)


async def test_a_course_is_deleted_by_its_owner(store: SqlStore) -> None:
    await store.import_courses(USER, TERM)
    for user, course_id in (("other", 1), (USER, 99), (USER, 2**70)):
        with pytest.raises(NotFoundError) as caught:
            await store.delete_course(user, course_id)
        assert caught.value.code == "unknown_course"
    await store.delete_course(USER, 1)
    assert (await store.read_timetable(USER)).courses == (MATHS,)


async def test_ids_are_never_given_out_twice(store: SqlStore) -> None:
    """A preview that names the deleted class must not meet a new one under its id."""
    first = await store.put_task_class(USER, task_class())
    items = {item.id for one in await store.task_classes(USER) for item in one.items}
    await store.delete_task_class(USER, first)
    assert await store.put_task_class(USER, task_class()) > first
    assert items.isdisjoint({item.id for one in await store.task_classes(USER) for item in one.items})


@pytest.mark.parametrize(
    "meeting",
    [
        Meeting(10**12, 1, 1, 2),
        Meeting(5, 1, 1, 2),
        Meeting(0, 1, 1, 2),
        Meeting(1, 8, 1, 2),
        Meeting(1, 1, 12, 13),
        Meeting(1, 1, 3, 2),
    ],
    ids=str,
)
async def test_a_meeting_outside_the_semester(store: SqlStore, meeting: Meeting) -> None:
    with pytest.raises(InputError) as caught:
        await store.import_courses(USER, file_with(MATHS, Course("体育", "", (meeting,))))
    assert caught.value.code == "meeting_outside_semester"
    assert caught.value.data["course"] == "体育"
    assert await store.read_semester(USER) is None, "nothing is half imported"


async def test_a_name_that_is_too_long(store: SqlStore) -> None:
    with pytest.raises(InputError) as caught:
        await store.import_courses(USER, file_with(replace(MATHS, name="长" * 256)))
    assert caught.value.code == "name_too_long"
    await store.import_courses(USER, file_with(replace(MATHS, name="长" * 255), replace(SPARE, meetings=())))


async def test_a_smaller_file_does_not_cut_the_semester(store: SqlStore) -> None:
    wide = SEMESTER.extended(13).model_copy(update={"weeks": 6})
    await store.import_courses(USER, file_with(Course("夜课", "", (Meeting(6, 1, 13, 13),)), semester=wide))
    await store.import_courses(USER, TERM)
    stored = await store.read_semester(USER)
    assert stored is not None
    assert (stored.weeks, len(stored.sections)) == (6, 13)
    sections = tuple(
        Section(start=dt.time(hour, 0), end=dt.time(hour + 1, 59 if hour == 22 else 0), period="morning")
        for hour in range(11, 23)
    )
    full = SEMESTER.model_copy(update={"sections": sections})
    with pytest.raises(RefusedError) as caught:
        await store.import_courses(USER, file_with(MATHS, semester=full))
    assert caught.value.code == "semester_too_small"
    assert await store.read_semester(USER) == stored


async def test_putting_a_semester(store: SqlStore) -> None:
    assert await store.read_semester(USER) is None
    first = await store.put_semester(USER, SEMESTER)
    table = tuple(Section(start=dt.time(h), end=dt.time(h, 50), period="morning") for h in (8, 9, 10))
    short = Semester(start_date=SEMESTER.start_date, weeks=2, time_zone="Europe/Berlin", sections=table)
    assert await store.put_semester(USER, short) == first
    assert await store.read_semester(USER) == short
    next_term = Semester(start_date=dt.date(2026, 9, 7))
    assert await store.put_semester(USER, next_term) != first
    assert await store.read_semester(USER) == next_term
    assert await store.put_semester(USER, short) == first
    assert await store.read_semester(USER) == short, "the one that was put last is in force"
    with pytest.raises(InputError):
        await store.put_semester("", SEMESTER)


async def test_a_semester_that_its_courses_do_not_fit(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    async with store.round(session, NOW, fenced=False) as transaction:
        await transaction.timetable.apply(putting(session.schedule, (0, 2, 11)), None)
        await transaction.save(turn(session.state))
    for small in (
        SEMESTER.model_copy(update={"weeks": 3}),
        SEMESTER.model_copy(update={"sections": SEMESTER.sections[:11]}),
    ):
        with pytest.raises(RefusedError) as caught:
            await store.put_semester(USER, small)
        assert (caught.value.code, caught.value.data) == ("semester_too_small", {"weeks": 4, "sections": 12})
    assert await store.read_semester(USER) == SEMESTER


async def test_a_whole_term_in_one_go(store: SqlStore) -> None:
    semester, _, classes = sample_term()
    said = await store.import_term(USER, file_with(MATHS, semester=semester), classes)
    assert (said["courses"], said["task_classes"]) == (1, len(classes))
    before = await rows(store)
    assert await store.import_term(USER, file_with(MATHS, semester=semester), classes) == {
        **said,
        "added": 0,
        "unchanged": 1,
        "details": {"added": [], "changed": [], "absent": []},
    }
    assert await rows(store) == before


async def test_a_term_with_a_bad_class_is_not_stored_at_all(store: SqlStore) -> None:
    with pytest.raises(InputError):
        await store.import_term(USER, TERM, [task_class(), task_class(name="")])
    assert await store.read_semester(USER) is None
    assert await store.task_classes(USER) == ()


async def test_a_class_comes_back_as_it_was_given(store: SqlStore) -> None:
    document = task_class(
        name="  概率论\t复习 ",
        strategy="rapid",
        excluded_slots=[6],
        excluded_days_of_week=[6, 7],
        time_of_day={"evening": 0},
        milestones=[{"what": "期中", "when": "2026-03-10"}],
        tags=["数学"],
        notes="不急",
        items=[{"name": "一", "duration": 3, "priority": 1, "order": 5}, {"name": " 二 ", "order": 2}],
    )
    class_id = await store.put_task_class(USER, document)
    (one,) = await store.task_classes(USER)
    own = {name: value for name, value in document.items() if name not in ("items", "name")}
    assert one.task_class.model_dump(mode="json", exclude_unset=True) == {**own, "id": class_id, "name": "概率论 复习"}
    assert [(item.name, item.order, item.duration, item.priority, item.place) for item in one.items] == [
        ("二", 2, None, None, None),
        ("一", 5, 3, 1, None),
    ]
    assert [one.duration_of(item) for item in one.items] == [3, 3]


async def test_a_class_put_again_keeps_the_ids_of_its_items(store: SqlStore) -> None:
    class_id = await store.put_task_class(
        USER, task_class(items=[{"name": "练习"}, {"name": "练习"}, {"name": "总结"}])
    )

    async def ids() -> list[tuple[int, str]]:
        return [(item.id, item.name) for one in await store.task_classes(USER) for item in one.items]

    (first, _), (second, _), (third, _) = await ids()
    changed = [{"name": "总结"}, {"name": "练习"}, {"name": "新的"}, {"name": "练习", "duration": 1}]
    assert await store.put_task_class(USER, task_class(items=changed)) == class_id
    (a, b, new, d) = await ids()
    assert [a, b, d] == [(third, "总结"), (first, "练习"), (second, "练习")]
    assert new[0] not in (first, second, third)
    renamed = [{"id": first, "name": "换了名字"}, {"id": new[0], "name": "新的"}, {"name": "总结"}]
    assert await store.put_task_class(USER, task_class(id=class_id, name="改名", items=renamed)) == class_id
    assert await ids() == [(first, "换了名字"), (new[0], "新的"), (third, "总结")]
    assert [one.task_class.name for one in await store.task_classes(USER)] == ["改名"]


async def test_an_applied_item_cannot_go(store: SqlStore) -> None:
    session, class_id = await ready(store)
    assert session.schedule is not None
    async with store.round(session, NOW, fenced=False) as transaction:
        rows_written = await transaction.timetable.apply(putting(session.schedule, (1, 3, 1)), None)
        await transaction.save(turn(session.state))
    with pytest.raises(RefusedError) as caught:
        await store.put_task_class(USER, task_class(name="改名", id=class_id, items=[{"name": "第1章"}]))
    assert (caught.value.code, caught.value.data) == (
        "item_applied",
        {"task_item_ids": [rows_written[0]["task_item_id"]]},
    )
    (one,) = await store.task_classes(USER)
    assert (one.task_class.name, len(one.items)) == ("概率论", 3)
    await store.put_task_class(USER, task_class(items=[{"name": "第3章"}, {"name": "第2章"}]))
    (one,) = await store.task_classes(USER)
    assert [(item.name, item.order, item.place) for item in one.items] == [
        ("第3章", 1, None),
        ("第2章", 2, Meeting(1, 3, 1, 2)),
    ]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": 7}, "name"),
        ({"name": "长" * 256}, "name"),
        ({"items": []}, "items"),
        ({"items": "三章"}, "items"),
        ({"items": [{"name": "a", "length": 2}]}, "items.0.length"),
        ({"items": [{"name": "a", "duration": 0}]}, "items.0.duration"),
        ({"items": [{"name": "a", "priority": 5}]}, "items.0.priority"),
        ({"items": [{"name": "a", "order": 1}, {"name": "b"}]}, "items"),
        ({"items": [{"name": "a", "order": 1}, {"name": "b", "order": 1}]}, "items"),
        ({"items": [{"name": "a", "id": 99}]}, "items.0.id"),
        ({"strategy": "slow"}, "strategy"),
        ({"colour": "red"}, "colour"),
        ({"end_date": "2026-01-01"}, "task_class"),
        ({"id": 0}, "id"),
        ({"id": 2**40}, "id"),
    ],
    ids=str,
)
async def test_a_document_that_cannot_be_stored(store: SqlStore, changes: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError) as caught:
        await store.put_task_class(USER, task_class(**changes))
    assert caught.value.code == "invalid_task_class"
    assert path in {fault["path"] for fault in caught.value.data["faults"]}
    assert path in caught.value.message
    assert await store.task_classes(USER) == ()


async def test_an_item_that_is_named_twice(store: SqlStore) -> None:
    await store.put_task_class(USER, task_class())
    (one,) = await store.task_classes(USER)
    twice = [{"id": one.items[0].id, "name": "a"}, {"id": one.items[0].id, "name": "b"}]
    with pytest.raises(InputError, match="twice"):
        await store.put_task_class(USER, task_class(items=twice))


async def test_a_name_that_another_class_has(store: SqlStore) -> None:
    await store.put_task_class(USER, task_class())
    second = await store.put_task_class(USER, task_class(name="报告"))
    with pytest.raises(RefusedError) as caught:
        await store.put_task_class(USER, task_class(id=second))
    assert caught.value.code == "duplicate_task_class"
    with pytest.raises(NotFoundError) as missing:
        await store.put_task_class(USER, task_class(id=99))
    assert missing.value.code == "unknown_task_class"
    with pytest.raises(NotFoundError):
        await store.delete_task_class(USER, 2**70)


async def test_files_and_classes_put_at_once(store: SqlStore) -> None:
    await asyncio.gather(
        *(store.import_courses(USER, TERM) for _ in range(4)),
        *(store.put_task_class(USER, task_class()) for _ in range(4)),
    )
    assert len((await store.read_timetable(USER)).courses) == 2
    assert [len(one.items) for one in await store.task_classes(USER)] == [3]


async def test_a_stored_class_that_cannot_be_read(store: SqlStore) -> None:
    await store.put_task_class(USER, task_class())
    for document in ('{"strategy":"new"}', "{not json"):
        await tamper(store, "UPDATE task_classes SET document = ?", document)
        with pytest.raises(StoreError) as caught:
            await store.task_classes(USER)
        assert caught.value.code == "snapshot_unreadable"


async def test_a_meeting_before_the_first_day_of_term(store: SqlStore) -> None:
    """Week 1 begins on a Monday, the term perhaps later."""
    wednesday = SEMESTER.model_copy(update={"start_date": dt.date(2026, 3, 4)})
    with pytest.raises(InputError) as caught:
        await store.import_courses(USER, file_with(MATHS, semester=wednesday))
    assert caught.value.data["meeting"] == {"week": 1, "day_of_week": 1, "start": 1, "end": 2}
