"""Logs of the commands: on stderr, never on stdout; tracebacks without the values that stood in them."""

from __future__ import annotations

import sys
from typing import Any, Literal

import structlog


def set_up_logs(form: Literal["console", "json"] = "console") -> None:
    """Logs warnings and worse, as lines for a person or as JSON."""
    renderer: Any = structlog.processors.JSONRenderer(ensure_ascii=False)
    if form == "console":
        # Values in a traceback would carry the student's words, and keys.
        plain = structlog.dev.plain_traceback
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper("iso", utc=True),
    ]
    if form == "json":
        shared.append(structlog.processors.format_exc_info)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger("warning"),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
