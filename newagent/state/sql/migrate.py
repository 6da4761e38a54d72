"""The schema's revision: which one a database has, whether this program knows it, and the way up to the newest."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from newagent.errors import StoreError

HEAD = "0002"
"""The newest revision in `migrations/versions`; kept here so that opening an up-to-date file loads no Alembic."""

MIGRATIONS = Path(__file__).parent / "migrations"
WAIT_SECONDS = 300
_VERSION_TABLE = "alembic_version"


def revision_of(connection: Connection) -> str | None:
    """The revision of a database, None for an empty one. Raises `StoreError("foreign_database")`."""
    tables = inspect(connection).get_table_names()
    if _VERSION_TABLE in tables:
        revision = connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()  # noqa: S608
        return None if revision is None else str(revision)
    if tables:
        raise StoreError("foreign_database", f"the database belongs to another program: it has the table {tables[0]}")
    return None


def missing(connection: Connection) -> bool:
    """Whether a database lacks revisions that this program has.

    Raises `StoreError("schema_too_new")` for a revision that this program does not know.
    """
    revision = revision_of(connection)
    if revision == HEAD:
        return False
    if revision is not None and not (MIGRATIONS / "versions" / f"r{revision}.py").exists():
        raise StoreError(
            "schema_too_new",
            f"the database has schema {revision}; this version of newagent knows up to {HEAD}",
            revision=revision,
        )
    return True


def upgrade(connection: Connection) -> None:
    """Runs the missing migrations on `connection`; of several processes one does, and the others wait for it.

    On SQLite all of it is one transaction. MySQL commits each change of a table by itself.
    """
    from alembic import command
    from alembic.config import Config

    with _alone(connection):
        if not missing(connection):  # another process was first
            return
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


@contextmanager
def _alone(connection: Connection) -> Generator[None]:
    """On a server no lock of a transaction survives a change of a table; on SQLite the transaction is the lock."""
    if connection.dialect.name == "sqlite":
        yield
        return
    name = "CONCAT('newagent.', MD5(DATABASE()))"
    connection.execute(text(f"SELECT GET_LOCK({name}, {WAIT_SECONDS})"))
    try:
        yield
    finally:
        connection.execute(text(f"SELECT RELEASE_LOCK({name})"))
