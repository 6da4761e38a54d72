"""The servers that the tests use can be had, and come back from being stopped and killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import services
from tests.services import MariaDb, RedisServer, require_services, shared_mariadb, shared_redis


def test_one_of_each_for_a_test_process() -> None:
    assert shared_mariadb() is shared_mariadb()
    assert shared_redis() is shared_redis()
    assert shared_mariadb().database() != shared_mariadb().database()
    assert shared_redis().cli("ping") == "PONG"


def test_mariadb_keeps_what_was_committed_when_it_is_killed(tmp_path: Path) -> None:
    require_services()
    server = MariaDb(tmp_path, safe=True)
    server.start()
    server.run("CREATE DATABASE d", "CREATE TABLE d.t (n INT) ENGINE=InnoDB", "INSERT INTO d.t VALUES (7)")
    server.kill()
    with pytest.raises(ConnectionError):
        server.ping()
    server.start()
    assert server.run("SELECT n FROM d.t") == [(7,)]
    server.stop()
    server.stop()


def test_redis_forgets_everything_when_it_is_stopped(tmp_path: Path) -> None:
    require_services()
    server = RedisServer(tmp_path)
    server.start()
    assert server.cli("set", "a", "1") == "OK"
    server.stop()
    with pytest.raises(ConnectionError):
        server.ping()
    server.start()
    assert server.cli("get", "a") == ""
    server.stop()


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    require_services()
    server = RedisServer(tmp_path)
    server.port = 70_000
    with pytest.raises(RuntimeError, match="port"):
        server.start()


def test_absent_programs_skip_or_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_missing", lambda _programs: ["mariadbd"])
    monkeypatch.delenv("NEWAGENT_REQUIRE_SERVICES", raising=False)
    with pytest.raises(pytest.skip.Exception, match="mariadbd not installed"):
        require_services()
    monkeypatch.setenv("NEWAGENT_REQUIRE_SERVICES", "1")
    with pytest.raises(pytest.fail.Exception, match="mariadbd not installed"):
        require_services()
