"""Where Chromium is. Where it is not, root installs it; else the tests that ask are skipped, loudly, or fail."""

from __future__ import annotations

import shutil

from tests.services import require_programs

PROGRAMS = {"chromium": "chromium"}
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def require_chromium() -> str:
    """The path of Chromium. Skips or fails the test where it cannot be had."""
    require_programs(PROGRAMS, "the page")
    program = shutil.which("chromium")
    assert program is not None
    return program
