"""Commands in rough hands: streams that are no UTF-8, steering characters, keys hit in passing, odd settings."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import structlog
from rich.console import Console

from newagent.cli import chat as chat_command
from newagent.cli.chat import Dialogue
from newagent.cli.logs import set_up_logs
from newagent.cli.output import plain, write_document
from newagent.cli.timeline import TimelineView
from newagent.cli.wiring import LOCAL_USER, Service, open_store
from newagent.errors import StoreError
from newagent.llm.mind import Delta, Prompt, Thought
from newagent.loop.agent import Agent, Turn
from newagent.settings import load_settings
from newagent.state.store import Session
from newagent.stream.events import Ephemeral, Event
from tests.loop.bed import FakeRuntime, FunctionMind, ask, call, plan, reply

Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A data folder of its own, whose name is anything but plain."""
    for name in list(os.environ):
        if name.startswith("NEWAGENT_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "a b?c#d%20数据"
    monkeypatch.setenv("NEWAGENT_DATA_DIR", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_data_folder_of_any_name_holds_the_database(run: Run, home: Path) -> None:
    assert run("db", "upgrade", "--json")[0] == 0
    assert (home / "newagent.db").exists()
    assert [entry.name for entry in home.parent.iterdir()] == [home.name]


def test_a_data_folder_in_the_home(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NEWAGENT_DATA_DIR", "~/mine")
    assert run("db", "upgrade")[0] == 0
    assert (tmp_path / "home" / "mine" / "newagent.db").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BUDGETS", "x"),
        ("RUN_SECONDS", "inf"),
        ("RUN_SECONDS", "nan"),
        ("INTERACTION_SECONDS", "1e300"),
        ("MAX_ROUNDS", "0"),
        ("LOG_FORMAT", "xml"),
        ("DATA_DIR", "~nobody-here/x"),
    ],
)
def test_settings_of_nonsense_are_one_line(run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"NEWAGENT_{name}", value)
    ended, document, told = run("config", "--json")
    assert (ended, document["code"]) == (1, "invalid_settings")
    assert len(told.strip().splitlines()) == 1


def test_a_settings_file_that_is_no_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"NEWAGENT_LOCALE=\xff\xfe\n")
    assert run("config", "--json")[1]["code"] == "invalid_settings"


def test_an_empty_setting_is_none(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOCALE", "DATABASE_URL", "LLM_MODEL", "MAX_ROUNDS"):
        monkeypatch.setenv(f"NEWAGENT_{name}", "")
    code, document, _ = run("config", "--json")
    assert (code, document["locale"], document["budgets"]["max_rounds"]) == (0, "zh", 60)


def test_a_model_that_cannot_be_reached(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWAGENT_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("NEWAGENT_LLM_MODEL", "m")
    monkeypatch.setattr("newagent.llm.client.BACKOFF", 0.0)
    code, document, told = run("chat", "-m", "你好", "--json")
    assert code == 1
    assert document["outcome"]["code"] == "model_unavailable"
    assert "model_failed" in told, "the log is on stderr, and standard output holds the document alone"


@pytest.mark.parametrize("encoding", ["ascii"])
def test_terminals_of_any_encoding(encoding: str, home: Path) -> None:
    command = [sys.executable, "-c", "from newagent.cli.app import main; main()", "chat"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(Path(__file__).parents[2])}
    told = subprocess.run(command, env=environment, input=b"hi \xff\xfe\n\n", capture_output=True, check=False)
    assert told.returncode == 0, told.stderr
    assert b"conv_" in told.stdout
    assert b"Traceback" not in told.stderr


def test_a_document_is_json_in_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    stream = io.TextIOWrapper(content, "gbk", errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", stream)
    document = {"name": "课 😀 \udcff"}
    write_document(document)
    stream.flush()
    assert json.loads(content.getvalue().decode("gbk")) == document


def test_nothing_that_is_shown_steers_the_terminal() -> None:
    hostile = "a\x1b[2J\x1b]0;x\x07\r\u202eb\x9b\nc\td"
    out = io.StringIO()
    view = TimelineView(Console(file=out, width=80, force_terminal=True, color_system=None), "zh")
    now = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    confirm = {
        "kind": "write",
        "title": hostile,
        "risk": "A",
        "before": None,
        "after": None,
        "changes": [{"text": hostile}],
    }
    for kind, payload in (
        ("assistant_text", {}),
        ("reasoning", {}),
        ("user_text", {}),
        ("plan", {"steps": [{"content": hostile}]}),
        (
            "tool_result",
            {"tool": {"name": hostile, "status": "done", "summary": hostile, "arguments_preview": hostile}},
        ),
        ("confirm_request", {"confirm": confirm}),
        ("interrupt", {"question": hostile, "options": [hostile]}),
        ("finish", {"outcome": {"code": "x", "kind": "aborted"}}),
    ):
        view.show(Event(1, kind, hostile, payload, "assistant", now))  # type: ignore[arg-type]
    view.show(Ephemeral("assistant_text_delta", "1-text", hostile))
    for steering in "\x1b\x07\r\u202e\x9b":
        assert steering not in out.getvalue()
    assert "\ufffd" in out.getvalue()
    assert plain("课\n\t表\r\n") == "课\n\t表\n"


def test_a_text_that_began_anew_is_shown_once_more_and_not_twice() -> None:
    out = io.StringIO()
    view = TimelineView(Console(file=out, width=80, force_terminal=True, color_system=None), "zh")
    view.show(Ephemeral("assistant_text_delta", "1-text", "旧的"))
    view.show(Ephemeral("assistant_text_delta", "1-text", "", 0, {"display_mode": "replace"}))
    view.show(Ephemeral("assistant_text_delta", "1-text", "新的"))
    view.show(Event(1, "assistant_text", "新的", {}, "assistant", dt.datetime(2026, 3, 1, tzinfo=dt.UTC)))
    assert out.getvalue() == "旧的\n新的\n"


@pytest.mark.parametrize("locale", ["zh", "en"])
@pytest.mark.parametrize("action", ["approve", "reject", "edit", "reply", "cancel", "expire"])
def test_every_answer_has_words(locale: Any, action: str) -> None:
    view = TimelineView(Console(file=io.StringIO()), locale)
    for source in ("user", "standing", "plan", "expiry"):
        payload = {"action": action, "source": source}
        view.show(Event(1, "confirm_result", "", payload, "assistant", dt.datetime(2026, 3, 1, tzinfo=dt.UTC)))


def test_logs_of_faults_show_no_values(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("console", "json"):
        set_up_logs(form)  # type: ignore[arg-type]
        secret = "sk-very-" + "secret"
        try:
            assert int(secret and "x")
        except ValueError:
            structlog.get_logger().exception("failed")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("ValueError") >= 2
    assert "sk-very-secret" not in captured.err


class Lines:
    """A console whose user types prepared lines; None is Ctrl-C."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.shown = Console(file=io.StringIO(), width=200)
        self.heard: list[Any] = []

    def input(self, prompt: str) -> str:
        self.heard.append(signal.getsignal(signal.SIGINT))
        line = self.lines.pop(0) if self.lines else None
        if line is None:
            raise KeyboardInterrupt
        return line

    def print(self, *args: Any, **options: Any) -> None:
        self.shown.print(*args, **options)

    @property
    def text(self) -> str:
        file = self.shown.file
        assert isinstance(file, io.StringIO)
        return file.getvalue()


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    runtime = FakeRuntime()
    async with open_store(load_settings()) as store:
        mind = FunctionMind([])
        view = TimelineView(Console(file=io.StringIO()), "zh")
        yield Service(store, mind, Agent(store, mind, view, runtime))


async def talk(service: Service, lines: Lines, conversation: str | None = None) -> Dialogue:
    view = TimelineView(lines.shown, "zh")
    dialogue = Dialogue(service, lines, view, "zh")  # type: ignore[arg-type]
    await dialogue.run(conversation)
    return dialogue


async def test_an_empty_line_and_odd_lines_leave_the_card_open(service: Service) -> None:
    service.mind.script = [plan("看", "再看"), call("get_overview")]  # type: ignore[attr-defined]
    lines = Lines("看看", "", "  ", "e " + "[" * 100_000, "e {}", "x" * 9000, None)
    dialogue = await talk(service, lines)
    assert dialogue.session is not None
    assert dialogue.session.state.interaction is not None
    assert "message_too_long" in lines.text
    assert lines.text.count("invalid_args") == 2
    assert "会话编号" in lines.text
    assert set(lines.heard) == {signal.default_int_handler}
    assert signal.getsignal(signal.SIGINT) is not None


async def test_a_number_beyond_the_options_is_an_answer(service: Service) -> None:
    digits = "9" * 5000
    service.mind.script = [ask("几点？", "八点"), reply("好")]  # type: ignore[attr-defined]
    dialogue = await talk(service, Lines("看看", digits, None))
    assert dialogue.session is not None
    assert any(digits in m.text for m in dialogue.session.messages if m.role == "result")


async def test_a_store_that_fails_once_does_not_end_the_dialogue(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive, failures = service.agent.drive, 1

    async def failing(session: Session) -> Session:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            raise StoreError("database_busy", "in use")
        return await drive(session)

    monkeypatch.setattr(service.agent, "drive", failing)
    service.mind.script = [reply("在")]  # type: ignore[attr-defined]
    lines = Lines("在吗", "还在吗", None)
    dialogue = await talk(service, lines)
    assert "database_busy" in lines.text
    assert dialogue.session is not None
    assert dialogue.session.messages[-1].text == "在"


class Stuck(FunctionMind):
    """A model that thinks until it is stopped."""

    async def think(self, prompt: Prompt) -> AsyncIterator[Delta | Thought]:
        self.prompts.append(prompt)
        await asyncio.Event().wait()
        yield Delta("text", "")


async def test_ctrl_c_in_the_middle_hands_the_run_back_and_it_goes_on_at_once(service: Service) -> None:
    mind = Stuck([])
    service.agent.mind = mind
    lines = Lines("看看")
    talking = asyncio.create_task(talk(service, lines))
    async with asyncio.timeout(10):
        while not mind.prompts:  # noqa: ASYNC110
            await asyncio.sleep(0)
    talking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await talking
    assert "会话编号" in lines.text
    conversation = (await service.store.list_conversations(LOCAL_USER))[0].conversation_id
    service.agent.mind = FunctionMind([reply("看到了")])
    dialogue = await talk(service, Lines(None), conversation)
    assert dialogue.session is not None
    assert dialogue.session.messages[-1].text == "看到了"


async def test_a_run_of_another_process_is_waited_for_and_taken_over_when_its_lease_is_over(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = service.agent.runtime
    assert isinstance(runtime, FakeRuntime)
    left = await service.agent.begin(LOCAL_USER, None, Turn("看看"))
    slept = 0

    async def sleep(seconds: float) -> None:
        nonlocal slept
        slept += 1
        runtime.time += dt.timedelta(seconds=25)

    monkeypatch.setattr(chat_command.asyncio, "sleep", sleep)
    service.mind.script = [reply("看到了")]  # type: ignore[attr-defined]
    lines = Lines(None)
    dialogue = await talk(service, lines, left.state.conversation_id)
    assert slept == 3
    assert lines.text.count("另一个进程") == 1
    assert dialogue.session is not None
    assert dialogue.session.token == left.token + 1
    assert dialogue.session.messages[-1].text == "看到了"


def test_ids_are_shown_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    said = run("chat", "-m", "你好\x1b[31m", "--json")[1]
    shown = run("conversations")[1]
    assert said["conversation_id"] in shown
    assert "\x1b" not in shown
