"""Compound edits: many items moved at once to reach one stated goal, exactly, and otherwise at the least cost."""

from newagent.schedule.compound.spread import spread_even
from newagent.schedule.compound.switches import min_context_switch

__all__ = ["min_context_switch", "spread_even"]
