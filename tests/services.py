"""Real servers for the tests: MariaDB and Redis as local processes of the system's packages.

    url = fresh_mariadb()                  an empty database with the newest schema
    url = shared_mariadb().database()      one without any schema; one server a test process, ended with it
    url = shared_redis().url

A test that stops, kills or restarts a server takes one of its own (`MariaDb(folder)`, `RedisServer(folder)`).
Where the programs are absent, root installs them with apt-get; else the tests that ask are skipped, with a line that
says so, or fail with NEWAGENT_REQUIRE_SERVICES=1.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

import pymysql
import pytest
import redis
from sqlalchemy import create_engine, make_url

from newagent.state.sql import migrate
from newagent.state.sql.tables import metadata

PROGRAMS = {"mariadbd": "mariadb-server", "mariadb-install-db": "mariadb-server", "redis-server": "redis-server"}
SECONDS = 60.0
_PASSWORD = "study"


class Server:
    """A process that serves on a port of its own. `stop` ends it in order, `kill` at once, `start` goes on."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """The command that serves."""
        raise NotImplementedError

    def ping(self) -> None:
        """Raises OSError while the server does not answer."""
        raise NotImplementedError

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        assert self._process is None, "the server runs already"
        with (self.folder / "log").open("ab") as log:
            self._process = _spawn(self.command(), log)
        ends = time.monotonic() + SECONDS
        while True:
            try:
                return self.ping()
            except OSError:
                ended = self._process.poll()
                if ended is not None or time.monotonic() > ends:
                    words = (self.folder / "log").read_text(errors="replace")[-2000:]
                    raise RuntimeError(f"{self.command()[0]} did not start ({ended}):\n{words}") from None
                time.sleep(0.01)

    def stop(self) -> None:
        """Ends the server in order; one that does not run is left alone."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the server at once, as a loss of power would."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """The server hangs: it keeps its connections and answers nobody until `resume`."""
        self._send(signal.SIGSTOP)

    def resume(self) -> None:
        """The server goes on."""
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class MariaDb(Server):
    """A MariaDB server on a data directory of its own; `safe` makes each commit survive `kill`."""

    def __init__(self, folder: Path, *, safe: bool = False) -> None:
        super().__init__(folder)
        self._safe = safe
        self._names = itertools.count(1)
        data = folder / "data"
        if not data.exists():
            install = ["mariadb-install-db", "--no-defaults", f"--datadir={data}", f"--user={_account()}"]
            install += ["--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-log-file-size=8M"]
            subprocess.run(install, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def command(self) -> list[str]:
        """See `Server.command`."""
        return [
            "mariadbd",
            "--no-defaults",
            f"--datadir={self.folder / 'data'}",
            f"--user={_account()}",
            f"--socket={self._socket}",
            f"--pid-file={self.folder / 'pid'}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            "--skip-log-bin",
            "--max-connections=400",
            "--innodb-log-file-size=8M",
            "--innodb-buffer-pool-size=64M",
            f"--innodb-flush-log-at-trx-commit={1 if self._safe else 0}",
        ]

    def ping(self) -> None:
        """See `Server.ping`."""
        with socket.socket(socket.AF_UNIX) as one:  # PyMySQL leaves a socket open that it could not connect
            one.connect(str(self._socket))
        self.run("SELECT 1")

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Runs statements as the administrator; the rows of the last one."""
        try:
            connection = pymysql.connect(unix_socket=str(self._socket), user="root", autocommit=True, charset="utf8mb4")
        except pymysql.err.OperationalError as error:
            raise ConnectionError(str(error)) from error
        with connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"newagent_{next(self._names)}"
        self.run(
            f"CREATE USER IF NOT EXISTS student@'127.0.0.1' IDENTIFIED BY '{_PASSWORD}'",
            f"CREATE DATABASE {name}",
            f"GRANT ALL ON {name}.* TO student@'127.0.0.1'",
        )
        return f"mysql+aiomysql://student:{_PASSWORD}@127.0.0.1:{self.port}/{name}?charset=utf8mb4"

    @property
    def _socket(self) -> Path:
        return self.folder / "sock"


class RedisServer(Server):
    """A Redis server that keeps nothing on disk."""

    def command(self) -> list[str]:
        """See `Server.command`."""
        options = {"port": str(self.port), "bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": str(self.folder)}
        return ["redis-server", *(word for name, value in options.items() for word in (f"--{name}", value))]

    def ping(self) -> None:
        """See `Server.ping`."""
        with redis.Redis(port=self.port, socket_timeout=5, retry=None) as client:
            try:
                client.ping()
            except redis.RedisError as error:
                raise ConnectionError(str(error)) from error

    @property
    def url(self) -> str:
        """The address of its first database."""
        return f"redis://127.0.0.1:{self.port}/0"

    def cli(self, *words: str) -> str:
        """What `redis-cli` says to a command."""
        ran = subprocess.run(["redis-cli", "-p", str(self.port), *words], check=True, stdout=subprocess.PIPE, text=True)
        return ran.stdout.strip()


@functools.cache
def shared_mariadb() -> MariaDb:
    """The MariaDB of this test process. Skips or fails the test where there is none."""
    require_services()
    server = MariaDb(_folder("mariadb"))
    _until_exit(server)
    return server


def fresh_mariadb() -> str:
    """The address of a database with the newest schema and no rows: the same one each time, emptied."""
    url, server = _migrated(), shared_mariadb()
    name = make_url(url).database
    tables = [table.name for table in metadata.sorted_tables]
    held = server.run("SELECT " + ", ".join(f"EXISTS (SELECT 1 FROM {name}.{table})" for table in tables))[0]
    counting = [table.name for table in metadata.sorted_tables if table.autoincrement_column is not None]
    empty = [f"DELETE FROM {name}.{table}" for table, full in zip(tables, held, strict=True) if full]
    again = [f"ALTER TABLE {name}.{table} AUTO_INCREMENT = 1" for table in counting]
    server.run("SET foreign_key_checks = 0", "SELECT 1", *empty, *again)
    return url


@functools.cache
def _migrated() -> str:
    url = shared_mariadb().database()
    engine = create_engine(url.replace("+aiomysql", "+pymysql"))
    with engine.connect() as connection:
        migrate.upgrade(connection)
        connection.commit()
    engine.dispose()
    return url


@functools.cache
def shared_redis() -> RedisServer:
    """The Redis of this test process. Skips or fails the test where there is none."""
    require_services()
    server = RedisServer(_folder("redis"))
    _until_exit(server)
    return server


def require_services() -> None:
    """Sees to it that the servers are there. Skips or fails the test where they cannot be had."""
    require_programs(PROGRAMS, "MariaDB and Redis")


def require_programs(programs: dict[str, str], what: str) -> None:
    """Sees to it that programs are there, by the packages that have them. Skips or fails the test otherwise."""
    missing = _missing(tuple(programs.items()))
    if not missing:
        return
    words = f"tests of {what} did not run: {', '.join(missing)} not installed"
    if os.environ.get("NEWAGENT_REQUIRE_SERVICES") == "1":
        pytest.fail(words)
    sys.__stderr__.write(f"\n*** {words} ***\n")  # type: ignore[union-attr]
    pytest.skip(words)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@functools.cache
def _missing(programs: tuple[tuple[str, str], ...]) -> list[str]:
    if _absent(programs) and os.geteuid() == 0 and shutil.which("apt-get"):
        with (Path(tempfile.gettempdir()) / "newagent-services.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of several test processes one installs
            if _absent(programs):
                _install(sorted({package for _, package in programs}))
    return _absent(programs)


def _absent(programs: tuple[tuple[str, str], ...]) -> list[str]:
    return [name for name, _ in programs if shutil.which(name, path=_path()) is None]


def _install(packages: list[str]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *packages]):
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)


def _path() -> str:
    """Servers are often where only root looks."""
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/sbin"])


def _account() -> str:
    import pwd

    return pwd.getpwuid(os.geteuid()).pw_name


def _spawn(command: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PATH": _path()}
    if shutil.which("setpriv"):  # the server does not outlive a test process that is killed
        command = ["setpriv", "--pdeathsig", "KILL", *command]
    return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


@functools.cache
def _folder(name: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"newagent-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _until_exit(server: Server) -> None:
    server.start()
    process = os.getpid()

    def end() -> None:
        if os.getpid() == process:  # a forked child leaves its parent's server alone
            server.kill()

    atexit.register(end)
