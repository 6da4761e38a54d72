"""`spread_even`: the items go to the emptier days, so that the sum of the squared study sections is least.

Where the items are all of one length, of one or two sections, their places do not overlap, and placing them is a flow
from items over places to days whose costs are convex: each item in turn, with others making room for it along an
augmenting path, goes to the emptiest day that can be reached so, and the result is the least. Items of a class are
interchangeable in their ranges, so putting them in order afterwards changes no day.

For other and mixed lengths a search by branch and bound does it, with a counted budget; it ends with the least, with a
sum that is proved to be within 2 % of it, or with `undecided`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from newagent.schedule.compound.branches import search
from newagent.schedule.compound.polish import polished
from newagent.schedule.compound.work import Worker, workers
from newagent.schedule.cost import CostModel, span_mask
from newagent.schedule.edits import Edited, Move, batch_move
from newagent.schedule.judge.board import LINE
from newagent.schedule.judge.places import Places, bits_of
from newagent.schedule.model import Actor, ScheduleState, Slot
from newagent.schedule.rules import Violation

Place = tuple[int, int]


def everywhere(_: Slot) -> bool:
    """The filter that leaves every place."""
    return True


def spread_even(
    state: ScheduleState,
    task_ids: Sequence[int],
    admits: Callable[[Slot], bool] = everywhere,
    actor: Actor = "agent",
) -> Edited | Violation:
    """The state with the items spread over the places that `admits` leaves, all of them or none.

    `infeasible` where the items do not fit there, `undecided` where the budget does not suffice; the caller's state
    stands.
    """
    items = workers(state, task_ids, actor)
    if isinstance(items, Violation):
        return items
    options = _options(state if actor == "agent" else state.evolve(protections=()), items, admits)
    loads = _loads(state, items)
    lengths = {item.task.sections for item in items}
    found = _flow(items, options, loads) if lengths in ({1}, {2}) else search(items, options, loads)
    if isinstance(found, str):
        return Violation(found, REASONS[found], tuple(task_ids))
    now: list[Place] = [(item.slot.day, item.slot.start) for item in items]
    stays = all(place in allowed for place, allowed in zip(now, options, strict=True))
    if stays and _squares(items, now, loads) == _squares(items, found, loads):
        found = now
    moves = [Move(item.task.id, *place) for item, place, old in zip(items, found, now, strict=True) if place != old]
    outcome = batch_move(state, moves, actor) if moves else Edited(state, ())
    if isinstance(outcome, Violation):
        return outcome
    return polished(state, outcome.state, {item.task.id for item in items}, admits, actor)


REASONS = {
    "infeasible": "the tasks do not all fit into the places that the filters leave",
    "undecided": "too many ways to spread tasks of these lengths; name fewer",
}


def _options(state: ScheduleState, items: Sequence[Worker], admits: Callable[[Slot], bool]) -> list[list[Place]]:
    """The places of each item in order of time: the starts of placement, inside the range of its order."""
    model = CostModel(state)
    places = Places(state, model)
    moving = {item.task.id for item in items}
    busy = [0] * (model.days + 1)
    for task in state.items:
        if task.slot is not None and task.id not in moving:
            busy[task.slot.day] |= span_mask(task.slot.start, task.slot.end - task.slot.start + 1)
    by_kind: dict[tuple[int, int], list[Place]] = {}
    options: list[list[Place]] = []
    for item in items:
        length = item.task.sections
        kind = item.klass, length
        if kind not in by_kind:
            by_kind[kind] = [
                (day, start)
                for day in range(1, model.days + 1)
                for start in bits_of(places.free_starts(item.klass, length, day, busy[day]))
                if admits(Slot(day=day, start=start, end=start + length - 1))
            ]
        options.append(
            [
                (day, start)
                for day, start in by_kind[kind]
                if item.after < day * LINE + start and day * LINE + start + length - 1 < item.before
            ]
        )
    return options


def _loads(state: ScheduleState, items: Sequence[Worker]) -> list[int]:
    """The study sections of each day that the items leave out of account."""
    moving = {item.task.id for item in items}
    loads = [0] * (len(state.window.days) + 1)
    for task in state.items:
        if task.slot is not None and task.id not in moving:
            loads[task.slot.day] += task.slot.end - task.slot.start + 1
    return loads


def _squares(items: Sequence[Worker], places: Sequence[Place], loads: Sequence[int]) -> int:
    """The sum of the squared study sections with the items at these places."""
    after = list(loads)
    for item, (day, _) in zip(items, places, strict=True):
        after[day] += item.task.sections
    return sum(load * load for load in after)


def _flow(items: Sequence[Worker], options: list[list[Place]], loads: list[int]) -> list[Place] | str:
    """The places of items of one length, each in turn by the augmenting path to the emptiest day."""
    loads, length = list(loads), items[0].task.sections
    owner: dict[Place, int] = {}
    place_of: list[Place | None] = [None] * len(items)
    for item in range(len(items)):
        before: dict[Place, Place | None] = dict.fromkeys(options[item])
        queue = list(before)
        opened: set[int] = set()
        for place in queue:
            holder = owner.get(place)
            if holder is None and place[0] not in opened:
                # Taking a free place lets any item leave the same day: its load stays what it was.
                opened.add(place[0])
                reached = [(held, place) for held in sorted(owner) if held[0] == place[0] and held not in before]
            else:
                reached = (
                    [(other, place) for other in options[holder] if other not in before] if holder is not None else []
                )
            for other, source in reached:
                before[other] = source
                queue.append(other)
        free = [place for place in before if place not in owner]
        if not free:
            return "infeasible"
        end = min(free, key=lambda place: (loads[place[0]], place))
        loads[end[0]] += length
        path: list[Place] = [end]
        while (source := before[path[-1]]) is not None:
            path.append(source)
        _augment(item, path[::-1], owner, place_of)
    return _in_order(items, [place for place in place_of if place is not None])


def _augment(item: int, path: list[Place], owner: dict[Place, int], place_of: list[Place | None]) -> None:
    """Lets an item in at the start of a path; each that is pushed out takes the next place."""
    coming: int | None = item
    for place in path:
        holder = owner.get(place)
        if coming is None:
            # The path came here from a free place of the same day, which the one before has taken.
            coming = holder
            del owner[place]
            continue
        owner[place], place_of[coming] = coming, place
        coming = holder


def _in_order(items: Sequence[Worker], places: list[Place]) -> list[Place]:
    """The same places with the items of each class in order of time."""
    by_class: dict[int, list[Place]] = {}
    for item, place in zip(items, places, strict=True):
        by_class.setdefault(item.klass, []).append(place)
    left = {klass: iter(sorted(held)) for klass, held in by_class.items()}
    return [next(left[item.klass]) for item in items]
