"""Delivery: the final check and the summary. Numbers and health are rendered by code from a judgement of this very
state; the model only words the rest, and a fixed text stands alone where it cannot.
"""

from __future__ import annotations

from typing import Any

from newagent.loop.draft import Bench, Draft
from newagent.schedule.judge import analyze_health
from newagent.schedule.model import ScheduleState
from newagent.schedule.rules import state_faults
from newagent.state.documents import OutcomeKind
from newagent.texts import Locale, say


def final_check(schedule: ScheduleState | None, class_ids: tuple[int, ...]) -> list[str]:
    """What does not hold at the end, as stable codes; empty when everything does."""
    if schedule is None:
        return []
    faults = ["illegal"] if state_faults(schedule) else []
    pending = [task for task in schedule.pending if not class_ids or task.task_class_id in class_ids]
    return [*faults, *(["pending_left"] if pending else [])]


def deliver(draft: Draft, bench: Bench, words: str) -> None:
    """Ends a run in order: the model's words, the facts, the outcome."""
    schedule = draft.timetable
    kind: OutcomeKind = "completed"
    code = "delivered"
    failed = final_check(schedule, draft.state.task_class_ids if draft.state.mode == "first_full" else (0,))
    if draft.state.forced_close == "exhausted":
        kind, code = "exhausted", "writes_exhausted"
    elif failed:
        accepted = draft.state.forced_close == "risk_accepted" and "illegal" not in failed
        kind, code = "incomplete", "risk_accepted" if accepted else failed[0]
    facts = facts_text(schedule, draft, bench.locale)
    text = "\n\n".join(part for part in (words.strip(), facts) if part)
    draft.word(text)
    draft.finish(kind, code, bench.locale, internal=draft.state.forced_close)


def facts_text(schedule: ScheduleState | None, draft: Draft, locale: Locale) -> str:
    """What was wrong, what was changed, what is left, and what the student can do, from the judge alone."""
    if schedule is None:
        return ""
    envelope = analyze_health(schedule)
    if not envelope["success"]:
        return ""
    metrics: dict[str, Any] = envelope["metrics"]
    lines = [say(locale, "deliver.pending", pending=metrics["pending"], writes=draft.state.counters.writes)]
    baseline = draft.state.baseline
    if baseline is not None and baseline[0] == metrics["pending"]:
        lines.append(say(locale, "deliver.cost_change", before=baseline[1], after=metrics["cost"]))
    else:
        lines.append(say(locale, "deliver.cost", after=metrics["cost"]))
    warnings = [issue for issue in envelope["issues"] if issue["severity"] != "info"]
    lines.append(say(locale, "deliver.issues", count=len(warnings)))
    if draft.state.forced_close in ("ineffective", "same_signal", "risk_accepted"):
        lines.append(say(locale, f"deliver.{draft.state.forced_close}"))
    lines.append(say(locale, "deliver.next"))
    return "\n".join(lines)
