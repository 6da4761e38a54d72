"""The one catalogue of texts for students: keys and templates in `locales/zh.toml` and `locales/en.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Locale = Literal["zh", "en"]


@cache
def catalogue(locale: Locale) -> dict[str, str]:
    """All texts of a locale by dotted key."""
    document = tomllib.loads(files("newagent").joinpath("locales", f"{locale}.toml").read_text("utf-8"))
    texts: dict[str, str] = {}
    _flatten("", document, texts)
    return texts


def _flatten(prefix: str, table: dict[str, Any], into: dict[str, str]) -> None:
    for key, value in table.items():
        if isinstance(value, dict):
            _flatten(f"{prefix}{key}.", value, into)  # pyright: ignore[reportUnknownArgumentType]
        else:
            into[prefix + key] = value


def say(locale: Locale, key: str, **values: object) -> str:
    """The text of a key with its values filled in. An unknown key is a programming error: KeyError."""
    return catalogue(locale)[key].format(**values)
