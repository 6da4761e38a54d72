"""The database: opening it, and its two kinds of transaction.

SQLite runs in WAL mode with foreign keys on. A transaction that will write begins with the write lock (BEGIN
IMMEDIATE), so that two processes wait for each other instead of failing halfway; writers of one process queue in
front of it, since SQLite's own waiting is polling.

On MySQL and MariaDB a writer locks the rows that it decides on (FOR UPDATE) and reads what is committed: it must see
what the writer before it did, and a snapshot would hide it. A reader sees one snapshot. Whatever the server does, or
stops doing, a statement ends: after `LOCK_SECONDS` it has waited for another writer for too long, after
`ANSWER_SECONDS` the server is gone.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, event, exc, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from newagent.errors import StoreError
from newagent.state.sql import migrate
from newagent.state.sql.failures import CONFLICT, DEADLOCK, store_error, translated
from newagent.state.sql.transaction import Transaction, finished

T = TypeVar("T")
RETRIES = 5
BUSY_MILLISECONDS = 15_000
LOCK_SECONDS = 15
CONNECT_SECONDS = 5
ANSWER_SECONDS = 30.0
_FORMS = "sqlite+aiosqlite:///FILE or mysql+aiomysql://USER:PASSWORD@HOST/NAME"
_WRITES = "newagent_writes"
IDLE_SECONDS = 60
# Strict: a value that does not fit is refused, never cut. A server that cannot hear its client any more gives up what
# that client held after `IDLE_SECONDS`; connections in the pool are renewed before.
_SESSION = (
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
    f"innodb_lock_wait_timeout = {LOCK_SECONDS}, wait_timeout = {IDLE_SECONDS}"
)


class Database:
    """An open database. `read` and `write` are its two kinds of transaction."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        one_writer = is_sqlite(engine.url)
        self._queue: AbstractAsyncContextManager[Any] = asyncio.Lock() if one_writer else nullcontext()
        # A statement on a local file ends by itself; to leave it halfway would keep the one write lock.
        self._patience = None if one_writer else ANSWER_SECONDS

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
        async with self._transaction(writes=False) as transaction:
            yield transaction

    @asynccontextmanager
    async def write(self, *, keep: bool = True) -> AsyncGenerator[Transaction]:
        """A transaction that holds what it reads; committed at the end, or rolled back in any case without `keep`."""
        async with self._queue, self._transaction(writes=True) as transaction:
            yield transaction
            if keep:
                await transaction.commit()

    async def written(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """What some work gives in a transaction that writes; done again where another writer stood in its way."""
        for _ in range(RETRIES):
            try:
                async with self.write() as connection:
                    return await work(connection)
            except StoreError as error:
                if error.code not in (DEADLOCK, CONFLICT):
                    raise
        async with self.write() as connection:
            return await work(connection)

    @asynccontextmanager
    async def _transaction(self, *, writes: bool) -> AsyncGenerator[Transaction]:
        """An open transaction, which is rolled back at the end unless it was committed."""
        opened: list[AsyncConnection] = []

        async def close() -> None:
            while opened:
                await opened.pop().close()

        async def begin() -> AsyncConnection:
            for attempt in (1, 2):
                connection = await self._engine.connect()
                opened.append(connection)
                try:
                    await connection.execution_options(**{_WRITES: writes})
                    await connection.begin()
                except exc.DBAPIError as error:
                    # A connection from before the server was restarted; it took all of its kind with it.
                    await close()
                    if attempt == 2 or not error.connection_invalidated:
                        raise
                else:
                    break
            return opened[0]

        with translated(self._engine.url):
            try:
                yield Transaction(await finished(begin(), self._patience), self._patience)
            finally:
                await finished(close(), self._patience)

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


def _engine(url: str) -> AsyncEngine:
    try:
        address = make_url(url)
        if address.get_backend_name() not in ("sqlite", "mysql", "mariadb"):
            raise StoreError("invalid_database_url", f"{address.get_backend_name()} is not supported; give {_FORMS}")
        if is_sqlite(address) and address.database in (None, "", ":memory:"):
            raise StoreError("invalid_database_url", f"the database needs a file; give {_FORMS}")
        engine = create_async_engine(address) if is_sqlite(address) else _mysql(address)
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


def _mysql(address: URL) -> AsyncEngine:
    engine = create_async_engine(
        address.update_query_dict({"charset": "utf8mb4"}),
        connect_args={"connect_timeout": CONNECT_SECONDS, "init_command": _SESSION},
        pool_size=10,
        max_overflow=20,
        pool_recycle=IDLE_SECONDS // 2,
        pool_reset_on_return=None,  # every transaction is ended by the one who began it
    )
    event.listen(engine.sync_engine, "begin", _begin_mysql)
    return engine


def _touch_sqlite(engine: AsyncEngine) -> None:
    """Opens the file once without aiosqlite, whose thread outlives a failed opening and complains on its own."""
    arguments, options = engine.dialect.create_connect_args(engine.url)
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    try:
        connect(*arguments, **options).close()
    except sqlite3.Error as error:
        raise store_error(engine.url, error) from error


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


def _begin_mysql(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql(
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
        if writes
        else "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
    )
