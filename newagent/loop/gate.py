"""The gate: a legal write becomes a card that waits, or is carried out because something already permits it."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from newagent.loop.card_words import change_text, field_text
from newagent.loop.draft import Bench, Draft
from newagent.loop.optimise import after_write
from newagent.schedule.model import ScheduleState
from newagent.state.documents import AgentState, InteractionKind, PendingInteraction
from newagent.stream.events import NewEvent
from newagent.texts import Locale, say
from newagent.tools.base import Risk, Tool, ToolResult

MANY_DAYS = 2
MANY_TASKS = 3
Source = Literal["user", "standing", "plan", "expiry"]


def risk_of(tool: Tool, result: ToolResult) -> Risk:
    """B and D by declaration; else C for more than two days or three tasks, A otherwise."""
    if tool.risk in ("B", "D"):
        return tool.risk
    days = {slot.day for change in result.changes for slot in (change.before, change.after) if slot is not None}
    tasks = {change.task_id for change in result.changes}
    return "C" if len(days) > MANY_DAYS or len(tasks) > MANY_TASKS else "A"


def changes_of(schedule: ScheduleState | None, result: ToolResult, locale: Locale) -> tuple[dict[str, Any], ...]:
    """The exact changes of a write as the card shows them; what is approved is compared by `same_changes`."""
    moved: list[dict[str, Any]] = []
    shown = result.schedule or schedule
    for change in result.changes:
        assert shown is not None
        task = shown.by_id[change.task_id]
        moved.append({**change.as_json(), "name": task.name, "text": change_text(shown, change, locale)})
    fields = result.data.get("fields", [])
    return (*moved, *({**field, "text": field_text(shown, field, locale)} for field in fields))


def same_changes(one: tuple[dict[str, Any], ...], other: tuple[dict[str, Any], ...]) -> bool:
    """Whether two writes do the same, generated ids and wording aside."""

    def bare(changes: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
        return [{key: value for key, value in change.items() if key not in ("text", "name")} for change in changes]

    return bare(one) == bare(other)


def permission(state: AgentState, tool: Tool, arguments: dict[str, Any], risk: Risk) -> Source | None:
    """What already permits a write: an approved plan that covers it, or a standing permission; None asks the user.

    B and D always ask.
    """
    if risk in ("B", "D"):
        return None
    if covering(state, tool, arguments) is not None:
        return "plan"
    if state.grants.run or tool.name in state.grants.tools:
        return "standing"
    return None


def covering(state: AgentState, tool: Tool, arguments: dict[str, Any]) -> int | None:
    """The index of the cover of an approved plan that permits this call: one `rough_build` of the named classes."""
    for index, cover in enumerate(state.covers):
        if cover.tool == tool.name == "rough_build" and not arguments.get("rebuild"):
            wanted = set(arguments.get("task_class_ids") or ())
            if wanted and wanted <= set(cover.task_class_ids):
                return index
    return None


def open_card(draft: Draft, bench: Bench, kind: InteractionKind, **fields: Any) -> PendingInteraction:
    """Opens an interaction: the run waits. The event that shows it depends on its kind."""
    opened = bench.now
    card = PendingInteraction(
        interaction_id=bench.runtime.new_id("act"),
        kind=kind,
        state_version=draft.session.schedule_version,
        resume_phase=draft.state.phase,
        opened_at=opened,
        expires_at=opened + dt.timedelta(seconds=bench.budgets.interaction_seconds),
        **fields,
    )
    draft.update(interaction=card, phase="waiting")
    if kind == "question":
        payload = {"interaction_id": card.interaction_id, "question": card.summary, "options": list(card.options)}
        draft.events.append(NewEvent("interrupt", card.summary, payload))
    else:
        draft.events.append(NewEvent("confirm_request", card.title, {"confirm": card_payload(card)}))
    return card


def card_payload(card: PendingInteraction) -> dict[str, Any]:
    """A card as the timeline shows it."""
    shown = (
        "interaction_id",
        "kind",
        "title",
        "summary",
        "risk",
        "changes",
        "before",
        "after",
        "arguments",
        "arguments_schema",
        "expires_at",
    )
    payload = {name: value for name, value in card.model_dump(mode="json").items() if name in shown}
    payload["tool"] = card.tool
    payload["options"] = list(card.options)
    if card.plan is not None:
        payload["plan"] = card.plan.model_dump(mode="json")
    return payload


def write_card(
    draft: Draft, bench: Bench, tool: Tool, arguments: dict[str, Any], result: ToolResult, call_id: str
) -> None:
    """Opens the card of a legal write."""
    risk = risk_of(tool, result)
    judged: dict[str, Any] = result.data.get("judge") or {}
    changes = changes_of(draft.session.schedule, result, bench.locale)
    options = ["approve", "reject", "edit", "cancel"]
    if risk in ("A", "C"):
        options.insert(3, "always_allow")
    open_card(
        draft,
        bench,
        "write",
        title=say(bench.locale, "card.write", tool=tool_words(tool.name, bench.locale), count=len(changes)),
        summary=result.text,
        risk=risk,
        changes=changes,
        before=judged.get("before"),
        after=judged.get("after"),
        tool=tool.name,
        arguments=arguments,
        arguments_schema=tool.schema,
        call_id=call_id,
        options=tuple(options),
    )


def tool_words(name: str, locale: Locale) -> str:
    """The name of a write as a person reads it."""
    try:
        return say(locale, f"tool.{name}")
    except KeyError:
        return name


def carry_out(
    draft: Draft,
    tool: Tool,
    arguments: dict[str, Any],
    result: ToolResult,
    call_id: str,
    source: Source,
    interaction_id: str,
) -> None:
    """Takes over the effect of a permitted write: the new schedule, its result, and what the run has used.

    What is told of it offers the way back: `undo` is the schedule version that it was written over.
    """
    draft.adopt(result)
    if result.schedule is not None and result.schedule is not draft.session.schedule:
        if tool.needs == "store":
            # What was written into the timetable is a fact now; no earlier preview may come back over it.
            draft.update(undo=())
        elif tool.name != "undo_last":
            draft.update(undo=(*draft.state.undo[-49:], draft.session.schedule_version))
        draft.schedule = result.schedule
    told: dict[str, Any] = {"interaction_id": interaction_id, "action": "approve", "source": source, "tool": tool.name}
    if draft.schedule is not None and tool.needs != "store":
        told["undo"] = draft.session.schedule_version
    draft.events.append(NewEvent("confirm_result", payload=told))
    draft.result(call_id, tool.name, arguments, result)
    if draft.schedule is not None:
        draft.events.append(NewEvent("schedule_updated", payload={"version": draft.version}))
    writes = dict(draft.state.counters.task_writes)
    for change in result.changes:
        writes[str(change.task_id)] = writes.get(str(change.task_id), 0) + 1
    counters = draft.state.counters
    draft.count(
        writes=counters.writes + 1,
        task_writes=writes,
        step_evidence=counters.step_evidence + 1,
        step_failures=0,
        plain_text=0,
    )
    if source == "plan":
        index = covering(draft.state, tool, arguments)
        if index is not None:
            covers = draft.state.covers
            draft.update(covers=(*covers[:index], *covers[index + 1 :]))
    judged = result.data.get("judge")
    if tool.name == "set_preferences" and judged:
        draft.update(baseline=(judged["after"]["pending"], judged["after"]["cost"]))
        draft.count(ineffective=0, same_signal=0)
    after_write(draft, tool.name, result.data)
