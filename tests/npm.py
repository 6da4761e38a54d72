"""Packages of npm for the tests, in a folder beside the virtual environment; they are no part of the program."""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(sys.prefix) / "npm"


@functools.cache
def npm_packages(*packages: str) -> Path:
    """The `node_modules` that holds packages, each named with its version: `npm_packages("axe-core@4.10.3")`.

    Skips the test where they cannot be had, and fails it with NEWAGENT_REQUIRE_SERVICES=1.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    modules = FOLDER / "node_modules"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several test processes one installs
        missing = [package for package in packages if not _mark(package).exists()]
        if missing and not _install(missing):
            words = f"tests did not run: npm cannot install {', '.join(missing)}"
            if os.environ.get("NEWAGENT_REQUIRE_SERVICES") == "1":
                pytest.fail(words)
            sys.__stderr__.write(f"\n*** {words} ***\n")  # type: ignore[union-attr]
            pytest.skip(words)
    return modules


def _install(packages: list[str]) -> bool:
    if shutil.which("npm") is None:
        return False
    command = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix", str(FOLDER)]
    # npm removes what is installed and not named, so that all are named each time.
    known = [path.read_text() for path in FOLDER.glob("*.installed")]
    ran = subprocess.run(
        [*command, *known, *packages], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300
    )
    for package in packages if ran.returncode == 0 else ():
        _mark(package).write_text(package)
    return ran.returncode == 0


def _mark(package: str) -> Path:
    return FOLDER / f"{package.replace('/', '+')}.installed"
