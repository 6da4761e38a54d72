"""Reading and writing the files that commands are given, with one clear error for each thing that can be wrong."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from newagent.cli.output import CommandUsageError
from newagent.errors import InputError
from newagent.schedule.faults import StateFault
from newagent.schedule.model import ScheduleState

STATE_LIMIT = 32 * 1024 * 1024


def read_bytes(path: Path, limit: int) -> bytes:
    """A file's content. Raises `CommandUsageError` when it cannot be read, `InputError` when it is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise CommandUsageError("unreadable_file", f"cannot read {path}: {error.strerror or error}") from None
    if len(content) > limit:
        raise InputError("file_too_large", f"{path} is larger than {limit // 1024 // 1024} MiB")
    return content


def read_document(path: Path) -> Any:
    """A JSON file. Raises `InputError` with invalid_json or file_too_large."""
    content = read_bytes(path, STATE_LIMIT)
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError("invalid_json", f"{path} is not a JSON document: {error}") from None


def read_state(path: Path) -> ScheduleState:
    """A state file. Raises `InputError` with invalid_json, invalid_state or snapshot_too_new."""
    document = read_document(path)
    try:
        return ScheduleState.load(document)
    except StateFault as error:
        raise InputError(error.code, f"{path}: {error.message}", faults=error.faults) from None


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all. Raises `InputError("unwritable_file")`."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            umask = os.umask(0)
            os.umask(umask)
            Path(name).chmod(0o666 & ~umask)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise InputError("unwritable_file", f"cannot write {path}: {error.strerror or error}") from None


def write_json(path: Path, document: Any) -> None:
    """Writes a JSON document whole or not at all."""
    write_whole(path, (json.dumps(document, ensure_ascii=False) + "\n").encode())
