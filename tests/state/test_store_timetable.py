"""The stored timetable: loaded as a state, written from a preview, refused with every conflict."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from newagent.calendars.ics_export import StudyItem, export_ics
from newagent.calendars.model import Course, ImportResult, Meeting
from newagent.errors import NotFoundError, RefusedError
from newagent.schedule.calendar import Semester
from newagent.schedule.model import ScheduleState, TaskClass
from newagent.schedule.rules import state_faults
from newagent.state.sql.facts import Facts, StoredClass, StoredCourse, StoredItem, build_state, days_of, scope_of
from newagent.state.sql.store import SqlStore
from newagent.state.sql.tables import item_slots
from tests.state.term_bed import MATHS, NOW, SEMESTER, SPARE, TERM, USER, putting, ready, task_class, turn


async def load(store: SqlStore, *ids: int, now: dt.datetime = NOW, user: str = USER) -> ScheduleState:
    async with store.trial(user) as timetable:
        return await timetable.load_state(ids or None, now)


async def apply(
    store: SqlStore, schedule: ScheduleState, *ids: int, user: str = USER, keep: bool = True
) -> list[dict[str, Any]]:
    """Applies in a round of a conversation made for it."""
    name = f"c{len(await store.list_conversations(user)) + 100}-{user}"
    session = await store.create_conversation(user, name, NOW)
    async with store.round(session, NOW, fenced=False) as transaction:
        rows = await transaction.timetable.apply(schedule, ids or None)
        if keep:
            await transaction.save(turn(session.state))
    return rows


async def conflicts(store: SqlStore, schedule: ScheduleState) -> list[dict[str, Any]]:
    with pytest.raises(RefusedError) as caught:
        await apply(store, schedule)
    assert caught.value.code == "timetable_conflict"
    return caught.value.data["conflicts"]


async def test_the_state_of_a_window(store: SqlStore) -> None:
    session, class_id = await ready(store)
    state = session.schedule
    assert state is not None
    assert (state.window.days[0].date, state.window.days[-1].date) == (dt.date(2026, 3, 2), dt.date(2026, 3, 15))
    assert (state.window.sections, state.window.periods) == (12, SEMESTER.periods)
    assert state.window.days[7].model_dump() == {
        "day": 8,
        "week": 2,
        "day_of_week": 1,
        "date": dt.date(2026, 3, 9),
        "assumed": False,
    }
    spare, maths = state.courses
    assert (maths.id, maths.name, maths.location, maths.can_embed, maths.locked) == (2, "高等数学", "A301", False, True)
    assert [(s.day, s.start, s.end) for s in maths.slots] == [(1, 1, 2), (8, 1, 2)]
    assert (spare.id, spare.name, spare.can_embed) == (1, "思政", True)
    assert [(s.day, s.start, s.end) for s in spare.slots] == [(2, 1, 4), (2, 5, 6)]
    assert [(item.id, item.name, item.order, item.duration, item.status) for item in state.items] == [
        (3, "第1章", 1, 2, "pending"),
        (4, "第2章", 2, 2, "pending"),
        (5, "第3章", 3, 2, "pending"),
    ]
    assert [one.id for one in state.task_classes] == [class_id]
    assert state.task_classes[0].subject_type == "quantitative"
    assert len({item.source_id for item in state.items}) == 3


async def test_the_window_begins_today_in_the_zone_of_the_semester(store: SqlStore) -> None:
    await ready(store)
    before_midnight = dt.datetime(2026, 3, 4, 15, 59, tzinfo=dt.UTC)
    assert (await load(store, now=before_midnight)).window.days[0].date == dt.date(2026, 3, 4)
    after_midnight = dt.datetime(2026, 3, 4, 16, 0, tzinfo=dt.UTC)
    late = await load(store, now=after_midnight)
    assert late.window.days[0].model_dump(include={"day", "week", "day_of_week", "date"}) == {
        "day": 1,
        "week": 1,
        "day_of_week": 4,
        "date": dt.date(2026, 3, 5),
    }
    assert [course.name for course in late.courses] == ["高等数学"], "a course that does not meet in the window is out"


async def test_classes_in_scope(store: SqlStore) -> None:
    _, first = await ready(store)
    late = {"start_date": "2026-03-16", "end_date": "2026-03-20"}
    second = await store.put_task_class(USER, task_class(name="报告", total_slots=None, **late))
    third = await store.put_task_class(USER, task_class(name="阅读", start_date=None, end_date=None))
    both = await load(store, second, first)
    assert both.window.days[-1].date == dt.date(2026, 3, 20)
    assert [one.id for one in both.task_classes] == [first, second]
    assert {item.duration for item in both.items_of[second]} == {2}
    everything = await load(store)
    assert everything.window.days[-1].date == SEMESTER.end_date
    assert [one.id for one in everything.task_classes] == [first, second, third]
    only = await load(store, second)
    assert (only.window.days[0].date, len(only.window.days)) == (dt.date(2026, 3, 16), 5)
    left = await load(store, now=NOW + dt.timedelta(days=14))
    assert [one.id for one in left.task_classes] == [second, third], "a class that has ended is no longer planned"


async def test_what_cannot_be_loaded(store: SqlStore) -> None:
    async def code(*ids: int, now: dt.datetime = NOW) -> str:
        with pytest.raises(RefusedError) as caught:
            await load(store, *ids, now=now)
        return caught.value.code

    assert await code() == "no_semester"
    await store.put_semester(USER, SEMESTER)
    assert await code() == "no_task_class"
    class_id = await store.put_task_class(USER, task_class())
    assert await code(class_id, 99) == "unknown_task_class"
    assert await code(now=NOW + dt.timedelta(days=40)) == "outside_semester"
    assert await code(class_id, now=NOW + dt.timedelta(days=14)) == "outside_semester"
    early = await store.put_task_class(USER, task_class(name="早", start_date="2026-01-01", end_date="2026-01-02"))
    assert await code(early, now=NOW - dt.timedelta(days=200)) == "outside_semester"
    other = await store.put_task_class("other", task_class())
    with pytest.raises(NotFoundError) as caught:
        await load(store, class_id, other)
    assert caught.value.data == {"task_class_ids": [other]}


async def test_applied_items_are_facts(store: SqlStore) -> None:
    session, class_id = await ready(store)
    assert session.schedule is not None
    preview = putting(session.schedule, (0, 1, 5), (1, 8, 3))
    rows = await apply(store, preview)
    ids = [item.source_id for item in preview.items]
    assert rows == [
        {
            "task_item_id": ids[0],
            "task_class_id": class_id,
            "name": "第1章",
            "week": 1,
            "day_of_week": 1,
            "date": "2026-03-02",
            "start": 5,
            "end": 6,
        },
        {
            "task_item_id": ids[1],
            "task_class_id": class_id,
            "name": "第2章",
            "week": 2,
            "day_of_week": 1,
            "date": "2026-03-09",
            "start": 3,
            "end": 4,
        },
    ]
    again = await load(store)
    assert [(item.status, item.slot and item.slot.day) for item in again.items] == [
        ("existing", 1),
        ("existing", 8),
        ("pending", None),
    ]
    assert [item.id for item in again.items] == [item.id for item in preview.items]
    tomorrow = await load(store, now=NOW + dt.timedelta(days=1))
    assert [item.name for item in tomorrow.items] == ["第2章", "第3章"], "what was applied before the window is done"
    assert [item.duration for item in tomorrow.items] == [2, 2]
    other = await store.put_task_class(USER, task_class(name="报告"))
    beside = await load(store, other)
    assert [(item.task_class_id, item.status) for item in beside.items if item.task_class_id == class_id] == [
        (class_id, "existing"),
        (class_id, "existing"),
    ], "applied items of other classes take their places"


async def test_an_item_inside_a_course(store: SqlStore) -> None:
    await ready(store)
    class_id = await store.put_task_class(USER, task_class(name="背单词", allow_filler_course=True))
    preview = putting(await load(store, class_id), (0, 2, 1), (1, 2, 3), (2, 2, 5))
    await apply(store, preview)
    again = await load(store, class_id)
    host = next(course.id for course in again.courses if course.can_embed)
    assert [item.embed_host for item in again.items] == [host] * 3


async def test_only_the_named_classes_are_written(store: SqlStore) -> None:
    _, first = await ready(store)
    second = await store.put_task_class(USER, task_class(name="报告"))
    preview = putting(await load(store), (0, 2, 7), (3, 3, 1))
    assert [row["task_class_id"] for row in await apply(store, preview, second)] == [second]
    state = await load(store)
    assert {one: [item.status for item in state.items_of[one]] for one in (first, second)} == {
        first: ["pending"] * 3,
        second: ["existing", "pending", "pending"],
    }
    assert await apply(store, state, keep=False) == [], "an empty preview writes nothing"


async def test_a_preview_is_applied_once(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    preview = putting(session.schedule, (0, 2, 7), (1, 3, 1))
    await apply(store, preview)
    found = await conflicts(store, preview)
    assert [(one["code"], one["name"], one["date"], one["start"], one["end"]) for one in found] == [
        ("already_applied", "第1章", "2026-03-03", 7, 8),
        ("already_applied", "第2章", "2026-03-04", 1, 2),
    ]
    moved = putting(session.schedule, (0, 4, 1))
    assert [one["code"] for one in await conflicts(store, moved)] == ["already_applied"]
    assert len((await store.read_timetable(USER)).study) == 2


async def test_every_conflict_is_listed_and_nothing_is_written(store: SqlStore) -> None:
    session, class_id = await ready(store)
    assert session.schedule is not None
    second = await store.put_task_class(
        USER, task_class(name="报告", total_slots=None, items=[{"name": "初稿"}, {"name": "定稿"}])
    )
    third = await store.put_task_class(USER, task_class(name="阅读", total_slots=None, items=[{"name": "第一本"}]))
    preview = putting(await load(store), (0, 2, 7), (1, 3, 1), (2, 4, 1), (3, 5, 1), (4, 5, 5), (5, 6, 1))
    new = Course("体育", "操场", (Meeting(1, 2, 7, 8),))
    await store.import_courses(USER, ImportResult(SEMESTER, (*TERM.courses, new)))
    stored = (await store.task_classes(USER))[0]
    chapters = [{"id": item.id, "name": item.name} for item in stored.items]
    chapters[2]["duration"] = 3
    await store.put_task_class(USER, task_class(id=class_id, excluded_days_of_week=[3], items=chapters))
    await store.put_task_class(USER, task_class(name="报告", total_slots=None, items=[{"name": "定稿"}]))
    await store.delete_task_class(USER, third)
    found = await conflicts(store, preview)
    assert sorted((one["code"], one["name"]) for one in found) == [
        ("conflict", "第1章"),
        ("duration_mismatch", "第3章"),
        ("excluded", "第2章"),
        ("unknown_task", "初稿"),
        ("unknown_task", "第一本"),
    ]
    assert all({"message", "task_id", "task_item_id", "date", "start", "end"} <= set(one) for one in found)
    assert (await store.read_timetable(USER)).study == ()
    assert second in {row["task_class_id"] for row in await apply(store, putting(await load(store, second), (0, 5, 5)))}


async def test_two_previews_on_one_place(store: SqlStore) -> None:
    session, first = await ready(store)
    second = await store.put_task_class(USER, task_class(name="报告"))
    one, other = await load(store, first), await load(store, second)
    await apply(store, putting(one, (0, 2, 7)))
    assert [fault["code"] for fault in await conflicts(store, putting(other, (0, 2, 7), (1, 2, 9)))] == ["conflict"]
    assert session.schedule is not None


async def test_the_order_of_a_class_is_kept_against_what_was_applied(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    late_first = putting(session.schedule, (0, 5, 1))
    early_second = putting(session.schedule, (1, 3, 1))
    await apply(store, late_first)
    assert [fault["code"] for fault in await conflicts(store, early_second)] == ["order_violation"]


async def test_a_semester_that_moved_away(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    preview = putting(session.schedule, (0, 2, 7), (1, 10, 7))
    await store.put_semester(USER, Semester(start_date=dt.date(2026, 3, 9), weeks=4))
    assert [(one["code"], one["name"]) for one in await conflicts(store, preview)] == [("outside_semester", "第1章")]
    await store.put_semester(USER, Semester(start_date=dt.date(2026, 9, 7), weeks=4))
    assert [one["code"] for one in await conflicts(store, preview)] == ["outside_semester"] * 2
    await store.put_semester(USER, SEMESTER)
    assert len(await apply(store, preview)) == 2


async def test_an_item_applied_in_another_semester_is_done(store: SqlStore) -> None:
    session, class_id = await ready(store)
    assert session.schedule is not None
    await apply(store, putting(session.schedule, (0, 2, 7)))
    await store.put_semester(USER, Semester(start_date=dt.date(2026, 2, 23), weeks=8))
    state = await load(store, class_id)
    assert [item.name for item in state.items] == ["第2章", "第3章"]
    assert (await store.read_timetable(USER)).study == ()
    assert [one["code"] for one in await conflicts(store, putting(session.schedule, (0, 2, 7)))] == ["already_applied"]


async def test_the_keys_stand_where_the_lock_does_not(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    preview = putting(session.schedule, (0, 2, 7))
    await apply(store, preview)
    monkeypatch.setattr("newagent.state.sql.timetable.conflicts_of", lambda *_: [])
    assert [one["code"] for one in await conflicts(store, preview)] == ["conflict"]
    elsewhere = putting(session.schedule, (0, 4, 1))
    assert [one["code"] for one in await conflicts(store, elsewhere)] == ["conflict"]
    assert len((await store.read_timetable(USER)).study) == 1


async def test_a_trial_is_taken_back(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    async with store.trial(USER) as timetable:
        assert len(await timetable.apply(putting(session.schedule, (0, 2, 7)), None)) == 1
        inside = await timetable.load_state(None, NOW)
    assert inside.items[0].status == "existing"
    assert (await load(store)).items[0].status == "pending"


async def test_everything_belongs_to_one_user(store: SqlStore) -> None:
    session, class_id = await ready(store)
    assert session.schedule is not None
    preview = putting(session.schedule, (0, 2, 7))
    await ready(store, "c2", "other")
    with pytest.raises(RefusedError) as caught:
        await apply(store, preview, user="other")
    assert [one["code"] for one in caught.value.data["conflicts"]] == ["unknown_task"]
    await apply(store, preview)
    assert (await load(store, user="other")).items[0].status == "pending"
    for call in (store.delete_task_class("other", class_id), store.put_task_class("other", task_class(id=class_id))):
        with pytest.raises(NotFoundError):
            await call
    assert [one.task_class.id for one in await store.task_classes(USER)] == [class_id]
    assert await store.read_semester("nobody") is None
    assert await store.task_classes("nobody") == ()


async def test_the_timetable_as_an_export_takes_it(store: SqlStore) -> None:
    session, _ = await ready(store)
    assert session.schedule is not None
    ids = [item.source_id for item in session.schedule.items]
    await apply(store, putting(session.schedule, (0, 2, 7), (1, 8, 3)))
    stored = await store.read_timetable(USER)
    assert stored.semester == SEMESTER
    assert stored.courses == tuple(sorted((MATHS, SPARE), key=lambda course: course.name))
    assert stored.study == (
        StudyItem(f"task_item-{ids[0]}", "第1章", "概率论", 1, 2, 7, 8),
        StudyItem(f"task_item-{ids[1]}", "第2章", "概率论", 2, 1, 3, 4),
    )
    assert export_ics(stored.semester, stored.courses, stored.study).count(b"BEGIN:VEVENT") == 4 + 3 + 2
    with pytest.raises(RefusedError, match="no semester"):
        await store.read_timetable("nobody")


async def test_a_row_of_the_timetable_needs_its_item(store: SqlStore) -> None:
    """Foreign keys are on: no row of the timetable outlives what it belongs to."""
    session, class_id = await ready(store)
    assert session.schedule is not None
    await apply(store, putting(session.schedule, (0, 2, 7)))
    await store.delete_task_class(USER, class_id)
    async with store._database.read() as connection:
        assert (await connection.execute(item_slots.select())).all() == []
    values = {"semester_id": 1, "user_id": USER, "week": 1, "day_of_week": 1, "section": 1, "task_item_id": 99}

    async def orphan() -> None:
        async with store._database.write() as connection:
            await connection.execute(insert(item_slots).values(**values, part=1))

    with pytest.raises(Exception, match="FOREIGN KEY"):
        await orphan()


def meetings() -> st.SearchStrategy[tuple[Meeting, ...]]:
    one = st.builds(
        lambda week, day, start, length: Meeting(week, day, start, min(12, start + length)),
        st.integers(1, 4),
        st.integers(1, 7),
        st.integers(1, 12),
        st.integers(0, 3),
    )
    return st.lists(one, max_size=5, unique_by=lambda m: (m.week, m.day_of_week)).map(lambda held: tuple(sorted(held)))


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    start = draw(st.dates(dt.date(2026, 1, 1), dt.date(2026, 2, 28)))
    semester = Semester(start_date=start, weeks=4)
    courses = tuple(
        StoredCourse(n, f"course {n}", "", draw(st.booleans()), draw(meetings()))
        for n in range(1, draw(st.integers(1, 4)))
    )
    taken: set[tuple[int, int]] = set()
    classes: list[StoredClass] = []
    row = 0
    for class_id in range(1, draw(st.integers(2, 4))):
        first = start + dt.timedelta(days=draw(st.integers(-5, 25)))
        items: list[StoredItem] = []
        for order in range(1, draw(st.integers(1, 5)) + 1):
            row += 1
            place = draw(st.none() | st.builds(lambda w, d: Meeting(w, d, 1, 2), st.integers(1, 4), st.integers(1, 7)))
            if place and (place.week, place.day_of_week) in taken:
                place = None
            if place:
                taken.add((place.week, place.day_of_week))
            semester_id = draw(st.sampled_from([1, 1, 2])) if place else None
            items.append(
                StoredItem(row, f"item {row}", order, draw(st.none() | st.integers(1, 3)), None, semester_id, place)
            )
        one = TaskClass(id=class_id, name=f"{class_id}", start_date=first, end_date=first + dt.timedelta(days=9))
        classes.append(StoredClass(one, tuple(items)))
    return Facts(1, semester, courses, tuple(classes))


@settings(max_examples=60, deadline=None)
@given(facts(), st.dates(dt.date(2025, 12, 20), dt.date(2026, 4, 1)), st.booleans())
def test_any_facts_make_a_whole_state_or_a_refusal(stored: Facts, today: dt.date, everything: bool) -> None:
    ids = None if everything else (stored.classes[0].task_class.id,)
    planned = [one.task_class for one in (stored.classes if everything else stored.classes[:1])]
    planned = [one for one in planned if not everything or (one.end_date or today) >= today]
    days = [stored.semester.start_date + dt.timedelta(days=n) for n in range(28)]
    starts, ends = [one.start_date or today for one in planned], [one.end_date or today for one in planned]
    if not any(stored.semester.holds(d) and today <= d and min(starts) <= d <= max(ends) for d in days if planned):
        with pytest.raises(RefusedError, match=r"have ended|no day left"):
            days_of(stored, scope_of(stored, ids, today), today)
        return
    scope = scope_of(stored, ids, today)
    dates = days_of(stored, scope, today)
    assert dates[0] >= today
    assert all(stored.semester.holds(date) for date in dates)
    chosen = {one.task_class.id for one in scope}
    state = build_state(stored, dates, chosen)
    assert ScheduleState.load(state.dump()) == state
    assert state_faults(state) == []
    assert [task.id for task in state.tasks] == list(range(1, len(state.tasks) + 1))
    pending = {task.source_id for task in state.items if task.status == "pending"}
    assert pending == {
        item.id for one in stored.classes if one.task_class.id in chosen for item in one.items if item.place is None
    }
    for task in state.items:
        if task.slot is not None:
            day = state.window.days[task.slot.day - 1]
            item = next(i for one in stored.classes for i in one.items if i.id == task.source_id)
            assert item.semester_id == 1
            assert item.place == Meeting(day.week, day.day_of_week, task.slot.start, task.slot.end)
