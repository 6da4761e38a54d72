"""The days of a problem: which share a shape, and what a content costs on each of them.

Days with the same courses and fixed items differ mostly in which classes may stand on them at all, since classes begin
and end on different dates. Where the classes that two days have in common start alike, the two share a shape: costs are
found once for both, and a class that a day does not admit is refused before.
"""

from __future__ import annotations

from collections.abc import Sequence

from newagent.schedule.cost import Entry
from newagent.schedule.placement.arrange import IMPOSSIBLE
from newagent.schedule.placement.hands import FIELD, MASK, Hands, held
from newagent.schedule.placement.problem import Problem, fixed_entries
from newagent.schedule.placement.shape import Layout, Shape, Starts


class _Draft:
    """A shape in the making: starts are filled in by the days that share it."""

    def __init__(self, courses: int, fixed: tuple[Entry, ...], starts: Starts) -> None:
        self.courses, self.fixed, self.starts = courses, fixed, starts

    def takes(self, starts: Starts) -> bool:
        """Whether a day with the same courses and fixed items, and these starts, may share the shape; if so, does."""
        pairs = list(zip(self.starts, starts, strict=True))
        if any(any(one.values()) and any(other.values()) and one != other for one, other in pairs):
            return False
        self.starts = tuple(one if any(one.values()) else other for one, other in pairs)
        return True


class Days:
    """What each content costs on each day.

    `classes[k]` is the class index of the k-th class with free items. `kind_of[d]` numbers the kinds of days, those
    that share shape and admitted classes; `known[kind]` holds the costs that were asked for.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.classes = tuple(problem.of_class)
        self.hands = [Hands(problem, klass) for klass in self.classes]
        self.kind_of = [-1]
        self.known: list[dict[int, int]] = []
        self._kinds: list[tuple[Shape, int]] = []
        self._entries = fixed_entries(problem)
        drafts: dict[tuple[int, tuple[Entry, ...]], list[_Draft]] = {}
        drawn: list[tuple[_Draft, int]] = []
        for day in range(1, problem.days + 1):
            starts = tuple(
                {length: problem.class_starts(klass, length)[day] for length in hands.durations}
                for klass, hands in zip(self.classes, self.hands, strict=True)
            )
            courses, fixed = problem.model.course_mask[day], tuple(sorted(self._entries[day]))
            alike = drafts.setdefault((courses, fixed), [])
            draft = next((draft for draft in alike if draft.takes(starts)), None)
            if draft is None:
                draft = _Draft(courses, fixed, starts)
                alike.append(draft)
            closed = sum(MASK << (FIELD * k) for k, by_length in enumerate(starts) if not any(by_length.values()))
            drawn.append((draft, closed))
        self._build(drawn)

    def _build(self, drawn: Sequence[tuple[_Draft, int]]) -> None:
        problem = self.problem
        off_grid = any(map(problem.home_start, problem.items))
        shapes: dict[int, Shape] = {}
        number: dict[tuple[int, int], int] = {}
        for draft, closed in drawn:
            shape = shapes.get(id(draft))
            if shape is None:
                shape = shapes[id(draft)] = Shape(
                    problem.model, self.classes, self.hands, draft.courses, draft.fixed, draft.starts, off_grid
                )
            if off_grid:
                closed = 0
            key = (id(draft), closed)
            if key not in number:
                number[key] = len(self._kinds)
                self._kinds.append((shape, closed))
                self.known.append({})
            self.kind_of.append(number[key])
        self.shapes = tuple(shapes.values())

    @property
    def spent(self) -> int:
        """Arrangements looked into so far."""
        return sum(shape.spent for shape in self.shapes)

    def cost(self, kind: int, content: int) -> int:
        """The least cost of a content on a day of a kind; `IMPOSSIBLE` if it cannot be laid out."""
        found = self.known[kind].get(content)
        if found is None:
            shape, closed = self._kinds[kind]
            found = self.known[kind][content] = IMPOSSIBLE if content & closed else shape.cost(content)
        return found

    def layout(self, day: int, content: int) -> Layout:
        """A layout of that cost."""
        return self._kinds[self.kind_of[day]][0].layout(content)

    def seed(self, day: int, content: int, layout: Layout) -> None:
        """Tells of a layout that is known to be legal, so that an intricate day is never taken for impossible."""
        cards = {k: list(self.hands[k].cards(number)) for k, number in held(content)}
        entries = list(self._entries[day])
        for k, start in layout:
            entries.append(Entry(start, cards[k].pop(0).duration, self.classes[k]))
        kind = self.kind_of[day]
        shape = self._kinds[kind][0]
        shape.seed(content, layout, self.problem.model.day_cost(day, sorted(entries)))
        self.known[kind][content] = shape.cost(content)
