"""Task classes and their items, written whole: read from a document, checked, and matched with what is stored."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError
from sqlalchemy import delete, exc, insert, select, update

from newagent.calendars.model import clean
from newagent.errors import InputError, NotFoundError, RefusedError
from newagent.schedule.calendar import MAX_SECTIONS
from newagent.schedule.model import Frozen, TaskClass
from newagent.state.sql.keys import MAX_ROW, check_user, new_id, sought
from newagent.state.sql.reading import semester_in_force
from newagent.state.sql.tables import ITEM_LENGTH, NAME_LENGTH, item_slots, task_classes, task_items
from newagent.state.sql.transaction import Transaction

MAX_ITEMS = 1000


def _cleaned(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


Name = Annotated[str, BeforeValidator(_cleaned)]


class ItemDocument(Frozen):
    """An item as it is given. `order` is given for all items of a class or for none: then they stand in order."""

    id: int | None = None
    name: Annotated[Name, Field(min_length=1, max_length=ITEM_LENGTH)]
    order: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    duration: Annotated[int, Field(ge=1, le=MAX_SECTIONS)] | None = None
    priority: Annotated[int, Field(ge=1, le=4)] | None = None


class ClassDocument(Frozen):
    """What a task class document holds besides the fields of `TaskClass`."""

    id: Annotated[int, Field(ge=1, le=MAX_ROW)] | None = None
    name: Annotated[Name, Field(min_length=1, max_length=NAME_LENGTH)]
    items: Annotated[tuple[ItemDocument, ...], Field(min_length=1, max_length=MAX_ITEMS)]


async def put(connection: Transaction, user_id: str, document: dict[str, Any]) -> int:
    """Writes a task class with its items; returns its id.

    `document` has the fields of `newagent.schedule.model.TaskClass` and `items` in order: {name, duration in
    sections, priority, order, id}. A class with this `id`, else of this name, is replaced; its items keep their ids
    where the document names the id, or has an item of the same name (the first such for the first, and so on).

    Raises `InputError("invalid_task_class")` with `faults` [{path, message}], `NotFoundError("unknown_task_class")`,
    and `RefusedError`: duplicate_task_class for a name that another class has, item_applied for an item that is in
    the timetable and would go.
    """
    check_user(user_id)
    given, task_class = read_document(document)
    await semester_in_force(connection, user_id, hold=True)  # what is being applied must not change
    class_id = await _stored_id(connection, user_id, given)
    values = {"name": given.name, "document": task_class.model_dump(mode="json", exclude_unset=True)}
    if class_id is None:
        class_id = new_id(await connection.execute(insert(task_classes).values(user_id=user_id, **values)))
    else:
        try:
            await connection.execute(update(task_classes).where(task_classes.c.id == class_id).values(**values))
        except exc.IntegrityError:
            raise RefusedError("duplicate_task_class", f"there is a task class 「{given.name}」 already") from None
    await _put_items(connection, class_id, given.items)
    return class_id


async def remove(connection: Transaction, user_id: str, class_id: int) -> None:
    """Deletes a class with its items, also those in the timetable. Raises `NotFoundError("unknown_task_class")`."""
    await semester_in_force(connection, user_id, hold=True)
    gone = await connection.execute(
        delete(task_classes).where(task_classes.c.id == sought(class_id), task_classes.c.user_id == user_id)
    )
    if gone.rowcount != 1:
        raise _unknown(class_id)


def read_document(document: dict[str, Any]) -> tuple[ClassDocument, TaskClass]:
    """Checks a document; the second value has the class's own fields, without id, name and items.

    Raises `InputError("invalid_task_class")`.
    """
    faults: list[dict[str, str]] = []
    given: ClassDocument | None = None
    own = {name: value for name, value in document.items() if name not in ("id", "name", "items")}
    task_class: TaskClass | None = None
    names = {name: document[name] for name in ("id", "name", "items") if name in document}
    try:
        given = ClassDocument.model_validate(names)
        faults += _order_faults(given.items)
    except ValidationError as error:
        faults += _faults(error)
    try:
        task_class = TaskClass.model_validate({**own, "id": 0, "name": ""})
    except ValidationError as error:
        faults += _faults(error)
    if faults or given is None or task_class is None:
        words = "; ".join(f"{fault['path']}: {fault['message']}" for fault in faults[:5])
        raise InputError("invalid_task_class", f"the task class cannot be stored: {words}", faults=faults)
    ordered = tuple(item.evolve(order=item.order or position) for position, item in enumerate(given.items, 1))
    return given.evolve(items=ordered), task_class


def _order_faults(items: tuple[ItemDocument, ...]) -> list[dict[str, str]]:
    orders = [item.order for item in items if item.order is not None]
    if orders and len(orders) != len(items):
        return [{"path": "items", "message": "order is given for all items or for none"}]
    if len(set(orders)) != len(orders):
        return [{"path": "items", "message": "two items have the same order"}]
    return []


def _faults(error: ValidationError) -> list[dict[str, str]]:
    return [
        {"path": ".".join(map(str, fault["loc"])) or "task_class", "message": fault["msg"]} for fault in error.errors()
    ]


async def _stored_id(connection: Transaction, user_id: str, given: ClassDocument) -> int | None:
    query = select(task_classes.c.id).where(task_classes.c.user_id == user_id)
    query = query.where(task_classes.c.name == given.name if given.id is None else task_classes.c.id == given.id)
    class_id = (await connection.execute(query.with_for_update())).scalar()
    if class_id is None and given.id is not None:
        raise _unknown(given.id)
    return class_id


async def _put_items(connection: Transaction, class_id: int, items: tuple[ItemDocument, ...]) -> None:
    query = select(task_items.c.id, task_items.c.name).where(task_items.c.task_class_id == class_id)
    stored = (await connection.execute(query.order_by(task_items.c.item_order))).all()
    kept = _matched({row.id: row.name for row in stored}, items)
    await _drop(connection, {row.id: row.name for row in stored if row.id not in kept.values()})
    if kept:  # out of the way of the new orders, which are positive and unique
        aside = update(task_items).where(task_items.c.task_class_id == class_id)
        await connection.execute(aside.values(item_order=-task_items.c.item_order))
    fresh: list[dict[str, Any]] = []
    for index, item in enumerate(items):
        values = {"item_order": item.order, "name": item.name, "duration": item.duration, "priority": item.priority}
        if index in kept:
            await connection.execute(update(task_items).where(task_items.c.id == kept[index]).values(**values))
        else:
            fresh.append({"task_class_id": class_id, **values})
    if fresh:
        await connection.execute(insert(task_items), fresh)


def _matched(stored: dict[int, str], items: tuple[ItemDocument, ...]) -> dict[int, int]:
    """The stored id of each item (by index) that stays."""
    kept: dict[int, int] = {}
    for index, item in enumerate(items):
        if item.id is None:
            continue
        if item.id not in stored or item.id in kept.values():
            fault = {"path": f"items.{index}.id", "message": f"the class has no item {item.id}, or it is named twice"}
            raise InputError("invalid_task_class", f"{fault['path']}: {fault['message']}", faults=[fault])
        kept[index] = item.id
    free: dict[str, list[int]] = defaultdict(list)
    for item_id, name in stored.items():
        if item_id not in kept.values():
            free[name].append(item_id)
    for index, item in enumerate(items):
        if index not in kept and free[item.name]:
            kept[index] = free[item.name].pop(0)
    return kept


async def _drop(connection: Transaction, gone: dict[int, str]) -> None:
    if not gone:
        return
    placed = select(item_slots.c.task_item_id).where(item_slots.c.task_item_id.in_(gone)).distinct()
    applied = sorted((await connection.execute(placed)).scalars())
    if applied:
        names = "、".join(gone[item_id] for item_id in applied)
        raise RefusedError("item_applied", f"in the timetable already and cannot go: {names}", task_item_ids=applied)
    await connection.execute(delete(task_items).where(task_items.c.id.in_(gone)))


def _unknown(class_id: int) -> NotFoundError:
    return NotFoundError("unknown_task_class", f"there is no task class {class_id}", task_class_ids=[class_id])
