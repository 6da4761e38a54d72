"""The database: opening it, its transactions, and its failures in our words.

SQLite runs in WAL mode with foreign keys on. A transaction that will write begins with the write lock (BEGIN
IMMEDIATE), so that two processes wait for each other instead of failing halfway; writers of one process queue in
front of it, since SQLite's own waiting is polling. On other databases a writer locks the rows that it decides on and
reads what is committed; a reader sees one snapshot (their default).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from typing import Any

from sqlalchemy import URL, Connection, event, exc, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from newagent.errors import StoreError
from newagent.state.sql import migrate
from newagent.state.sql.transaction import Transaction, finished

BUSY_MILLISECONDS = 15_000
_FORMS = "sqlite+aiosqlite:///FILE or mysql+aiomysql://USER:PASSWORD@HOST/NAME?charset=utf8mb4"
_WRITES = "newagent_writes"

# Beginnings of SQLite's error names, with our code and what it means for a person.
_FAILURES = (
    ("SQLITE_CANTOPEN", "database_unwritable", "cannot open the database file {where}"),
    ("SQLITE_READONLY", "database_unwritable", "the database file {where} cannot be written"),
    ("SQLITE_PERM", "database_unwritable", "the database file {where} may not be opened"),
    ("SQLITE_NOTADB", "not_a_database", "{where} is not a database file"),
    ("SQLITE_CORRUPT", "database_corrupt", "the database file {where} is damaged"),
    ("SQLITE_BUSY", "database_busy", "the database {where} is in use by another process"),
    ("SQLITE_FULL", "database_full", "there is no room left for the database {where}"),
)


class Database:
    """An open database. `read` and `write` are its two kinds of transaction."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._queue: AbstractAsyncContextManager[Any] = nullcontext()
        self._writes: dict[str, Any] = {"isolation_level": "READ COMMITTED"}
        if is_sqlite(engine.url):
            self._queue, self._writes = asyncio.Lock(), {_WRITES: True}

    @classmethod
    async def open(cls, url: str, *, upgrade: bool = False) -> Database:
        """Opens a database. An SQLite file is made if there is none and brought up to date; others with `upgrade`.

        Raises `StoreError`: invalid_database_url, database_unwritable, not_a_database, database_corrupt,
        foreign_database, schema_too_new, schema_too_old, and those of failures at run time.
        """
        engine = _engine(url)
        database = cls(engine)
        try:
            await database._prepare(upgrade or is_sqlite(engine.url))
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Closes all connections."""
        await self._engine.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[Transaction]:
        """A transaction that sees one state of the database and writes nothing."""
        async with self._transaction({}) as connection:
            yield Transaction(connection)

    @asynccontextmanager
    async def write(self, *, keep: bool = True) -> AsyncGenerator[Transaction]:
        """A transaction that holds what it reads; committed at the end, or rolled back in any case without `keep`."""
        async with self._queue, self._transaction(self._writes) as connection:
            yield Transaction(connection)
            if keep:
                await finished(connection.commit())

    @asynccontextmanager
    async def _transaction(self, options: dict[str, Any]) -> AsyncGenerator[AsyncConnection]:
        """A connection in a transaction, which is rolled back at the end unless it was committed."""
        held = AsyncExitStack()

        async def begin() -> AsyncConnection:
            connection = await held.enter_async_context(self._engine.connect())
            await connection.execution_options(**options)
            await connection.begin()
            return connection

        with translated(self._engine.url):
            try:
                yield await finished(begin())
            finally:
                await finished(held.aclose())

    async def revision(self) -> str:
        """The revision of the schema."""
        async with self.read() as connection:
            return await connection.run_sync(migrate.revision_of) or ""

    async def _prepare(self, upgrade: bool) -> None:
        async with self.read() as connection:
            wanted = await connection.run_sync(migrate.missing)
        if not wanted:
            return
        if not upgrade:
            raise StoreError("schema_too_old", "the schema of the database is older: run `newagent db upgrade`")
        async with self.write() as connection:
            await connection.run_sync(migrate.upgrade)


def is_sqlite(url: URL) -> bool:
    """Whether an address names an SQLite file."""
    return url.get_backend_name() == "sqlite"


@contextmanager
def translated(url: URL) -> Generator[None]:
    """Turns failures of the database into `StoreError` with a stable code."""
    try:
        yield
    except (exc.DBAPIError, exc.TimeoutError) as error:
        raise _store_error(url, error.orig if isinstance(error, exc.DBAPIError) else error) from error


def _store_error(url: URL, cause: BaseException | None) -> StoreError:
    where = url.database if is_sqlite(url) else url.render_as_string(hide_password=True)
    name = str(getattr(cause, "sqlite_errorname", ""))
    for beginning, code, words in _FAILURES:
        if name.startswith(beginning):
            return StoreError(code, words.format(where=where))
    return StoreError("database_failed", f"the database {where} failed: {cause}")


def _engine(url: str) -> AsyncEngine:
    try:
        address = make_url(url)
        if address.get_backend_name() not in ("sqlite", "mysql", "mariadb"):
            raise StoreError("invalid_database_url", f"{address.get_backend_name()} is not supported; give {_FORMS}")
        if is_sqlite(address) and address.database in (None, "", ":memory:"):
            raise StoreError("invalid_database_url", f"the database needs a file; give {_FORMS}")
        engine = create_async_engine(address)
    except (
        exc.ArgumentError,
        exc.NoSuchModuleError,
        exc.InvalidRequestError,
        ModuleNotFoundError,
        ValueError,
    ) as error:
        raise StoreError(
            "invalid_database_url", f"the database address cannot be used: {error}; give {_FORMS}"
        ) from None
    if is_sqlite(address):
        _touch_sqlite(engine)
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _touch_sqlite(engine: AsyncEngine) -> None:
    """Opens the file once without aiosqlite, whose thread outlives a failed opening and complains on its own."""
    arguments, options = engine.dialect.create_connect_args(engine.url)
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    try:
        connect(*arguments, **options).close()
    except sqlite3.Error as error:
        raise _store_error(engine.url, error) from error


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None
    try:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.close()
    except BaseException:
        connection.close()  # the pool does not know of it yet
        raise


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
