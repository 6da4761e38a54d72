"""`serve` as a process: it listens, answers, and leaves when told."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A served agent on a free port with a data folder of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serving = subprocess.Popen(
        [sys.executable, "-c", "from newagent.cli.app import main; main()", "serve", "--port", str(port)],
        env={**os.environ, "NEWAGENT_DATA_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
        stderr=subprocess.PIPE,
    )
    assert serving.stderr is not None
    told = serving.stderr.readline().decode()
    assert f"http://127.0.0.1:{port}" in told
    assert "newagent-rules" in told
    yield f"http://127.0.0.1:{port}"
    serving.send_signal(signal.SIGTERM)
    serving.wait(20)
    serving.stderr.close()


def test_a_message_is_answered_over_a_socket(address: str) -> None:
    transport = httpx.HTTPTransport(retries=6)
    with httpx.Client(base_url=address, timeout=30, transport=transport) as http:
        assert http.get("/healthz").json()["data"] == {"alive": True}
        body = {"message": "你好"}
        with http.stream("POST", "/api/v1/agent/chat", json=body) as answer:
            assert answer.status_code == 200
            frames = [line for line in answer.iter_lines() if line.startswith("data: ")]
        assert frames[-1] == "data: [DONE]"
        assert len(http.get("/api/v1/agent/conversations").json()["data"]) == 1
