"""The observers: read-only looks at one side of a timetable. They explain; only the judge decides."""

from newagent.schedule.observers.context import ContextQuery, analyze_context
from newagent.schedule.observers.load import LoadQuery, analyze_load
from newagent.schedule.observers.rhythm import RhythmQuery, analyze_rhythm
from newagent.schedule.observers.subjects import SubjectsQuery, analyze_subjects
from newagent.schedule.observers.tolerance import ToleranceQuery, analyze_tolerance

__all__ = [
    "ContextQuery",
    "LoadQuery",
    "RhythmQuery",
    "SubjectsQuery",
    "ToleranceQuery",
    "analyze_context",
    "analyze_load",
    "analyze_rhythm",
    "analyze_subjects",
    "analyze_tolerance",
]
