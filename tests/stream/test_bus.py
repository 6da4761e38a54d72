"""The bus hands events on in order, never waits, and drops a reader that falls behind."""

from __future__ import annotations

import pytest

from newagent.stream.bus import BEHIND, Bus
from newagent.stream.events import Ephemeral


def word(text: str) -> Ephemeral:
    return Ephemeral("assistant_text_delta", "1-text", text)


async def test_readers_of_one_conversation_get_everything_in_order_and_no_other() -> None:
    bus = Bus()
    one, two, other = bus.read("a"), bus.read("a"), bus.read("b")
    await bus.publish("a", [word("1"), word("2")])
    await bus.publish("c", [word("nobody reads this")])
    bus.end("a")
    for reader in (one, two):
        taken = [await reader.take(1) for _ in range(3)]
        assert taken == [word("1"), word("2"), None]
    with pytest.raises(TimeoutError):
        await other.take(0.001)


async def test_who_has_left_is_forgotten() -> None:
    bus = Bus()
    for _ in range(5):
        bus.read("a")
    await bus.publish("a", [word("nobody reads this")])
    reader = bus.read("b")
    assert list(bus._readers) == ["b"]
    assert set(bus._readers["b"]) == {reader}


async def test_a_slow_reader_is_dropped_and_the_rest_are_not() -> None:
    bus = Bus()
    slow = bus.read("a")
    await bus.publish("a", [word(str(n)) for n in range(BEHIND)])
    quick = bus.read("a")
    await bus.publish("a", [word("one too many")])
    assert await quick.take(1) == word("one too many")
    assert slow.dropped
    bus.end("a")
    taken = [await slow.take(1) for _ in range(BEHIND)]
    assert taken[-1] == word(str(BEHIND - 1))
    assert await slow.take(1) is None
