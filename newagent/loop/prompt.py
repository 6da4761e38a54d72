"""The prompt of a round, built from the session by pure functions: rules, conversation, work, brief."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from newagent.llm.mind import Prompt
from newagent.loop import work
from newagent.loop.draft import Bench
from newagent.loop.guards import CONTROLS
from newagent.schedule.model import ScheduleState
from newagent.state.documents import AgentState
from newagent.state.store import Session
from newagent.tools.visibility import visible

PROMPT_VERSION = 1


@cache
def rule_text(name: str) -> str:
    """A rule text by its file name, without the ending."""
    return files("newagent.loop").joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


def system_text(state: AgentState) -> str:
    """Part 0: who the agent is, the rules of the phase, and the packs for the active domains and mode."""
    packs = [rule_text(domain) for domain in sorted(state.active) if has_rules(domain)]
    if state.phase == "executing" and state.mode in ("first_full", "global_reopt"):
        packs.append(rule_text("optimise"))
    return "\n\n".join([rule_text("identity"), rule_text(state.phase), *packs])


@cache
def has_rules(domain: str) -> bool:
    """Whether a domain brings a rule text."""
    return files("newagent.loop").joinpath("prompts", f"{domain}.md").is_file()


def build_prompt(session: Session, bench: Bench) -> Prompt:
    """The four parts for the session as it stands; it must be planning, executing or delivering."""
    state = session.state
    tools = [] if state.phase == "delivering" else [schema for _, schema in visible(bench.catalogue, state)]
    first_round = state.counters.rounds == 0
    return Prompt(
        system=system_text(state),
        conversation=work.conversation(session.messages),
        work=work.work(session.messages, state.run_id),
        brief=brief_text(session, bench),
        tools=tuple(tools),
        controls=CONTROLS[state.phase],
        thinking=first_round,
        role="strategist" if state.phase == "planning" else "worker",
    )


def brief_text(session: Session, bench: Bench) -> str:
    """Part 3: goal, phase, step, budget, failures in words; the same in one line of JSON after `FACTS`."""
    state = session.state
    lines = [
        f"现在是 {bench.now.date().isoformat()}（UTC）。",
        f"学生这次的要求：{state.goal}",
    ]
    plan = state.plan
    if plan is not None and state.phase == "executing":
        step = plan.steps[min(state.step, len(plan.steps) - 1)]
        lines.append(
            f"第 {state.step + 1}/{len(plan.steps)} 步：{step.content}（完成标准：{step.done_when or '目标达成'}）"
        )
    said = work.said(session.messages)
    if said:
        lines.append("你刚说过：" + " / ".join(said))
    failures = work.failures(session.messages, state.run_id)
    if failures:
        lines.append("最近的失败：")
        lines += failures
    if state.counters.step_failures >= 3:
        lines.append("这一步已连续失败三次：请换做法，或用 plan_done 修改剩下的计划。")
    # Sorted: a session that was read back from the store says the same, byte for byte.
    shown = json.dumps(facts(session, bench), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    lines.append("FACTS " + shown)
    return "\n".join(lines)


def facts(session: Session, bench: Bench) -> dict[str, Any]:
    """The facts of the brief; the shape is the contract with every model, the offline one included."""
    state, schedule, budgets = session.state, session.schedule, bench.budgets
    last = next((m for m in reversed(session.messages) if m.role == "result" and m.run_id == state.run_id), None)
    return {
        "phase": state.phase,
        "locale": bench.locale,
        "mode": state.mode,
        "goal": state.goal,
        "step": state.step + 1,
        "steps": [step.model_dump(include={"content", "done_when"}) for step in state.plan.steps] if state.plan else [],
        "optimizing": state.optimizing,
        **_schedule_facts(schedule),
        "order_may_change": state.order_may_change,
        "judgement": _judgement_facts(session),
        "last": {"tool": last.tool, "ok": last.ok, "code": last.code} if last else None,
        "answer": _answer(session),
        "budget": {
            "rounds": budgets.max_rounds - state.counters.rounds,
            "writes": budgets.max_writes - budgets.repair_reserve - state.counters.writes,
        },
        "active": [f"{domain}.{pack}" for domain, packs in sorted(state.active.items()) for pack in ("core", *packs)],
        "must_close": state.forced_close,
    }


def _schedule_facts(schedule: ScheduleState | None) -> dict[str, Any]:
    if schedule is None:
        return {"classes": [], "window": None, "pending": 0, "placed": 0, "preferences": {}}
    days = schedule.window.days
    classes: list[dict[str, Any]] = []
    for task_class in schedule.task_classes:
        items = schedule.items_of[task_class.id]
        pending = sum(task.status == "pending" for task in items)
        classes.append(
            {
                "id": task_class.id,
                "name": task_class.name,
                "items": len(items),
                "placed": len(items) - pending,
                "pending": pending,
                "missing_profile": list(task_class.missing_profile),
            }
        )
    return {
        "classes": classes,
        "window": {
            "days": len(days),
            "first": days[0].date.isoformat(),
            "last": days[-1].date.isoformat(),
            "sections": schedule.window.sections,
            "weeks": [days[0].week, days[-1].week],
            "periods": {name: list(span) for name, span in schedule.window.periods.items()},
        },
        "pending": len(schedule.pending),
        "placed": sum(task.status == "suggested" for task in schedule.items),
        "preferences": schedule.preferences.model_dump(mode="json", exclude_unset=True),
    }


def _judgement_facts(session: Session) -> dict[str, Any] | None:
    judgement = session.state.judgement
    if judgement is None:
        return None
    current = judgement.state_version == session.schedule_version
    return {
        "current": current,
        "pending": judgement.pending,
        "cost": judgement.cost,
        "should_continue": judgement.should_continue,
        "can_close": judgement.can_close,
        "feasible": judgement.feasible,
        "recommended": judgement.recommended,
        "candidates": [
            {key: candidate[key] for key in ("candidate_id", "tool", "summary", "benefit")}
            for candidate in (judgement.candidates if current else ())
        ],
        "options": list(judgement.relaxations) if current else [],
    }


def _answer(session: Session) -> str | None:
    """The user's latest reply to a question, or the reason of a rejection, in this run."""
    for message in reversed(session.messages):
        if message.run_id != session.state.run_id:
            return None
        if message.role == "result" and message.tool == "ask_user" and message.ok:
            return message.text.removeprefix("用户回答：")
        if message.role == "result" and message.code == "rejected":
            return message.text.removeprefix("用户拒绝了，理由：")
    return None
