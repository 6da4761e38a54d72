"""`serve` as a process: it listens, answers, and leaves when told."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx


@contextmanager
def served(folder: Path, **environment: str) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    """A served agent on a free port with a data folder of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serving = subprocess.Popen(
        [sys.executable, "-c", "from newagent.cli.app import main; main()", "serve", "--port", str(port)],
        env={
            **os.environ,
            "NEWAGENT_DATA_DIR": str(folder),
            "PYTHONPATH": str(Path(__file__).parents[2]),
            **environment,
        },
        stderr=subprocess.PIPE,
    )
    assert serving.stderr is not None
    told = serving.stderr.readline().decode()
    assert f"http://127.0.0.1:{port}" in told
    yield f"http://127.0.0.1:{port}", serving
    serving.send_signal(signal.SIGTERM)
    serving.wait(20)
    serving.stderr.close()


def test_a_message_is_answered_over_a_socket(tmp_path: Path) -> None:
    transport = httpx.HTTPTransport(retries=6)
    with (
        served(tmp_path) as (address, _),
        httpx.Client(base_url=address, timeout=30, transport=transport) as http,
    ):
        assert http.get("/healthz").json()["data"] == {"alive": True}
        body = {"message": "你好"}
        with http.stream("POST", "/api/v1/agent/chat", json=body) as answer:
            assert answer.status_code == 200
            frames = [line for line in answer.iter_lines() if line.startswith("data: ")]
        assert frames[-1] == "data: [DONE]"
        assert len(http.get("/api/v1/agent/conversations").json()["data"]) == 1


def test_a_service_that_is_stopped_in_the_middle_ends_its_streams_in_order(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        with (
            served(tmp_path, NEWAGENT_LLM_BASE_URL=endpoint, NEWAGENT_LLM_MODEL="m") as (address, serving),
            httpx.Client(base_url=address, timeout=30, transport=httpx.HTTPTransport(retries=6)) as http,
            http.stream("POST", "/api/v1/agent/chat", json={"message": "你好"}) as answer,
        ):
            lines = (line for line in answer.iter_lines() if line.startswith("data: "))
            assert "user_text" in next(lines)
            serving.send_signal(signal.SIGTERM)
            rest = list(lines)
            assert "service_stopping" in rest[-2]
            assert rest[-1] == "data: [DONE]"
            assert serving.wait(20) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
            assert serving.stderr is not None
            assert b"Traceback" not in serving.stderr.read()
