"""What only a server does: it is upgraded when asked to, it locks, it deadlocks, it goes away and comes back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, make_url, text

from newagent.errors import StaleHeadError, StoreError
from newagent.state.sql import engine, migrate
from newagent.state.sql.store import SqlStore
from newagent.state.sql.tables import metadata
from newagent.state.sql.transaction import Transaction
from newagent.state.store import Session
from tests.services import MariaDb, fresh_mariadb, require_services, shared_mariadb
from tests.state.deaf_proxy import DeafProxy
from tests.state.term_bed import NOW, TERM, USER, putting, ready, save, task_class, turn


@pytest.fixture
async def url() -> str:
    return fresh_mariadb()


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    opened = await SqlStore.open(url)
    yield opened
    await opened.close()


@pytest.fixture
def server(tmp_path: Path) -> MariaDb:
    """A server of one's own, that may be stopped."""
    require_services()
    own = MariaDb(tmp_path / "mariadb", safe=True)
    own.start()
    return own


async def failure(url: str) -> StoreError:
    with pytest.raises(StoreError) as caught:
        await SqlStore.open(url)
    return caught.value


async def test_a_server_is_upgraded_only_when_asked_to() -> None:
    url = shared_mariadb().database()
    assert (await failure(url)).code == "schema_too_old"
    upgraded = await SqlStore.open(url, upgrade=True)
    assert await upgraded.revision() == migrate.HEAD
    await upgraded.close()
    sync = create_engine(url.replace("+aiomysql", "+pymysql"))
    with sync.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        kinds = connection.execute(
            text("SELECT DISTINCT engine, table_collation FROM information_schema.tables WHERE table_name = 'journal'")
        )
        assert {tuple(row) for row in kinds} == {("InnoDB", "utf8mb4_bin")}
    sync.dispose()


def test_processes_that_upgrade_together() -> None:
    url = shared_mariadb().database()
    code = (
        "import asyncio, sys\n"
        "from newagent.state.sql.store import SqlStore\n"
        "async def main():\n"
        "    store = await SqlStore.open(sys.argv[1], upgrade=True)\n"
        "    print(await store.revision()); await store.close()\n"
        "asyncio.run(main())\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, url], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    assert [process.communicate()[0].strip() for process in processes] == [migrate.HEAD] * 3


async def test_text_of_any_plane_comes_back_whatever_the_address_says(store: SqlStore, url: str) -> None:
    latin = await SqlStore.open(url.replace("utf8mb4", "latin1"))
    session = await latin.create_conversation(USER, "c1", NOW)
    await save(latin, session, turn(session.state, text="概率论 𝄞 🎓 é"))
    await latin.close()
    assert (await store.load(USER, "c1")).messages[0].text == "概率论 𝄞 🎓 é"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"username": "nobody"}, "database_denied"),
        ({"password": "wrong"}, "database_denied"),
        ({"database": "elsewhere"}, "database_denied"),
        ({"port": 1}, "database_unavailable"),
    ],
)
async def test_an_address_that_leads_nowhere(url: str, change: dict[str, object], code: str) -> None:
    wrong = make_url(url).set(**change).render_as_string(hide_password=False)  # type: ignore[arg-type]
    error = await failure(wrong)
    assert error.code == code
    assert "study" not in error.message


# Locks


async def test_a_reader_sees_one_state_and_a_writer_what_is_committed(store: SqlStore) -> None:
    session, _ = await ready(store)
    count = text("SELECT count(*) FROM messages")
    async with store._database.read() as reading, store._database.write() as writing:
        assert (await reading.execute(count)).scalar() == (await writing.execute(count)).scalar() == 1
        await save(store, session, turn(session.state))
        assert (await reading.execute(count)).scalar() == 1
        assert (await writing.execute(count)).scalar() == 2
    with pytest.raises(StoreError, match="READ ONLY"):
        async with store._database.read() as reading:
            await reading.execute(text("DELETE FROM messages"))


async def test_the_head_is_held_until_the_round_is_over(store: SqlStore) -> None:
    session, _ = await ready(store)
    async with store.round(session, NOW, fenced=True) as first:
        second = asyncio.create_task(save(store, session, turn(session.state), fenced=False))
        done, _ = await asyncio.wait([second], timeout=0.2)
        assert not done
        await first.save(turn(session.state))
    with pytest.raises(StaleHeadError):
        await second
    assert (await store.load(USER, "c1")).version == 2


async def test_the_semester_is_held_while_a_preview_is_applied(store: SqlStore) -> None:
    """A class that is put meanwhile waits, sees what was applied, and is refused."""
    session, class_id = await ready(store)
    assert session.schedule is not None
    async with store.round(session, NOW, fenced=True) as applying:
        await applying.timetable.apply(putting(session.schedule, (0, 2, 7)), None)
        fewer = task_class(id=class_id, items=[{"name": "第2章"}])
        others = [
            asyncio.create_task(store.put_task_class(USER, fewer)),
            asyncio.create_task(store.import_courses("other", TERM)),
        ]
        done, _ = await asyncio.wait(others, timeout=0.3)
        assert done == {others[1]}
        await applying.save(turn(session.state))
    with pytest.raises(Exception, match="in the timetable already"):
        await others[0]


async def test_a_writer_that_waits_for_too_long_is_told(
    store: SqlStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = await ready(store)
    monkeypatch.setattr(engine, "_SESSION", "SET SESSION innodb_lock_wait_timeout = 1")
    hasty = await SqlStore.open(url)
    async with store.round(session, NOW, fenced=True) as first:
        with pytest.raises(StoreError) as caught:
            await save(hasty, session, turn(session.state))
        await first.save(turn(session.state))
    assert caught.value.code == "database_busy"
    assert (await store.load(USER, "c1")).version == 2
    await hasty.close()


async def test_of_two_rounds_in_a_deadlock_one_is_taken_back_as_stale(store: SqlStore) -> None:
    """Each holds its conversation and wants what the other holds."""
    one, _ = await ready(store)
    other, _ = await ready(store, "c2", "other")
    meet = asyncio.Barrier(2)

    async def attempt(session: Session, wanted: str) -> str:
        async with store.round(session, NOW, fenced=True) as transaction:
            await meet.wait()
            hold = text(f"SELECT id FROM conversations WHERE id = '{wanted}' FOR UPDATE")
            await transaction._connection.execute(hold)
            await transaction.save(turn(session.state))
        return "won"

    ends = await asyncio.gather(attempt(one, "c2"), attempt(other, "c1"), return_exceptions=True)
    assert sorted(str(getattr(end, "code", end)) for end in ends) == ["stale_head", "won"]
    assert sorted([(await store.load(USER, "c1")).version, (await store.load("other", "c2")).version]) == [1, 2]


async def test_work_in_a_deadlock_is_done_again(store: SqlStore) -> None:
    await ready(store)
    await ready(store, "c2", "other")
    meet = asyncio.Barrier(2)
    tries: list[str] = []

    async def attempt(first: str, then: str) -> None:
        async def work(connection: Transaction) -> None:
            tries.append(first)
            for name in (first, then):
                hold = text(f"SELECT id FROM conversations WHERE id = '{name}' FOR UPDATE")
                await connection.execute(hold)
                if name == first and len(tries) <= 2:
                    await meet.wait()

        await store._database.written(work)

    await asyncio.gather(attempt("c1", "c2"), attempt("c2", "c1"))
    assert len(tries) == 3


# A network that fails, and a server that goes


@pytest.mark.parametrize(("fault", "version"), [("lose_answer", 2), ("lose_commit", 1), ("hang", 1)])
async def test_a_commit_whose_answer_does_not_come(
    url: str, store: SqlStore, fault: str, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "ANSWER_SECONDS", 0.5)
    session, _ = await ready(store)
    async with DeafProxy(url) as proxy:
        far = await SqlStore.open(proxy.url)
        proxy.fault = fault  # type: ignore[assignment]
        if version == 2:
            stored = await save(far, session, turn(session.state))
            assert await store.load(USER, "c1") == stored.session
        else:
            with pytest.raises(StoreError) as caught:
                await save(far, session, turn(session.state))
            assert caught.value.code == "database_unavailable"
            assert await store.load(USER, "c1") == session
        assert (await save(far, await far.load(USER, "c1"), turn(session.state))).session.version == version + 1
        await far.close()


async def round_with(store: SqlStore, session: Session, happens: Callable[[], None]) -> None:
    """A round during which, right before its commit, something happens."""
    async with store.round(session, NOW, fenced=True) as transaction:
        await transaction.save(turn(session.state))
        happens()


async def test_a_server_that_is_stopped_and_started_again(server: MariaDb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newagent.state.sql.store.COMMIT_DELAYS", (0.0,))
    store = await SqlStore.open(server.database(), upgrade=True)
    session, _ = await ready(store)
    for stop in (server.stop, server.kill):
        with pytest.raises(StoreError) as caught:
            await round_with(store, session, stop)
        assert caught.value.code == "database_unavailable"
        for call in (store.load(USER, "c1"), save(store, session, turn(session.state)), store.put_task_class(USER, {})):
            with pytest.raises(Exception, match=r"cannot be reached|cannot be stored"):
                await call
        server.start()
        assert await store.load(USER, "c1") == session
        session = (await save(store, session, turn(session.state))).session
        # All of its connections are of before; the first one that is tried tells.
        server.stop()
        server.start()
        assert await store.load(USER, "c1") == session
        server.stop()
        server.start()
        session = (await save(store, session, turn(session.state))).session
    assert await store.verify_journal(USER, "c1") == session.version
    await store.close()
    server.stop()


async def test_a_commit_that_the_restart_of_the_server_cuts_off_is_settled(server: MariaDb) -> None:
    """The store waits for the server to come back before it says what became of the round."""
    store = await SqlStore.open(server.database(), upgrade=True)
    session, _ = await ready(store)

    starting: list[asyncio.Future[None]] = []

    def restart() -> None:
        server.kill()
        starting.append(asyncio.ensure_future(asyncio.to_thread(server.start)))

    with pytest.raises(StoreError, match="cannot be reached"):
        await round_with(store, session, restart)
    assert starting[0].done(), "the store waited until the server was back"
    assert await store.load(USER, "c1") == session
    await store.close()
    server.stop()


async def test_a_server_that_hangs_is_not_waited_for(server: MariaDb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr("newagent.state.sql.store.COMMIT_DELAYS", (0.0,))
    store = await SqlStore.open(server.database(), upgrade=True)
    session, _ = await ready(store)
    server.pause()
    for call in (store.load(USER, "c1"), save(store, session, turn(session.state))):
        with pytest.raises(StoreError) as caught:
            await call
        assert caught.value.code == "database_unavailable"
    impatient = asyncio.create_task(store.load(USER, "c1"))
    await asyncio.sleep(0)
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient
    server.resume()
    assert (await save(store, session, turn(session.state))).session.version == 2
    await store.close()
    server.stop()
