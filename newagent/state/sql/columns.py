"""Column types that mean the same on SQLite and on MySQL or MariaDB."""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, String, Text
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeDecorator, TypeEngine

from newagent.errors import StoreError
from newagent.state.canonical import canonical

MYSQL = ("mysql", "mariadb")
TABLE: dict[str, Any] = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"}
ROW = BigInteger().with_variant(Integer(), "sqlite")
"""The number of a row in a table that only grows; SQLite counts up by itself in plain integers only."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class UtcDateTime(TypeDecorator[dt.datetime]):
    """An instant, stored in UTC to the microsecond. A value without a zone is refused."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """MySQL keeps fractions of a second only when told to."""
        return dialect.type_descriptor(mysql.DATETIME(fsp=6) if dialect.name in MYSQL else DateTime())

    def process_bind_param(self, value: dt.datetime | None, dialect: Dialect) -> dt.datetime | None:  # noqa: ARG002
        """To UTC, without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("an instant must have a time zone")
        return value.astimezone(dt.UTC).replace(tzinfo=None)

    def process_result_value(self, value: dt.datetime | None, dialect: Dialect) -> dt.datetime | None:  # noqa: ARG002
        """From UTC, aware."""
        return None if value is None else value.replace(tzinfo=dt.UTC)


class Line(TypeDecorator[str]):
    """Text of a limited length. Halves of surrogate pairs, which cannot be stored, become the replacement character."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Makes the text storable."""
        return None if value is None else _LONE_SURROGATE.sub("\ufffd", value)


class Prose(Line):
    """Text of any length."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """MySQL's plain text ends at 64 KiB."""
        return dialect.type_descriptor(mysql.LONGTEXT() if dialect.name in MYSQL else Text())


class JsonText(Prose):
    """A JSON value as canonical text, so that what is stored is what was hashed."""

    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:  # noqa: ARG002
        """To canonical text."""
        return canonical(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """From text. Raises `StoreError("snapshot_unreadable")` for what is not JSON."""
        try:
            return None if value is None else json.loads(value)
        except ValueError as error:
            raise StoreError("snapshot_unreadable", f"a stored document is not JSON: {error}") from None
