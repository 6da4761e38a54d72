"""What identifies a thing: the ids of users, which come from outside, and of rows, which the database gives."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CursorResult

from newagent.errors import InputError
from newagent.state.sql.tables import USER_LENGTH

MAX_ROW = 2**31 - 1


def check_user(user_id: str) -> None:
    """Raises `InputError("invalid_user_id")` for an id that cannot be stored whole."""
    if not 0 < len(user_id) <= USER_LENGTH:
        raise InputError("invalid_user_id", f"a user id has 1 to {USER_LENGTH} characters")


def sought(number: int) -> int:
    """A number from outside to look for; one that no column holds becomes one that no row has."""
    return number if abs(number) <= MAX_ROW else -1


def new_id(inserted: CursorResult[Any]) -> int:
    """The id that the database gave to the one row that was inserted."""
    key = inserted.inserted_primary_key
    assert key is not None
    return key[0]
