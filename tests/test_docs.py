"""What the documentation says is so: generated pages are current, links lead somewhere, commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from newagent.cli.app import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def test_generated_pages_are_current() -> None:
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], check=False, cwd=ROOT)
    assert done.returncode == 0, "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_targets_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    commands = set(COMMANDS)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    blocks = (
        "\n".join(re.findall(r"```\n(.*?)```", text, re.DOTALL)) + "\n" + "\n".join(re.findall(r"`([^`\n]+)`", text))
    )
    for name in re.findall(r"^newagent ([a-z]+)", blocks, re.MULTILINE):
        assert name in commands, f"{page.name} names newagent {name}"
    for name in re.findall(r"^make ([a-z]+)", blocks, re.MULTILINE):
        assert name in targets, f"{page.name} names make {name}"
