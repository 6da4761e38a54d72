"""The stream of one conversation for one reader: what is stored, then what happens, in order, without gaps."""

from __future__ import annotations

from collections.abc import AsyncIterator

from newagent.errors import RefusedError
from newagent.loop.draft import ACTIVE_PHASES
from newagent.server.backend import Backend
from newagent.stream.bus import Reader
from newagent.stream.events import Ephemeral, Event

HEARTBEAT = 5.0
POLL = 1.0
ENDING = ("finish", "confirm_request", "interrupt")


async def follow(
    backend: Backend, user: str, conversation_id: str, after_seq: int, reader: Reader
) -> AsyncIterator[Event | Ephemeral | None]:
    """Events from after a seq until the run waits for the user or has ended; None every five silent seconds.

    `reader` must have been opened before the run was started, or its first words are missed. What the bus loses or
    mixes up is read from the store; a run that another process owns goes on here once its lease is over.

    Raises `NewAgentError`: service_stopping, reader_too_slow, and what ended the run itself.
    """
    seq, silent, look = after_seq, 0.0, True
    while True:
        if look:
            look = False
            glance = await backend.take_up(user, conversation_id)
            if glance.last_seq > seq:
                for event in await backend.store.events(user, conversation_id, seq):
                    seq = event.seq
                    yield event
            if glance.phase not in ACTIVE_PHASES and not reader.waiting:
                return
        if reader.dropped and not reader.waiting:
            raise RefusedError("reader_too_slow", "the reader was too slow; attach again after the last id")
        if backend.runs.closed and not reader.waiting:
            raise RefusedError("service_stopping", "the service is stopping; attach again after the last id")
        here = backend.runs.running(conversation_id)
        patience = HEARTBEAT if here else min(POLL, HEARTBEAT - silent)
        try:
            happened = await reader.take(patience)
        except TimeoutError:
            silent += patience
            if silent >= HEARTBEAT:
                silent = 0.0
                yield None
            look = True
            continue
        silent = 0.0
        if happened is None:
            if reader.failure is not None:
                raise reader.failure
            look = True
        elif isinstance(happened, Ephemeral):
            yield happened
        elif happened.seq == seq + 1:
            seq = happened.seq
            look = happened.kind in ENDING
            yield happened
        elif happened.seq > seq:
            # Rounds of two writers were published in another order than they were stored, or the bus lost some.
            look = True
        else:
            look = not reader.waiting
