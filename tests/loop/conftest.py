from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from newagent.loop.replay import verify
from tests.loop import bed


@pytest.fixture(autouse=True)
def replayed() -> Iterator[None]:
    """Every conversation of a test of the loop is made again from its journal, and must come out the same."""
    bed.made.clear()
    yield
    for one in bed.made:
        for user, conversation in one.store.sessions:
            recording = asyncio.run(one.store.recording(user, conversation))
            if any("now" not in recorded.entry.body for recorded in recording.rounds):
                continue  # the test has written rounds of its own
            verdict = asyncio.run(verify(recording, one.agent.catalogue))
            assert verdict.ok, verdict.difference
            assert verdict.rounds == len(recording.rounds)
            assert verdict.reworded == ()
