"""Ends a process before every single statement of a round, and before its commit: `kill_matrix.py URL`.

Each round runs in a forked child. After each, one line of JSON says what the database holds:
[how the child ended, version, applied items, whether the interaction is consumed, journal rows that verify].
The last line is of the child that was left alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from sqlalchemy import event

from newagent.state.sql.store import SqlStore
from tests.state.racer import answering
from tests.state.term_bed import NOW, USER

KILLED, LEFT_ALONE = 9, 0


async def round_killed_before(url: str, number: int) -> None:
    store = await SqlStore.open(url)
    session = await store.load(USER, "c1")
    assert session.schedule is not None
    seen = 0

    def step(*_: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            os._exit(KILLED)

    engine = store._database._engine.sync_engine
    async with store.round(session, NOW, fenced=False, take_lease=True) as transaction:
        event.listen(engine, "before_cursor_execute", step)
        event.listen(engine, "commit", step)
        await transaction.timetable.apply(session.schedule, None)
        await transaction.save(answering(session))
    await store.close()


async def found(url: str) -> list[Any]:
    store = await SqlStore.open(url)
    version = (await store.load(USER, "c1")).version
    study = len((await store.read_timetable(USER)).study)
    consumed = await store.consumed(USER, "c1", "ask_1") is not None
    verified = await store.verify_journal(USER, "c1")
    await store.close()
    return [version, study, consumed, verified]


def main(url: str) -> None:
    ended, number = KILLED, 0
    while ended == KILLED:
        number += 1
        child = os.fork()
        if child == 0:
            asyncio.run(round_killed_before(url, number))
            os._exit(LEFT_ALONE)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(json.dumps([ended, *asyncio.run(found(url))]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
