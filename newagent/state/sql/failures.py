"""Failures of the database in our words: each kind has a stable code, on every database the same."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, exc

from newagent.errors import StoreError
from newagent.state.sql.transaction import UnansweredError

UNAVAILABLE = "database_unavailable"
BUSY = "database_busy"
DEADLOCK = "database_deadlock"
CONFLICT = "database_conflict"

_WORDS = {
    "database_unwritable": "the database {where} cannot be opened or written",
    "not_a_database": "{where} is not a database file",
    "database_corrupt": "the database {where} is damaged",
    BUSY: "the database {where} is busy: another writer did not finish in time",
    "database_full": "there is no room left for the database {where}",
    "database_denied": "the database {where} does not let this user in, or does not exist",
    DEADLOCK: "two writers stood in each other's way in the database {where}; this one was taken back",
    CONFLICT: "another writer was first in the database {where}",
    UNAVAILABLE: "the database {where} cannot be reached",
}
# Beginnings of SQLite's error names.
_SQLITE = {
    "SQLITE_CANTOPEN": "database_unwritable",
    "SQLITE_READONLY": "database_unwritable",
    "SQLITE_PERM": "database_unwritable",
    "SQLITE_NOTADB": "not_a_database",
    "SQLITE_CORRUPT": "database_corrupt",
    "SQLITE_BUSY": BUSY,
    "SQLITE_FULL": "database_full",
}
# Error numbers of MySQL and MariaDB: those of the server from 1000, those of the client from 2000.
_MYSQL = {
    0: UNAVAILABLE,  # used after it was lost
    3: "database_full",
    1021: "database_full",
    1036: "database_unwritable",
    1040: UNAVAILABLE,  # too many connections
    1044: "database_denied",
    1045: "database_denied",
    1049: "database_denied",
    1053: UNAVAILABLE,  # shutdown in progress
    1114: "database_full",
    1142: "database_denied",
    1152: UNAVAILABLE,
    1158: UNAVAILABLE,
    1159: UNAVAILABLE,
    1160: UNAVAILABLE,
    1161: UNAVAILABLE,
    1184: UNAVAILABLE,
    1205: BUSY,
    1213: DEADLOCK,
    1290: "database_unwritable",  # read-only server
    1317: UNAVAILABLE,  # the statement was ended by a shutdown
    1836: "database_unwritable",
    1927: UNAVAILABLE,  # connection killed
    2002: UNAVAILABLE,
    2003: UNAVAILABLE,
    2005: UNAVAILABLE,
    2006: UNAVAILABLE,
    2013: UNAVAILABLE,
    2014: UNAVAILABLE,
    2055: UNAVAILABLE,
    4031: UNAVAILABLE,  # idle for too long
}


@contextmanager
def translated(url: URL) -> Generator[None]:
    """Turns failures of the database into `StoreError` with a stable code."""
    try:
        yield
    except exc.TimeoutError as error:  # all connections are taken
        raise _error(url, BUSY, error) from error
    except UnansweredError as error:
        words = f"the database {_where(url)} did not answer within {error.seconds:g} seconds"
        raise StoreError(UNAVAILABLE, words) from error
    except exc.IntegrityError as error:
        raise _error(url, CONFLICT, error.orig) from error
    except exc.DBAPIError as error:
        raise store_error(url, error.orig) from error


def store_error(url: URL, cause: BaseException | None) -> StoreError:
    """What a failure of the driver means."""
    name = str(getattr(cause, "sqlite_errorname", ""))
    for beginning, code in _SQLITE.items():
        if name.startswith(beginning):
            return _error(url, code, cause)
    number: Any = cause.args[0] if cause is not None and cause.args else None
    if url.get_backend_name() != "sqlite" and number in _MYSQL:
        return _error(url, _MYSQL[number], cause)
    return StoreError("database_failed", f"the database {_where(url)} failed: {cause}")


def _error(url: URL, code: str, cause: BaseException | None) -> StoreError:
    return StoreError(code, f"{_WORDS[code].format(where=_where(url))}: {cause}")


def _where(url: URL) -> str:
    return str(url.database) if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)
