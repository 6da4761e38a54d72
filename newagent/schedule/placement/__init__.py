"""Placement: puts every pending item of some classes into the timetable, or tells exactly why that is impossible."""

from newagent.schedule.placement.build import NODES, feasibility, rough_build
from newagent.schedule.placement.relaxations import relax
from newagent.schedule.placement.report import PlacementReport

__all__ = ["NODES", "PlacementReport", "feasibility", "relax", "rough_build"]
