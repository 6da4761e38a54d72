"""Which tools the model sees: the active domains and packs, the phase, and the narrow set of active optimisation."""

from __future__ import annotations

from newagent.llm.mind import ToolSchema
from newagent.state.documents import AgentState, Phase
from newagent.tools.base import Tool
from newagent.tools.registry import Catalogue

DEFAULT_PACKS = {"schedule": ("mutation", "analyze")}
OPTIMISING = frozenset(
    {
        "context_tools_add",
        "context_tools_remove",
        "analyze_health",
        "move",
        "swap",
        "batch_move",
        "apply_candidate",
    }
)
ORDER_BREAKING = frozenset({"min_context_switch"})


def default_packs(domain: str) -> tuple[str, ...]:
    """The packs that come with a domain when none is named, besides `core`."""
    return DEFAULT_PACKS.get(domain, ())


def is_active(tool: Tool, state: AgentState) -> bool:
    """Whether the domain and pack of a tool are switched on; context tools always are."""
    if tool.pack == "context":
        return True
    packs = state.active.get(tool.domain)
    if packs is None or (tool.name in ORDER_BREAKING and not state.order_may_change):
        return False
    if state.optimizing and tool.name not in OPTIMISING:
        return False
    return tool.pack == "core" or tool.pack in packs


def phase_allows(tool: Tool, phase: Phase) -> bool:
    """Planning only reads; executing does everything; the other phases call no tool."""
    return phase == "executing" or (phase == "planning" and not tool.write)


def visible(catalogue: Catalogue, state: AgentState) -> list[tuple[Tool, ToolSchema]]:
    """The tools to offer in this state with the schemas that fit it, in a stable order."""
    shown: list[tuple[Tool, ToolSchema]] = []
    for tool in catalogue:
        if is_active(tool, state) and phase_allows(tool, state.phase):
            schema = tool.schema_for(state)
            if schema is not None:
                shown.append((tool, ToolSchema(tool.name, tool.description, schema, tool.write)))
    return shown
