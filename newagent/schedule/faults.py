"""The one exception of the package: a document that is no timetable state."""

from __future__ import annotations


class StateFault(ValueError):  # noqa: N818 - a fault of the document, not of the program
    """A state document that cannot be loaded.

    `code` is `invalid_state` or `snapshot_too_new`; `faults` lists each fault with its path in the document.
    """

    def __init__(self, code: str, message: str, faults: list[str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.faults = faults or [message]
