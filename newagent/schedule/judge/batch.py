"""The deeper search: the best batch of up to five moves that it finds within a counted budget.

A *chain* is a run of edits, each of which touches a day or a neighbour of the ones before; only such edits can be
worth more together than apart. Chains are grown from the most promising first edits, bad ones included, and edits
that do not touch are then packed together: their gains add up exactly when they share no day.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from newagent.schedule.judge.board import Board
from newagent.schedule.judge.scan import Scan

MAX_MOVES = 5
BUDGET = 160
"""Looks at the surroundings of a chain, in all; counted, so that the answer does not depend on the machine."""
SEEDS_PER_PIECE = 2
BRANCHING = (4, 2, 1)
PACKED = 40

Target = tuple[int, int]


class Step(NamedTuple):
    """A legal edit on a board: what it adds to the cost, and where it puts which pieces."""

    delta: int
    puts: tuple[tuple[int, int, int], ...]


class Chain(NamedTuple):
    """Pieces and where they shall stand, the days that this touches, and what it adds to the cost."""

    delta: int
    targets: tuple[tuple[int, Target], ...]
    days: frozenset[int]


def best_batch(scanned: Scan, budget: int = BUDGET) -> tuple[int, list[tuple[int, int, int]]]:
    """(change of cost, moves as (piece, day, start)) of the best batch found; nothing is worth 0 and no moves.

    On a state that breaks a rule there is none: what is legal there depends on all moves at once. The board is used to try things on and is left as it was.
    """
    board = scanned.board
    if not scanned.lawful:
        return 0, []
    singles = _steps(board, scanned.moves, scanned.swaps)
    grower = _Grower(board, budget)
    for step in singles:
        if step.delta < 0:
            grower.keep(_chain(board, step))
    for step in _seeds(singles):
        if grower.budget <= 0:
            break
        grower.grow(step)
    delta, packed = _pack(board, grower.best())
    return delta, [(piece, day, start) for chain in packed for piece, (day, start) in chain.targets]


def _steps(
    board: Board, moves: Iterable[tuple[int, int, int, int]], swaps: Iterable[tuple[int, int, int]]
) -> list[Step]:
    steps = [Step(delta, ((piece, day, start),)) for delta, piece, day, start in moves]
    for delta, one, other in swaps:
        first, second = (one, board.day[other], board.start[other]), (other, board.day[one], board.start[one])
        steps.append(Step(delta, (first, second)))
    steps.sort()
    return steps


def _seeds(steps: Sequence[Step]) -> Iterable[Step]:
    """The most promising edits, at most a few for each piece, so that no piece takes all the budget."""
    used: dict[int, int] = {}
    for step in steps:
        piece = step.puts[0][0]
        if used.get(piece, 0) < SEEDS_PER_PIECE:
            used[piece] = used.get(piece, 0) + 1
            yield step


def _chain(board: Board, step: Step) -> Chain:
    days = frozenset(day for piece, day, _ in step.puts for day in (day, board.day[piece]))
    return Chain(step.delta, tuple((piece, (day, start)) for piece, day, start in step.puts), days)


class _Grower:
    """Grows chains on a board and remembers the improving ones, the best for each set of pieces."""

    def __init__(self, board: Board, budget: int) -> None:
        self.board = board
        self.budget = budget
        self._kept: dict[frozenset[int], Chain] = {}

    def keep(self, chain: Chain) -> None:
        """Remembers an improving chain if no better one moves the same pieces."""
        pieces = frozenset(piece for piece, _ in chain.targets)
        known = self._kept.get(pieces)
        if known is None or chain[:2] < known[:2]:
            self._kept[pieces] = chain

    def best(self) -> list[Chain]:
        """The kept chains, best gain first."""
        return sorted(self._kept.values(), key=lambda chain: chain[:2])

    def grow(self, seed: Step) -> None:
        """Tries what follows well on a first edit."""
        self._follow(seed, 0, {}, frozenset(), 0)

    def _follow(self, step: Step, so_far: int, origins: dict[int, Target], days: frozenset[int], depth: int) -> None:
        board = self.board
        back = [(piece, board.day[piece], board.start[piece]) for piece, _, _ in step.puts]
        origins = {**{piece: (day, start) for piece, day, start in back}, **origins}
        days = days.union(*((day, home) for (_, day, _), (_, home, _) in zip(step.puts, back, strict=True)))
        total = so_far + step.delta
        for piece, day, start in step.puts:
            board.put(piece, day, start)
        if depth and total < 0:
            targets = tuple(
                sorted(
                    (piece, (board.day[piece], board.start[piece]))
                    for piece, origin in origins.items()
                    if (board.day[piece], board.start[piece]) != origin
                )
            )
            self.keep(Chain(total, targets, days))
        if depth < len(BRANCHING) and len(origins) < MAX_MOVES and self.budget > 0:
            self.budget -= 1
            for following in self._near(origins, days)[: BRANCHING[depth]]:
                if self.budget > 0 or total + following.delta < 0:
                    self._follow(following, total, origins, days, depth + 1)
        for piece, day, start in back:
            board.put(piece, day, start)

    def _near(self, origins: dict[int, Target], days: frozenset[int]) -> list[Step]:
        """The edits that touch a chain, best first: on its days, or of the neighbours of its pieces in their order."""
        board = self.board
        pieces = {side for piece in origins for side in (board.pieces[piece].previous, board.pieces[piece].next)}
        steps = _steps(board, board.moves_near(days, pieces), board.swaps(days))
        room = MAX_MOVES - len(origins)
        found: list[Step] = []
        for step in steps:
            if all((day, start) == origins.get(piece) for piece, day, start in step.puts):
                continue
            if sum(piece not in origins for piece, _, _ in step.puts) <= room:
                found.append(step)
                if len(found) == BRANCHING[0]:
                    break
        return found


def _pack(board: Board, chains: Sequence[Chain]) -> tuple[int, list[Chain]]:
    """The chains that share no day and whose pieces are no neighbours, of at most five moves, that gain the most."""
    options: list[tuple[Chain, frozenset[int]]] = []
    for chain in chains[:PACKED]:
        near: set[int] = set()
        for piece, _ in chain.targets:
            near |= {piece, board.pieces[piece].previous, board.pieces[piece].next}
        options.append((chain, frozenset(near - {-1})))
    best: tuple[int, list[Chain]] = (0, [])

    def extend(
        index: int, delta: int, room: int, chosen: list[Chain], days: frozenset[int], pieces: frozenset[int]
    ) -> None:
        nonlocal best
        if delta < best[0]:
            best = delta, chosen
        for position in range(index, len(options)):
            chain, near = options[position]
            if delta + room * chain.delta >= best[0]:
                break
            if len(chain.targets) <= room and days.isdisjoint(chain.days) and near.isdisjoint(pieces):
                moved = frozenset(piece for piece, _ in chain.targets)
                extend(
                    position + 1,
                    delta + chain.delta,
                    room - len(chain.targets),
                    [*chosen, chain],
                    days | chain.days,
                    pieces | moved,
                )

    extend(0, 0, MAX_MOVES, [], frozenset(), frozenset())
    return best
