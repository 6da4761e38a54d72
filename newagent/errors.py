"""Errors that cross a package border.

    NewAgentError            every error of ours: a stable `code`, a message for a person, `data`
    ├── InputError           the caller gave something malformed: a file, an option, a document
    ├── RefusedError         well-formed, but not allowed or not possible now
    │   └── NotFoundError    the thing named does not exist for this user
    ├── StoreError           the database or cache failed; the caller may retry
    │   └── StaleHeadError   another writer was first; reload and decide again
    └── ModelError           the language model's side failed

Refusals of an edit are not errors but values: see `newagent.schedule.rules.Violation`.
"""

from __future__ import annotations

from typing import Any


class NewAgentError(Exception):
    """Base of all errors of this package.

    `code` is stable and documented; `message` is one line for a person; `data` is JSON-ready detail.
    """

    def __init__(self, code: str, message: str, **data: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class InputError(NewAgentError):
    """Malformed input: exit code 1 for a document's content, 2 for wrong usage of a command."""


class RefusedError(NewAgentError):
    """A well-formed request that the rules or the present state do not allow."""


class NotFoundError(RefusedError):
    """The thing does not exist, or belongs to someone else: the two are never told apart."""


class StoreError(NewAgentError):
    """Storage failed; nothing was changed."""


class StaleHeadError(StoreError):
    """The conversation's head moved between reading and writing; nothing was written."""


class ModelError(NewAgentError):
    """The model endpoint failed, timed out, or answered something that cannot be used."""
