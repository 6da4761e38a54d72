"""The single judge of a timetable."""

from newagent.schedule.judge.health import analyze_health, judge_delta

__all__ = ["analyze_health", "judge_delta"]
