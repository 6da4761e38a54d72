"""Every content that a day can hold, with the cost of its cheapest layout: the columns of the exact model.

Written from the definition of the cost alone and independent of the layouts that placement uses, so that the benchmark
checks those too. A forward pass over the places of a day keeps, for each prefix, only what later terms depend on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from newagent.schedule import cost as c
from newagent.schedule.cost import CostModel, Entry, span_mask

Content = tuple[int, ...]


class Prefix(NamedTuple):
    """What the rest of a day needs to know of its beginning."""

    content: Content
    last: int
    last_end: int
    run: int
    heavy_run: int
    max_run: int
    max_heavy: int
    switches: int
    mask: int


def contents(
    model: CostModel, courses: int, fixed: Sequence[Entry], starts: Sequence[Sequence[int]], length: int = 2
) -> dict[Content, int]:
    """The least cost of every content (items of each class, all of `length` sections) that fits a day.

    `courses` is the mask of the course sections, `starts[k]` the legal starts of the class with index k.
    """
    empty = (0,) * len(model.classes)
    at: dict[int, list[int]] = {}
    for klass, legal in enumerate(starts):
        for start in legal:
            at.setdefault(start, []).append(klass)
    fixtures = {entry.start: entry for entry in fixed}
    watches_mask = model.wants_buffer or any(span_mask(start, length) & courses for start in at)
    layer: dict[int, dict[Prefix, int]] = {1: {Prefix(empty, -1, 0, 0, 0, 0, 0, 0, 0): 0}}
    for section in range(1, model.sections + 1):
        for prefix, cost in layer.pop(section, {}).items():
            options: list[tuple[Prefix, int, int]] = []
            if section in fixtures:
                entry = fixtures[section]
                options.append((*_after(model, prefix, cost, entry, watches_mask), section + entry.length))
            else:
                options.append((prefix, cost, section + 1))
                for klass in at.get(section, ()):
                    entry = Entry(section, length, klass)
                    if any(section < other.start < section + length for other in fixed):
                        continue
                    reached, price = _after(model, prefix, cost, entry, watches_mask)
                    grown = (*prefix.content[:klass], prefix.content[klass] + 1, *prefix.content[klass + 1 :])
                    options.append((reached._replace(content=grown), price, section + length))
            for reached, price, position in options:
                known = layer.setdefault(position, {})
                if price < known.get(reached, 1 << 40):
                    known[reached] = price
    best: dict[Content, int] = {}
    fixed_mask = sum(span_mask(entry.start, entry.length) for entry in fixed)
    fixed_study = sum(entry.length for entry in fixed)
    for prefix, cost in layer.get(model.sections + 1, {}).items():
        count = sum(prefix.content)
        used = (courses | fixed_mask | prefix.mask).bit_count() + (0 if watches_mask else length * count)
        total = cost + c.W_HEAVY_RUN * max(0, prefix.max_heavy - c.FREE_HEAVY_RUN)
        total += c.W_LONG_BLOCK * max(0, prefix.max_run - model.free_block)
        total += c.W_SWITCHING * max(0, prefix.switches - model.free_switches)
        total += c.W_OVERLOAD * max(0, used - model.free_load)
        if model.daily_cap is not None:
            total += c.W_CAP * max(0, fixed_study + length * count - model.daily_cap)
        free = ~(courses | fixed_mask | prefix.mask) & ((1 << (model.sections + 1)) - 2)
        total += c.W_BUFFER * (model.wants_buffer and not free & (free >> 1))
        if total < best.get(prefix.content, 1 << 40):
            best[prefix.content] = total
    return best


def _after(model: CostModel, prefix: Prefix, cost: int, entry: Entry, watches_mask: bool) -> tuple[Prefix, int]:
    traits = model.classes[entry.klass]
    blocks = (entry.length + 1) // 2
    for section in range(entry.start, entry.start + entry.length, 2):
        period = model.period_of[section]
        cost += c.W_AVOIDED * traits.avoid[period] + c.W_UNPREFERRED * traits.unpreferred[period]
        cost += model.evening_weight * (traits.heavy and period == c.EVENING)
    run, switches = blocks, prefix.switches
    if prefix.last == entry.klass:
        run += prefix.run
    elif prefix.last >= 0:
        switches += 1
        near = entry.start - prefix.last_end < c.HEAVY_REACH
        near = near and model.period_of[entry.start] == model.period_of[prefix.last_end]
        cost += c.W_HEAVY_ADJACENT * (near and traits.heavy and model.classes[prefix.last].heavy)
    heavy_run = prefix.heavy_run + blocks if traits.heavy else 0
    reached = Prefix(
        content=prefix.content,
        last=entry.klass,
        last_end=entry.start + entry.length - 1 if traits.heavy else 0,
        run=run,
        heavy_run=heavy_run,
        max_run=max(prefix.max_run, run),
        max_heavy=max(prefix.max_heavy, heavy_run),
        switches=switches,
        mask=prefix.mask | span_mask(entry.start, entry.length) if watches_mask else 0,
    )
    return reached, cost
