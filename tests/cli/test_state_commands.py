"""`tool`, `place` and `judge` on state files, as their users call them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from newagent.schedule.model import ScheduleState
from newagent.schedule.rules import state_faults
from tests.loop.bed import week_state

Run = Callable[..., tuple[int, Any, str]]


def test_place_writes_the_new_state(run: Run, state_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    code, document, _ = run("place", "--state", str(state_file), "--out", str(out), "--json")
    assert code == 0
    assert document.keys() == {"ok", "placed", "pending", "cost", "terms", "seconds"}
    assert (document["ok"], document["placed"], document["pending"]) == (True, 6, 0)
    state = ScheduleState.load(json.loads(out.read_text("utf-8")))
    assert not state_faults(state)
    code, judged, _ = run("judge", "--state", str(out), "--json")
    assert code == 0
    assert judged["metrics"]["cost"] == document["cost"]
    assert judged["metrics"]["terms"] == document["terms"]


def test_place_some_classes(run: Run, state_file: Path) -> None:
    _, document, _ = run("place", "--state", str(state_file), "--class", "10", "--json")
    assert (document["placed"], document["pending"]) == (3, 3)


def test_place_refuses_what_does_not_fit(run: Run, tmp_path: Path) -> None:
    document = week_state(items=90).dump()
    path, out = tmp_path / "full.json", tmp_path / "out.json"
    path.write_text(json.dumps(document), "utf-8")
    code, report, _ = run("place", "--state", str(path), "--out", str(out), "--json")
    assert code == 1
    assert (report["ok"], report["code"]) == (False, "infeasible")
    assert report["capacity_gap"] > 0
    assert any(relaxation["kind"] == "drop_items" for relaxation in report["relaxations"])
    assert json.loads(out.read_text("utf-8")) == document
    code, text, _ = run("place", "--state", str(path))
    assert code == 1
    assert "infeasible" in text


def test_tool_runs_on_a_state(run: Run, state_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    args = json.dumps({"task_id": 2, "day": 2, "start": 1})
    code, result, _ = run("tool", "place", "--state", str(state_file), "--args", args, "--out", str(out), "--json")
    assert code == 0
    assert (result["ok"], result["code"]) == (True, "ok")
    assert result["changes"] == [{"task_id": 2, "before": None, "after": {"day": 2, "start": 1, "end": 2}}]
    assert result.keys() == {"ok", "code", "text", "data", "changes"}
    new, old = json.loads(out.read_text("utf-8")), week_state().dump()
    assert new["tasks"][1].keys() == old["tasks"][1].keys()


def test_tool_keeps_the_old_state_when_refused(run: Run, state_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    args = json.dumps({"task_id": 2, "day": 1, "start": 1})
    code, result, _ = run("tool", "place", "--state", str(state_file), "--args", args, "--out", str(out), "--json")
    assert (code, result["code"]) == (1, "conflict")
    assert out.read_text("utf-8").strip() == json.dumps(week_state().dump(), ensure_ascii=False)


def test_tool_lists_every_tool(run: Run) -> None:
    code, listing, _ = run("tool", "--list", "--json")
    assert code == 0
    assert {"name", "domain", "pack", "write", "schema", "description"} == listing[0].keys()
    assert {"rough_build", "analyze_health", "set_preferences"} <= {one["name"] for one in listing}
    assert run("tool", "--list")[0] == 0


@pytest.mark.parametrize("name", ["undo_last", "apply_preview", "apply_candidate"])
def test_tools_of_a_session_say_so(run: Run, state_file: Path, name: str) -> None:
    args = json.dumps({"candidate_id": "c1"} if name == "apply_candidate" else {})
    code, result, _ = run("tool", name, "--state", str(state_file), "--args", args, "--json")
    assert (code, result["code"]) == (1, "needs_session")


def test_judge_for_a_person(run: Run, state_file: Path) -> None:
    code, text, _ = run("judge", "--state", str(state_file))
    assert code == 0
    assert "pending 6" in text


def test_text_for_people_has_no_colour_codes_when_piped(run: Run, state_file: Path) -> None:
    assert "\x1b" not in run("judge", "--state", str(state_file))[1]


BROKEN = {
    "empty.json": b"",
    "text.json": b"not json",
    "list.json": b"[]",
    "binary.json": bytes(range(256)),
    "newer.json": json.dumps({**week_state().dump(), "schema_version": 99}).encode(),
    "typo.json": json.dumps({**week_state().dump(), "taks": []}).encode(),
    "deep.json": b"[" * 100_000,
}


@pytest.mark.parametrize("name", sorted(BROKEN))
@pytest.mark.parametrize("command", ["judge", "place", "tool"])
def test_a_broken_file_is_one_clear_line(run: Run, tmp_path: Path, command: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(BROKEN[name])
    extra = ["get_overview"] if command == "tool" else []
    code, document, err = run(command, *extra, "--state", str(path), "--json")
    assert code == 1
    assert document["ok"] is False
    assert document["code"] == ("snapshot_too_new" if name == "newer.json" else document["code"])
    assert document["code"] in ("invalid_json", "invalid_state", "snapshot_too_new")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "args",
    [
        ["judge", "--state", "/nowhere/at/all.json"],
        ["judge"],
        ["place", "--state", "{state}", "--class", "x"],
        ["place", "--state", "{state}", "--class", "99"],
        ["tool"],
        ["tool", "place", "--state", "{state}", "--args", "{{"],
        ["tool", "place", "--state", "{state}", "--args", "[1]"],
        ["tool", "get_overview"],
        ["nonsense"],
        ["judge", "--nonsense"],
    ],
)
def test_wrong_usage_exits_with_2(run: Run, state_file: Path, args: list[str]) -> None:
    filled = [arg.replace("{state}", str(state_file)).replace("{{", "{") for arg in args]
    code, document, err = run(*filled, "--json")
    assert code == 2
    assert document["ok"] is False
    assert err


def test_an_unknown_tool_is_refused(run: Run, state_file: Path) -> None:
    code, result, _ = run("tool", "fly", "--state", str(state_file), "--json")
    assert (code, result["code"]) == (1, "unknown_tool")


def test_an_unwritable_target_writes_nothing(run: Run, state_file: Path, tmp_path: Path) -> None:
    code, document, _ = run("place", "--state", str(state_file), "--out", str(tmp_path / "no" / "out.json"), "--json")
    assert (code, document["code"]) == (1, "unwritable_file")


def test_help_and_version(run: Run) -> None:
    assert run()[0] == 0
    assert run("--help")[0] == 0
    assert run("--version")[0] == 0


def test_config_hides_secrets(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWAGENT_LLM_API_KEY", "sk-very-secret")
    monkeypatch.setenv("NEWAGENT_DATABASE_URL", "mysql+aiomysql://me:hunter2@db/x")
    code, document, _ = run("config", "--json")
    assert code == 0
    assert "sk-very-secret" not in json.dumps(document)
    assert document["database_url"] == "mysql+aiomysql://me:***@db/x"


def test_a_wrong_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWAGENT_MAX_ROUNDS", "many")
    code, document, _ = run("config", "--json")
    assert (code, document["code"]) == (1, "invalid_settings")
    assert "MAX_ROUNDS" in document["message"]
