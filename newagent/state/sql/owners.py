"""Whose a thing is: what a user id may be."""

from __future__ import annotations

from newagent.errors import InputError
from newagent.state.sql.tables import USER_LENGTH


def check_user(user_id: str) -> None:
    """Raises `InputError("invalid_user_id")` for an id that cannot be stored whole."""
    if not 0 < len(user_id) <= USER_LENGTH:
        raise InputError("invalid_user_id", f"a user id has 1 to {USER_LENGTH} characters")
