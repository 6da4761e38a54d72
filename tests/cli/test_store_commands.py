"""The commands that keep things: import, chat, apply, export, conversations, db; and what they refuse."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from newagent.calendars.sample import sample_term

Run = Callable[..., tuple[int, Any, str]]
START = ("--semester-start", "2026-09-07")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A data folder of its own for every test, and no settings from outside."""
    for name in list(os.environ):
        if name.startswith("NEWAGENT_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "data"
    monkeypatch.setenv("NEWAGENT_DATA_DIR", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def term(tmp_path: Path) -> tuple[str, str]:
    """The sample timetable and two small task classes as files."""
    _, timetable, classes = sample_term()
    table, tasks = tmp_path / "timetable.csv", tmp_path / "classes.json"
    table.write_bytes(timetable)
    small = [{**one, "items": one["items"][:3], "total_slots": 6} for one in classes[:2]]
    tasks.write_text(json.dumps(small, ensure_ascii=False), "utf-8")
    return str(table), str(tasks)


def test_a_dry_run_reports_and_stores_nothing(run: Run, term: tuple[str, str], home: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    code, document, _ = run("import", term[0], *START, "--dry-run", "--out", str(out), "--json")
    assert code == 0
    assert document.keys() == {"sections", "weeks", "courses", "report", "overlaps"}
    assert len(document["courses"]) >= 10
    assert json.loads(out.read_text("utf-8")) == document
    assert not home.exists()


def test_the_same_file_twice_changes_nothing(run: Run, term: tuple[str, str], tmp_path: Path) -> None:
    _, first, _ = run("import", term[0], *START, "--json")
    assert first["stored"]["added"] == len(first["courses"])
    exported = [tmp_path / name for name in ("a.ics", "b.ics")]
    run("export", "--out", str(exported[0]))
    code, second, _ = run("import", term[0], *START, "--json")
    assert code == 0
    assert (second["stored"]["added"], second["stored"]["changed"]) == (0, 0)
    assert second["stored"]["unchanged"] == len(first["courses"])
    run("export", "--out", str(exported[1]))
    assert exported[0].read_bytes() == exported[1].read_bytes()


def test_export_and_import_give_the_same_timetable(run: Run, term: tuple[str, str], tmp_path: Path) -> None:
    _, first, _ = run("import", term[0], *START, "--json")
    calendar = tmp_path / "out.ics"
    code, document, _ = run("export", "--out", str(calendar), "--json")
    assert code == 0
    assert document["events"] == sum(len(course["slots"]) for course in first["courses"])
    _, second, _ = run("import", str(calendar), *START, "--dry-run", "--json")
    assert second["courses"] == first["courses"]


def test_two_machines_in_different_zones_export_the_same_bytes(run: Run, term: tuple[str, str], home: Path) -> None:
    run("import", term[0], *START)
    exports: list[bytes] = []
    for zone in ("Asia/Shanghai", "America/New_York"):
        done = subprocess.run(
            [sys.executable, "-c", "from newagent.cli.app import main; main()", "export"],
            env={**os.environ, "TZ": zone, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            check=True,
        )
        exports.append(done.stdout)
    assert exports[0] == exports[1]
    assert exports[0].startswith(b"BEGIN:VCALENDAR")


def this_week(tasks: Path) -> tuple[str, str]:
    """Moves the task classes to the coming weeks; gives the option of a semester that began on Monday."""
    today = dt.date.today()
    classes = json.loads(tasks.read_text("utf-8"))
    for one in classes:
        one |= {"start_date": today.isoformat(), "end_date": (today + dt.timedelta(days=27)).isoformat()}
    tasks.write_text(json.dumps(classes, ensure_ascii=False), "utf-8")
    return "--semester-start", (today - dt.timedelta(days=today.weekday())).isoformat()


def test_a_person_plans_applies_and_exports(
    run: Run, term: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = this_week(Path(term[1]))
    code, stored, _ = run("import", term[0], *start, "--task-classes", term[1], "--json")
    assert code == 0
    assert stored["stored"]["task_classes"] == 2
    lines = ["帮我把这些任务排进日程", *["y"] * 12, ""]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    code, shown, _ = run("chat")
    assert code == 0
    assert "completed" in shown
    code, listed, _ = run("conversations", "--json")
    assert len(listed["conversations"]) == 1
    code, applied, _ = run("apply", "--json")
    assert (code, applied["applied"]) == (0, 6)
    code, again, _ = run("apply", "--json")
    assert (code, again["code"]) == (1, "no_preview")
    code, exported, _ = run("export", "--out", str(tmp_path / "all.ics"), "--json")
    assert exported["events"] == sum(len(course["slots"]) for course in stored["courses"]) + 6
    identity = listed["conversations"][0]["conversation_id"]
    code, renamed, _ = run("conversations", "--rename", identity, "新名字", "--json")
    assert renamed["conversations"][0]["title"] == "新名字"
    assert run("conversations", "--delete", identity, "--json")[1] == {"conversations": []}


def test_one_message_leaves_its_card_open_and_a_dialogue_goes_on_with_it(
    run: Run, term: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = this_week(Path(term[1]))
    run("import", term[0], *start, "--task-classes", term[1])
    code, said, _ = run("chat", "-m", "帮我把这些任务排进日程", "--json")
    assert (code, said["phase"]) == (0, "waiting")
    answers = ["e not json", "e {}", "n 先不要", "q", ""]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(answers) + "\n"))
    code, shown, _ = run("chat", "--conversation", said["conversation_id"])
    assert code == 0
    assert "invalid_args" in shown
    assert run("apply", "--json")[1]["code"] == "no_preview"


def test_upgrade_tells_the_revision(run: Run, home: Path) -> None:
    code, document, _ = run("db", "upgrade", "--json")
    assert code == 0
    assert document["revision"]
    assert (home / "newagent.db").exists()
    assert run("db", "upgrade", "--json")[1] == document


def test_text_for_people(run: Run, term: tuple[str, str]) -> None:
    code, shown, _ = run("import", term[0], *START)
    assert code == 0
    assert "艺术鉴赏" in shown
    assert "已保存" in shown
    code, shown, _ = run("export")
    assert (code, shown[:15]) == (0, "BEGIN:VCALENDAR")
    assert run("conversations")[0] == 0
    assert run("db", "upgrade")[0] == 0
    assert run("config")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (("import", "{missing}", *START), 2, "unreadable_file"),
        (("import", "{folder}", *START), 2, "unreadable_file"),
        (("import", "{rubbish}", *START), 1, None),
        (("import", "{table}", "--semester-start", "yesterday"), 2, "usage"),
        (("import", "{table}", "--semester-start", "9999-12-31"), 2, "usage: --semester-start"),
        (("import", "{table}", *START, "--weeks", "0"), 2, "usage: --weeks"),
        (("import", "{table}", *START, "--weeks", "many"), 2, "usage"),
        (("import", "{table}", *START, "--time-zone", "Mars/Olympus"), 2, "usage"),
        (("import", "{table}"), 2, "usage"),
        (("import", "{table}", *START, "--dry-run", "--out", "{missing}/x.json"), 1, "unwritable_file"),
        (("import", "{table}", *START, "--task-classes", "{missing}"), 2, "unreadable_file"),
        (("import", "{table}", *START, "--task-classes", "{rubbish}"), 1, "invalid_json"),
        (("import", "{table}", *START, "--task-classes", "{odd}"), 1, "invalid_task_class"),
        (("import", "{table}", *START, "--task-classes", "{wrong}"), 1, None),
        (("export", "--json"), 2, "usage"),
        (("export",), 1, "no_semester"),
        (("export", "--out", "{missing}/x.ics"), 1, "no_semester"),
        (("apply",), 1, "conversation_not_found"),
        (("apply", "--conversation", "nobody"), 1, "conversation_not_found"),
        (("apply", "--class", "first"), 2, "usage"),
        (("chat", "--conversation", "nobody", "-m", "hi"), 1, "conversation_not_found"),
        (("chat", "--json"), 2, "usage"),
        (("conversations", "--rename", "nobody", "x"), 1, "conversation_not_found"),
        (("conversations", "--delete", "nobody"), 1, "conversation_not_found"),
        (("conversations", "--delete", "a", "--rename", "a", "b"), 2, "usage"),
        (("db", "upgrade", "--now"), 2, "usage"),
        (("serve", "--host", "0.0.0.0"), 1, "loopback_only"),
        (("serve", "--host", "example.org"), 1, "loopback_only"),
        (("serve", "--port", "99999"), 2, "usage"),
        (("nothing",), 2, "usage"),
        (("demo", "extra"), 2, "usage"),
    ],
)
def test_bad_input_is_one_clear_line(
    run: Run, term: tuple[str, str], tmp_path: Path, arguments: tuple[str, ...], exit_code: int, code: str | None
) -> None:
    (tmp_path / "rubbish").write_bytes(b"\x00\xff\xfe{")
    (tmp_path / "odd.json").write_text('{"not": "a list"}', "utf-8")
    (tmp_path / "wrong.json").write_text('[{"name": ""}]', "utf-8")
    names = {
        "missing": tmp_path / "missing",
        "folder": tmp_path,
        "rubbish": tmp_path / "rubbish",
        "table": term[0],
        "odd": tmp_path / "odd.json",
        "wrong": tmp_path / "wrong.json",
    }
    ended, _, told = run(*(argument.format(**names) if "{" in argument else argument for argument in arguments))
    assert ended == exit_code
    assert told.startswith(f"error {code}" if code else "error ")
    assert len(told.strip().splitlines()) == 1
    assert run("conversations", "--json")[1] == {"conversations": []}
    assert run("export")[0] == 1, "nothing was stored"


@pytest.mark.parametrize("content", [b"this is no database, and long enough to look like something", b""])
def test_a_file_that_is_no_database_is_told(run: Run, home: Path, content: bytes) -> None:
    home.mkdir()
    (home / "newagent.db").write_bytes(content)
    ended, _, told = run("conversations")
    assert ended == (1 if content else 0)
    assert (home / "newagent.db").read_bytes()[:4] == (content[:4] or b"SQLi")
    assert told.startswith("error ") == bool(content)


def test_a_data_folder_that_cannot_be_made(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NEWAGENT_DATA_DIR", str(tmp_path / "file" / "data"))
    ended, _, told = run("conversations")
    assert ended == 1
    assert told.startswith("error unwritable_data_dir")


@pytest.mark.parametrize(
    ("name", "value"),
    [("NEWAGENT_MAX_ROUNDS", "many"), ("NEWAGENT_LOCALE", "fr"), ("NEWAGENT_DATABASE_URL", "nonsense")],
)
def test_wrong_settings_are_named(run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    ended, _, told = run("conversations")
    assert ended == 1
    assert told.startswith("error ")
    assert len(told.strip().splitlines()) == 1


def test_secrets_are_not_printed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWAGENT_LLM_API_KEY", "sk-very-secret")
    monkeypatch.setenv("NEWAGENT_DATABASE_URL", "mysql+aiomysql://me:hidden-word@db/newagent")
    code, document, _ = run("config", "--json")
    assert code == 0
    assert "very-secret" not in json.dumps(document)
    assert "hidden-word" not in json.dumps(document)
    ended, _, told = run("conversations")
    assert ended == 1
    assert "hidden-word" not in told
