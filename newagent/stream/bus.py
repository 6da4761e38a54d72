"""The bus of one process: hands the events of a conversation to whoever reads it here."""

from __future__ import annotations

import asyncio
from weakref import WeakSet

from newagent.errors import NewAgentError
from newagent.stream.events import Ephemeral, Event

BEHIND = 2000


class Reader:
    """One reader of a conversation. A reader that falls `BEHIND` events behind is dropped: it is told no more."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Event | Ephemeral | None] = asyncio.Queue(BEHIND)
        self.dropped = False
        self.failure: NewAgentError | None = None

    @property
    def waiting(self) -> bool:
        """Whether something is there to be taken."""
        return not self._waiting.empty()

    def offer(self, event: Event | Ephemeral | None) -> None:
        """Hands an event over without waiting; None is the end."""
        if not self.dropped:
            try:
                self._waiting.put_nowait(event)
            except asyncio.QueueFull:
                self.dropped = True

    async def take(self, seconds: float) -> Event | Ephemeral | None:
        """The next event in the order of publishing; None when there will be no more. Raises TimeoutError."""
        if self.dropped and self._waiting.empty():
            return None
        async with asyncio.timeout(seconds):
            return await self._waiting.get()


class Bus:
    """A `Publisher` for the readers in this process. Publishing never waits; a forgotten reader is no reader."""

    def __init__(self) -> None:
        self._readers: dict[str, WeakSet[Reader]] = {}

    async def publish(self, conversation_id: str, events: list[Event | Ephemeral]) -> None:
        """See `Publisher.publish`."""
        for reader in self._readers.get(conversation_id, ()):
            for event in events:
                reader.offer(event)

    def read(self, conversation_id: str) -> Reader:
        """A reader of everything that is published from now on, for as long as it is held."""
        self._readers = {name: readers for name, readers in self._readers.items() if readers}
        reader = Reader()
        self._readers.setdefault(conversation_id, WeakSet()).add(reader)
        return reader

    def end(self, conversation_id: str, failure: NewAgentError | None = None) -> None:
        """Tells the readers of a conversation that its run here is over, and with which failure if with one."""
        for reader in self._readers.get(conversation_id, ()):
            reader.failure = failure
            reader.offer(None)
