"""The deeper search: the best batch of up to five moves, put together from edits that share no day.

What such edits add to the cost adds up exactly: the terms of a day depend on that day alone, and the deviation of an
item from where its class wants it on that item alone. Only the order of siblings must be looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from newagent.schedule.judge.board import Board
from newagent.schedule.judge.chains import Chain, Put, find_chains
from newagent.schedule.judge.reach import Reach
from newagent.schedule.judge.scan import Scan
from newagent.schedule.judge.sweeps import find_sweeps

MAX_MOVES = 5
PACKED = 40
"""How many edits are tried for one batch, the best ones."""


def best_batch(scanned: Scan) -> tuple[int, tuple[Put, ...]]:
    """(change of cost, where which pieces shall stand) of the best batch found; nothing is worth 0 and no moves.

    On a state that breaks a rule there is none: what is legal there depends on all moves at once.
    """
    if not scanned.lawful:
        return 0, ()
    board = scanned.board
    reach = Reach(board, MAX_MOVES - 1)
    parts = {chain.puts: chain for chain in _singles(scanned)}
    for chain in (*find_chains(reach, MAX_MOVES, PACKED), *find_sweeps(board, MAX_MOVES)):
        parts[chain.puts] = chain
    delta, packed = _pack(board, sorted(parts.values(), key=lambda chain: chain[:2])[:PACKED])
    return delta, tuple(sorted(put for chain in packed for put in chain.puts))


def _singles(scanned: Scan) -> Iterable[Chain]:
    """The best improving moves and swaps."""
    board = scanned.board
    for delta, piece, day, start in sorted(one for one in scanned.moves if one.delta < 0)[:PACKED]:
        yield Chain(delta, ((piece, day, start),), frozenset((day, board.day[piece])))
    for delta, one, other in sorted(one for one in scanned.swaps if one.delta < 0)[:PACKED]:
        first, second = (one, board.day[other], board.start[other]), (other, board.day[one], board.start[one])
        yield Chain(delta, tuple(sorted((first, second))), frozenset((board.day[one], board.day[other])))


def _pack(board: Board, chains: Sequence[Chain]) -> tuple[int, list[Chain]]:
    """The chains of at most five moves in all that gain the most together.

    They share no day, and no piece of one is a neighbour of another's in the order of their class, so their gains add
    up. `chains` come best first.
    """
    options: list[tuple[Chain, frozenset[int], frozenset[int]]] = []
    for chain in chains:
        pieces = frozenset(piece for piece, *_ in chain.puts)
        near = {side for piece in pieces for side in (board.pieces[piece].previous, board.pieces[piece].next)}
        options.append((chain, pieces, pieces | near))
    best: tuple[int, list[Chain]] = (0, [])

    def extend(
        index: int, delta: int, room: int, chosen: list[Chain], days: frozenset[int], pieces: frozenset[int]
    ) -> None:
        nonlocal best
        if delta < best[0]:
            best = delta, chosen
        for position in range(index, len(options)):
            chain, moved, near = options[position]
            if delta + room * chain.delta >= best[0]:
                break
            if len(moved) <= room and days.isdisjoint(chain.days) and near.isdisjoint(pieces):
                extend(
                    position + 1,
                    delta + chain.delta,
                    room - len(moved),
                    [*chosen, chain],
                    days | chain.days,
                    pieces | moved,
                )

    extend(0, 0, MAX_MOVES, [], frozenset(), frozenset())
    return best
