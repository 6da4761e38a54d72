"""Random legal placements: every item somewhere it may stand, and nothing done to make that good."""

from __future__ import annotations

import random

from newagent.schedule.cost import CostModel, span_mask
from newagent.schedule.edits import Edited, Move, place
from newagent.schedule.judge.places import Places, bits_of
from newagent.schedule.model import ScheduleState

Place = tuple[int, int]


def random_placement(state: ScheduleState, rng: random.Random) -> ScheduleState:
    """The state with all pending items placed at random; they must all be two sections long.

    A random matching of items to places, and the items of each class put in order afterwards. Raises ValueError where
    no placement exists.
    """
    options = _options(state)
    owner: dict[Place, int] = {}
    class_of = {task.id: state.class_of(task).id for task in state.pending}
    order = sorted(class_of)
    rng.shuffle(order)
    for task_id in order:
        if not _enter(task_id, class_of, options, owner, set(), rng):
            raise ValueError("no placement exists")
    wishes: list[Move] = []
    for task_class in state.task_classes:
        held = sorted(spot for spot, task_id in owner.items() if class_of[task_id] == task_class.id)
        waiting = [task for task in state.items_of[task_class.id] if task.status == "pending"]
        wishes += [Move(task.id, *spot) for task, spot in zip(waiting, held, strict=True)]
    for wish in wishes:
        outcome = place(state, *wish)
        if not isinstance(outcome, Edited):
            raise TypeError(outcome.message)
        state = outcome.state
    return state


def _options(state: ScheduleState) -> dict[int, list[Place]]:
    model = CostModel(state)
    places = Places(state, model)
    busy = [0] * (model.days + 1)
    for task in state.items:
        for slot in task.slots:
            busy[slot.day] |= span_mask(slot.start, slot.end - slot.start + 1)
    return {
        task_class.id: [
            (day, start)
            for day in range(1, model.days + 1)
            for start in bits_of(places.free_starts(klass, 2, day, busy[day]))
        ]
        for klass, task_class in enumerate(state.task_classes)
    }


def _enter(
    task_id: int,
    class_of: dict[int, int],
    options: dict[int, list[Place]],
    owner: dict[Place, int],
    seen: set[Place],
    rng: random.Random,
) -> bool:
    """Lets an item in, at a free place if there is one, else where another can make room."""
    mine = options[class_of[task_id]]
    free = [spot for spot in mine if spot not in owner]
    if free:
        owner[rng.choice(free)] = task_id
        return True
    for spot in rng.sample(mine, len(mine)):
        if spot not in seen:
            seen.add(spot)
            if _enter(owner[spot], class_of, options, owner, seen, rng):
                owner[spot] = task_id
                return True
    return False
