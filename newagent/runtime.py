"""Everything a run takes from the outside world besides the user and the model: the clock and fresh ids.

One injected object, so that a replay can hand back exactly what was drawn the first time.
"""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Protocol


class Runtime(Protocol):
    """The clock and the source of ids."""

    def now(self) -> dt.datetime:
        """The current instant, aware, in UTC."""
        ...

    def new_id(self, prefix: str) -> str:
        """A fresh unique id that starts with `prefix` and an underscore."""
        ...


class SystemRuntime:
    """The real clock and random ids."""

    def now(self) -> dt.datetime:
        """See `Runtime.now`."""
        return dt.datetime.now(dt.UTC)

    def new_id(self, prefix: str) -> str:
        """See `Runtime.new_id`."""
        return f"{prefix}_{uuid.uuid4().hex}"


class RecordingRuntime:
    """Wraps a runtime and remembers what one round drew, for its journal row."""

    def __init__(self, inner: Runtime) -> None:
        self._inner = inner
        self.drawn: list[str] = []

    def now(self) -> dt.datetime:
        """See `Runtime.now`."""
        value = self._inner.now()
        self.drawn.append(value.isoformat())
        return value

    def new_id(self, prefix: str) -> str:
        """See `Runtime.new_id`."""
        value = self._inner.new_id(prefix)
        self.drawn.append(value)
        return value


class ShiftedRuntime(SystemRuntime):
    """The real clock moved so that it starts at a given instant; ids are real."""

    def __init__(self, start: dt.datetime) -> None:
        self._shift = start - super().now()

    def now(self) -> dt.datetime:
        """See `Runtime.now`."""
        return super().now() + self._shift
