"""The demo as its reader sees it, and its document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NEWAGENT_LLM_BASE_URL", "NEWAGENT_LLM_API_KEY", "NEWAGENT_LLM_MODEL", "NEWAGENT_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_the_document_tells_of_a_plan_that_was_confirmed_improved_and_applied(run: Run) -> None:
    code, document, told = run("demo", "--json")
    assert code == 0
    assert document.keys() == {
        *("conversation_id", "rounds", "confirmations", "placed", "pending"),
        *("cost_before", "cost_after", "applied", "model"),
    }
    assert document["pending"] == 0
    assert document["placed"] >= 40
    assert document["confirmations"] >= 2
    assert document["cost_after"] < document["cost_before"]
    assert document["applied"] is True
    assert document["model"] == "newagent-rules"
    assert "第二轮" in told, "the story is told on stderr"


@pytest.mark.parametrize(
    ("locale", "words"),
    [
        (
            "zh",
            ("不是语言模型", "帮我把这些任务排进日程", "自动同意", "请确认", "风险 B", "之前", "之后", "已写入课表"),
        ),
        (
            "en",
            (
                "not a language model",
                "Please schedule",
                "approved automatically",
                "please confirm",
                "risk B",
                "before",
                "after",
            ),
        ),
    ],
)
def test_the_story_is_told_to_a_person(
    run: Run, monkeypatch: pytest.MonkeyPatch, locale: str, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("NEWAGENT_LOCALE", locale)
    code, shown, _ = run("demo")
    assert code == 0
    for word in words:
        assert word in shown
    assert "\x1b[" not in shown, "no colour when it is not a terminal"
    assert "applied: True" in shown
