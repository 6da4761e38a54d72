"""What the tests of the commands share: calling one as its user would, and a state file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from newagent.cli.app import main
from tests.loop.bed import week_state

Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; gives its exit code, its JSON (or text), and stderr."""

    def call(*args: str) -> tuple[int, Any, str]:
        monkeypatch.setattr("sys.argv", ["newagent", *args])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        assert "Traceback" not in captured.err
        return code, json.loads(captured.out) if "--json" in args else captured.out, captured.err

    return call


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(week_state().dump(), ensure_ascii=False), "utf-8")
    return path
