"""The catalogue of tools: found, not listed. A tool is one file below `newagent.tools`, or in another package that
names its module under the entry point group `newagent.tools`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from newagent.tools.base import Arguments, Handler, Needs, Risk, Tool

ENTRY_POINTS = "newagent.tools"


def tool(
    domain: str,
    pack: str,
    arguments: type[Arguments],
    *,
    write: bool = False,
    risk: Risk = "A",
    needs: Needs = "schedule",
    adapt: Callable[[dict[str, Any], Any], dict[str, Any] | None] | None = None,
) -> Callable[[Handler], Tool]:
    """Declares the decorated handler as a tool; its name is the function's, its description the docstring."""

    def declare(handler: Handler) -> Tool:
        name = getattr(handler, "__name__", "").rstrip("_")
        description = " ".join((handler.__doc__ or "").split())
        if not description:
            raise TypeError(f"tool {name} has no description")
        return Tool(name, domain, pack, description, arguments, handler, write, risk, needs, adapt=adapt)

    return declare


class Catalogue:
    """The tools by name, and which domains and packs they make up."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.by_name: dict[str, Tool] = {}
        for one in tools:
            if one.name in self.by_name:
                raise ValueError(f"two tools are called {one.name}")
            self.by_name[one.name] = one

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.by_name.values())

    def get(self, name: str) -> Tool | None:
        """The tool of that name."""
        return self.by_name.get(name)

    @property
    def domains(self) -> Mapping[str, tuple[str, ...]]:
        """The packs of each domain, `core` first, others in order of name."""
        found: dict[str, set[str]] = {}
        for one in self.by_name.values():
            if one.pack != "context":
                found.setdefault(one.domain, set()).add(one.pack)
        return {
            domain: tuple(sorted(packs, key=lambda pack: (pack != "core", pack)))
            for domain, packs in sorted(found.items())
        }


def _modules(package: ModuleType) -> Iterable[ModuleType]:
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield importlib.import_module(info.name)


def _declared(module: ModuleType) -> Iterable[Tool]:
    return (value for value in vars(module).values() if isinstance(value, Tool))


@cache
def load_catalogue() -> Catalogue:
    """Every tool of this package and of the installed packages that offer some."""
    package = importlib.import_module("newagent.tools")
    modules = list(_modules(package))
    modules += [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
    found: dict[str, Tool] = {}
    for module in modules:
        for one in _declared(module):
            if found.get(one.name, one) is not one:
                raise ValueError(f"two tools are called {one.name}")
            found[one.name] = one
    return Catalogue(sorted(found.values(), key=lambda one: (one.domain, one.pack, one.name)))
