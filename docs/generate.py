"""Writes the pages that are made from the code: `python docs/generate.py [--check]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from newagent.tools.registry import load_catalogue

TOOLS = Path(__file__).parent / "backend" / "tools.md"


def tools_page() -> str:
    """The reference of all tools, from their declarations."""
    lines = [
        "# Tools",
        "",
        "Made from the declarations by `make docs`; do not edit. A tool marked w changes something and goes through",
        "the gate; its risk decides what the confirmation shows (A moves tasks, B changes what the student declared,",
        "C touches many, D writes stored data; A may become C by what it touches).",
    ]
    heading = ("", "")
    for tool in load_catalogue():
        if (tool.domain, tool.pack) != heading:
            heading = (tool.domain, tool.pack)
            lines += ["", f"## {tool.domain} / {tool.pack}"]
        lines += ["", f"### {tool.name}{f' (w, risk {tool.risk})' if tool.write else ''}", "", tool.description]
        properties: dict[str, Any] = tool.schema.get("properties", {})
        if properties:
            lines += ["", "| argument | type | required |", "| --- | --- | --- |"]
            required = tool.schema.get("required", [])
            for name, schema in properties.items():
                lines.append(f"| {name} | {kind(schema)} | {'yes' if name in required else ''} |")
    return "\n".join(lines) + "\n"


def kind(schema: dict[str, Any]) -> str:
    """A JSON schema in a few words."""
    if "anyOf" in schema:
        return " or ".join(kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'])}" if "items" in schema else "list"
    low = f" ≥ {schema['minimum']}" if "minimum" in schema else ""
    high = f" ≤ {schema['maximum']}" if "maximum" in schema else ""
    return f"{schema.get('type', 'any')}{low}{high}"


def main() -> int:
    """Writes the pages, or with --check says whether they are up to date."""
    page = tools_page()
    if "--check" in sys.argv:
        return int(not TOOLS.exists() or TOOLS.read_text("utf-8") != page)
    TOOLS.write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
