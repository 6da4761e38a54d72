"""Another process on the same database: `racer.py URL WHAT`; it starts when a line comes on its standard input.

answer    consumes the interaction "ask_1" and applies the preview, on the head that it loaded before the line came
die       saves such a round and ends the process before the commit
commit    commits such a round and ends the process at once
"""

from __future__ import annotations

import asyncio
import os
import sys

from newagent.errors import NewAgentError
from newagent.state.documents import Message
from newagent.state.sql.store import SqlStore
from newagent.state.store import Round, Session
from newagent.stream.events import NewEvent
from tests.state.term_bed import NOW, USER


def say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def answering(session: Session) -> Round:
    result = {"ok": True, "process": os.getpid()}
    return Round(
        kind="resume",
        state=session.state,
        messages=(Message(role="user", text="好"),),
        events=(NewEvent("confirm_result", payload={"interaction_id": "ask_1"}),),
        journal={"resume": {"action": "approve"}},
        consumed={"interaction_id": "ask_1", "answer": {"action": "approve"}, "result": result},
    )


async def main(url: str, what: str) -> None:
    store = await SqlStore.open(url)
    session = await store.load(USER, "c1")
    assert session.schedule is not None
    say("ready")
    await asyncio.to_thread(sys.stdin.readline)
    try:
        async with store.round(session, NOW, fenced=False, take_lease=True) as transaction:
            await transaction.timetable.apply(session.schedule, None)
            await transaction.save(answering(session))
            if what == "die":
                os._exit(9)
        if what == "commit":
            os._exit(9)
        say("won")
    except NewAgentError as error:
        say(error.code)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
