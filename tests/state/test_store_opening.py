"""Opening an SQLite file: made, upgraded, or refused with a clear code."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Table, create_engine, text
from sqlalchemy.dialects import mysql
from sqlalchemy.schema import CreateTable

from newagent.errors import StoreError
from newagent.state.sql import engine, migrate
from newagent.state.sql.columns import Line
from newagent.state.sql.engine import Database
from newagent.state.sql.store import SqlStore
from newagent.state.sql.tables import metadata
from tests.state.term_bed import NOW, USER, url_of


@pytest.fixture
def url(tmp_path: Path) -> str:
    return url_of(tmp_path / "newagent.db")


async def refusal(url: str) -> StoreError:
    with pytest.raises(StoreError) as caught:
        await SqlStore.open(url)
    return caught.value


async def test_a_new_file_has_the_newest_schema(store: SqlStore) -> None:
    assert await store.revision() == migrate.HEAD


async def test_the_migrations_lead_to_the_tables(url: str, store: SqlStore) -> None:
    with create_engine(url.replace("+aiosqlite", "")).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_the_head_is_the_newest_revision() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrate.MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == migrate.HEAD


async def test_the_file_is_in_wal_mode_with_foreign_keys(store: SqlStore) -> None:
    async with store._database.read() as connection:
        names = ("journal_mode", "foreign_keys", "busy_timeout", "synchronous")
        values = [(await connection.execute(text(f"PRAGMA {name}"))).scalar() for name in names]
    assert values == ["wal", 1, engine.BUSY_MILLISECONDS, 2]


async def test_opening_again_finds_everything(url: str) -> None:
    first = await SqlStore.open(url)
    session = await first.create_conversation(USER, "c1", NOW)
    await first.close()
    second = await SqlStore.open(url)
    assert await second.load(USER, "c1") == session
    await second.close()


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "oracle://somewhere/x",
        "postgresql+asyncpg://somewhere/x",
        "sqlite:///plain.db",
        "sqlite+aiosqlite://",
        "sqlite+aiosqlite:///:memory:",
        "sqlite+aiosqlite://host/file.db",
        "mysql+nodriver://somewhere/x",
        "sqlite+aiosqlite:///x?timeout=soon",
    ],
)
async def test_an_address_that_cannot_be_used(url: str) -> None:
    error = await refusal(url)
    assert error.code == "invalid_database_url"
    assert "sqlite+aiosqlite:///FILE" in error.message


async def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    error = await refusal(url_of(tmp_path / "nowhere" / "x.db"))
    assert error.code == "database_unwritable"
    assert "nowhere" in error.message


async def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    assert (await refusal(url_of(tmp_path))).code == "database_unwritable"


async def test_a_file_that_may_only_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    sqlite3.connect(path).close()
    path.touch()
    error = await refusal(f"sqlite+aiosqlite:///file:{path}?mode=ro&uri=true")
    assert error.code == "database_unwritable"
    assert stat.S_ISREG(os.stat(path).st_mode)


async def test_garbage_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"this is a letter to grandmother, " * 300)
    assert (await refusal(url_of(path))).code == "not_a_database"
    assert path.read_bytes().startswith(b"this is a letter")


async def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    opened = await SqlStore.open(url_of(path))
    await opened.close()
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    assert (await refusal(url_of(path))).code == "database_corrupt"


async def test_the_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (id INTEGER)")
    connection.close()
    error = await refusal(url_of(path))
    assert error.code == "foreign_database"
    assert "bookmarks" in error.message


async def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    opened = await SqlStore.open(url_of(path))
    await opened.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
    connection.close()
    error = await refusal(url_of(path))
    assert (error.code, error.data["revision"]) == ("schema_too_new", "0999")


async def test_an_older_schema_waits_for_the_upgrade_where_it_is_not_automatic(url: str) -> None:
    database = Database(engine._engine(url))
    with pytest.raises(StoreError) as caught:
        await database._prepare(upgrade=False)
    assert caught.value.code == "schema_too_old"
    await database._prepare(upgrade=True)
    assert await database.revision() == migrate.HEAD
    async with database.write() as connection:
        await connection.run_sync(migrate.upgrade)  # of two processes the second finds it done
    assert await database.revision() == migrate.HEAD
    await database.close()


async def test_a_failed_migration_leaves_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (id INTEGER)")
        connection.exec_driver_sql("CREATE nonsense")

    monkeypatch.setattr(migrate, "upgrade", half)
    error = await refusal(url)
    assert error.code == "database_failed"
    monkeypatch.undo()
    opened = await SqlStore.open(url)
    assert await opened.revision() == migrate.HEAD
    await opened.close()


async def test_a_database_that_is_in_use(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BUSY_MILLISECONDS", 1)
    opened = await SqlStore.open(url)
    other = sqlite3.connect(tmp_path / "newagent.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as caught:
        await opened.create_conversation(USER, "c1", NOW)
    assert caught.value.code == "database_busy"
    assert await opened.list_conversations(USER) == []
    other.execute("ROLLBACK")
    other.close()
    await opened.create_conversation(USER, "c1", NOW)
    await opened.close()


def test_processes_that_open_a_new_file_together(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from alembic import command\n"
        "from newagent.state.sql.store import SqlStore\n"
        "async def main():\n"
        "    print('ready', flush=True); sys.stdin.readline()\n"
        "    store = await SqlStore.open(sys.argv[1]); print(await store.revision()); await store.close()\n"
        "asyncio.run(main())\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, url_of(tmp_path / "x.db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0].strip() for process in processes]
    assert said == [migrate.HEAD] * 2


def key_bytes(table: Table) -> list[int]:
    """Bytes of each key of a table as InnoDB counts them, four for a character."""
    keys = [list(table.primary_key.columns), *([*index.columns] for index in table.indexes)]
    keys += [list(one.columns) for one in table.constraints if hasattr(one, "columns")]
    return [sum(4 * c.type.impl.length if isinstance(c.type, Line) else 8 for c in key) for key in keys]


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_the_tables_fit_mysql(table: Table) -> None:
    ddl = str(CreateTable(table).compile(dialect=mysql.dialect()))
    assert "utf8mb4_bin" in ddl
    assert "InnoDB" in ddl
    if "document" in table.c or "payload" in table.c:
        assert "LONGTEXT" in ddl
    if "created_at" in table.c:
        assert "DATETIME(6)" in ddl
    assert 8 <= max(key_bytes(table)) <= 3072
