"""The icalendar library's parsers of lines and times, behind types that can be checked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, cast

import icalendar
from icalendar.parser import Contentline

_DDD: Any = icalendar.vDDDTypes


def split_line(line: str) -> tuple[str, Mapping[str, str]]:
    """The unescaped value of a content line and its parameters. Raises ValueError."""
    _, parameters, value = Contentline(line).parts()
    texts = cast("Mapping[str, object]", parameters)
    return value.strip(), {key.upper(): text for key, text in texts.items() if isinstance(text, str)}


def parse_moment(text: str) -> dt.datetime | dt.date | dt.timedelta:
    """A date, a time (in UTC if it says so, else without zone) or a duration. Raises ValueError."""
    try:
        value = _DDD.from_ical(text.strip().upper())
    except (TypeError, AttributeError, LookupError, ArithmeticError) as error:
        raise ValueError(str(error)) from None
    if isinstance(value, (dt.date, dt.timedelta)):
        return value
    raise ValueError(f"{text!r} is neither a date nor a duration")
