"""From a thought to a round: one function for each action, all on a `Draft`, none of them storing anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from newagent.llm.decision import Decision, DecisionFault, Plan, ToolCall
from newagent.llm.mind import Thought
from newagent.loop import gate, guards, optimise
from newagent.loop.deliver import deliver
from newagent.loop.draft import Bench, Draft, call_digest
from newagent.schedule.model import ScheduleState
from newagent.state.store import Session, Timetable
from newagent.stream.events import NewEvent, block_id
from newagent.texts import say
from newagent.tools.base import Tool, ToolContext, ToolResult
from newagent.tools.refusal import refuse
from newagent.tools.visibility import default_packs

Earlier = Callable[[int], Awaitable[ScheduleState]]


class Decider:
    """Turns thoughts into drafts for one session. `timetable` is a transaction to try or to carry out writes in."""

    def __init__(self, bench: Bench, session: Session, timetable: Timetable | None, earlier: Earlier) -> None:
        self.bench = bench
        self.session = session
        self.timetable = timetable
        self.earlier = earlier

    async def decide(self, thought: Thought) -> Draft:
        """The draft of a model round."""
        draft = Draft(self.session, self.session.state)
        draft.count(
            rounds=draft.state.counters.rounds + 1,
            takeovers=0,
            tokens=draft.state.counters.tokens + thought.usage.prompt_tokens + thought.usage.completion_tokens,
        )
        if thought.reasoning:
            block = {"block_id": block_id(draft.session.version + 1, "reasoning")}
            draft.events.append(NewEvent("reasoning", thought.reasoning, block))
        if draft.state.phase == "delivering":
            deliver(draft, self.bench, thought.text if isinstance(thought.result, Decision) else "")
            return draft
        if isinstance(thought.result, DecisionFault):
            self._undecodable(draft, thought.result)
            return draft
        decision = thought.result
        fault = guards.action_fault(decision, draft.state.phase)
        if fault is None:
            invalid = draft.state.counters.invalid
            await self._act(draft, decision)
            if draft.state.counters.invalid == invalid:
                draft.count(invalid=0)
            self._other_calls(draft, thought)
        elif decision.action == "reply":
            draft.count(invalid=0)
            self._plain_text(draft, decision)
        else:
            draft.word(decision.speak)
            self._fault(draft, decision.action, fault)
            self._invalid(draft)
        return draft

    async def _act(self, draft: Draft, decision: Decision) -> None:
        match decision.action:
            case "reply":
                draft.word(decision.speak)
                draft.finish("completed", "replied", self.bench.locale, text="")
            case "abort":
                abort = decision.abort
                draft.word(abort.user_message if abort else decision.speak)
                draft.finish(
                    "aborted",
                    abort.code if abort else "model_abort",
                    self.bench.locale,
                    internal=abort.internal_reason if abort else decision.reason,
                    text=abort.user_message if abort else None,
                )
            case "ask_user":
                self._ask(draft, decision)
            case "plan_done":
                self._plan(draft, decision)
            case "next_step" | "done":
                self._step_done(draft, decision)
            case "continue" | "write":
                if decision.tool_call is None:
                    self._plain_text(draft, decision)
                else:
                    draft.word(decision.speak)
                    await self._call(draft, decision.tool_call)

    def _undecodable(self, draft: Draft, fault: DecisionFault) -> None:
        self._fault(draft, "decision", refuse(fault.code, fault.message, raw=fault.raw[:500]))
        self._invalid(draft)

    def _fault(self, draft: Draft, name: str, result: ToolResult, arguments: dict[str, Any] | None = None) -> None:
        """Something that is no tool call went wrong: kept as a call and its result, so that pairs stay whole."""
        call_id = self.bench.runtime.new_id("call")
        draft.call(call_id, name, arguments or {})
        draft.result(call_id, name, arguments or {}, result)
        draft.count(step_failures=draft.state.counters.step_failures + 1)

    def _invalid(self, draft: Draft) -> None:
        invalid = draft.state.counters.invalid + 1
        draft.count(invalid=invalid)
        if invalid >= self.bench.budgets.max_invalid:
            draft.finish(
                "aborted", "invalid_model_output", self.bench.locale, text=self._say("outcome.invalid_model_output")
            )

    def _other_calls(self, draft: Draft, thought: Thought) -> None:
        """Further calls of the same answer are answered, not carried out: one call a round."""
        if draft.state.phase not in ("planning", "executing"):
            return
        for extra in thought.raw.get("other_calls", []):
            call_id = self.bench.runtime.new_id("call")
            name = str(extra.get("name", ""))[:80]
            draft.call(call_id, name, {})
            draft.result(call_id, name, {}, refuse("one_call_a_round", "每轮只执行一个调用，这一个没有执行。"))

    def _plain_text(self, draft: Draft, decision: Decision) -> None:
        draft.word(decision.speak)
        plain = draft.state.counters.plain_text + 1
        draft.count(plain_text=plain)
        if draft.state.phase == "executing" and plain >= 2:
            self._step_done(draft, decision.model_copy(update={"action": "done", "goal_check": decision.speak}))

    def _ask(self, draft: Draft, decision: Decision) -> None:
        question = decision.question
        if question is None:
            self._fault(draft, "ask_user", refuse("invalid_args", "ask_user 需要问题的内容。"))
            self._invalid(draft)
            return
        draft.word(decision.speak)
        call_id = self.bench.runtime.new_id("call")
        arguments = question.model_dump(mode="json")
        draft.call(call_id, "ask_user", arguments)
        gate.open_card(
            draft,
            self.bench,
            "question",
            title=self._say("card.question"),
            summary=question.text,
            options=question.options,
            call_id=call_id,
            arguments=arguments,
        )

    def _plan(self, draft: Draft, decision: Decision) -> None:
        plan = decision.plan
        if plan is None:
            self._fault(draft, "plan_done", refuse("invalid_args", "plan_done 需要 1 到 8 个步骤。"))
            self._invalid(draft)
            return
        fault = self._hook_fault(plan)
        if fault is not None:
            self._fault(draft, "plan_done", fault, plan.model_dump(mode="json"))
            return
        draft.word(decision.speak)
        draft.events.append(NewEvent("plan", payload={"steps": [s.model_dump(mode="json") for s in plan.steps]}))
        call_id = self.bench.runtime.new_id("call")
        arguments = plan.model_dump(mode="json")
        draft.call(call_id, "plan_done", arguments)
        if len(plan.steps) == 1:
            draft.result(call_id, "plan_done", arguments, ToolResult(True, "ok", "计划只有一步，直接执行。"))
            start_plan(draft, plan, covered=False)
        elif draft.state.grants.run:
            draft.events.append(
                NewEvent("confirm_result", payload={"interaction_id": "", "action": "approve", "source": "standing"})
            )
            draft.result(call_id, "plan_done", arguments, ToolResult(True, "ok", "计划已按长期许可通过，开始执行。"))
            start_plan(draft, plan, covered=True)
        else:
            gate.open_card(
                draft,
                self.bench,
                "plan",
                title=self._say("card.plan", count=len(plan.steps)),
                summary="\n".join(f"{i}. {step.content}" for i, step in enumerate(plan.steps, 1)),
                plan=plan,
                call_id=call_id,
                arguments=arguments,
                options=("approve", "reject", "cancel"),
            )

    def _hook_fault(self, plan: Plan) -> ToolResult | None:
        hook = plan.context_hook
        if hook is None:
            return None
        packs = self.bench.catalogue.domains.get(hook.domain)
        if packs is None:
            return refuse("invalid_domain", f"没有工具域 {hook.domain}。")
        unknown = [pack for pack in hook.packs or () if pack not in packs or pack == "core"]
        return refuse("invalid_pack", f"{hook.domain} 没有可选的工具包 {unknown}。") if unknown else None

    def _step_done(self, draft: Draft, decision: Decision) -> None:
        fault = guards.evidence_fault(decision, draft.state)
        if fault is not None:
            self._fault(draft, decision.action, fault)
            return
        if decision.action != "done" or decision.speak != decision.goal_check:
            draft.word(decision.speak)
        plan, step = draft.state.plan, draft.state.step
        call_id = self.bench.runtime.new_id("call")
        arguments = {"goal_check": decision.goal_check}
        draft.call(call_id, decision.action, arguments)
        last = plan is None or step + 1 >= len(plan.steps)
        if decision.action == "done" or last:
            draft.result(call_id, decision.action, arguments, ToolResult(True, "ok", "全部步骤结束，进入交付。"))
            draft.update(phase="delivering", optimizing=False)
        else:
            draft.result(call_id, decision.action, arguments, ToolResult(True, "ok", f"第 {step + 1} 步完成。"))
            judgement = draft.state.judgement
            settled = judgement is not None and (judgement.can_close or not judgement.should_continue)
            draft.update(step=step + 1, optimizing=draft.state.optimizing and not settled)
        draft.count(step_evidence=0, step_failures=0, plain_text=0)

    async def _call(self, draft: Draft, call: ToolCall) -> None:
        tool = self.bench.catalogue.get(call.name)
        call_id = self.bench.runtime.new_id("call")
        draft.call(call_id, call.name, call.arguments)
        draft.count(plain_text=0)
        fault = guards.call_fault(
            tool, call.name, call.arguments, draft.state, self.bench.catalogue, self.session.schedule_version
        )
        if fault is None:
            assert tool is not None
            if tool.write:
                fault = guards.write_fault(tool, call.arguments, draft.state, self.session.schedule_version)
        if fault is not None or tool is None:
            assert fault is not None
            draft.refused(call_id, call.name, call.arguments, fault)
            draft.journal.setdefault("guards", []).append(fault.code)
            return
        result = await self.run(tool, call.arguments)
        if tool.write:
            self._write(draft, tool, call.arguments, result, call_id)
        elif result.ok:
            self._read(draft, tool, call.arguments, result, call_id)
        else:
            draft.refused(call_id, tool.name, call.arguments, result)

    async def run(self, tool: Tool, arguments: dict[str, Any]) -> ToolResult:
        """Runs a tool on the session as it is; nothing is taken over."""
        context = ToolContext(
            schedule=self.session.schedule,
            state=self.session.state,
            schedule_version=self.session.schedule_version,
            timetable=self.timetable,
            now=self.bench.now,
            earlier=self.earlier,
        )
        return await self.bench.world.run(tool, arguments, context)

    def _read(self, draft: Draft, tool: Tool, arguments: dict[str, Any], result: ToolResult, call_id: str) -> None:
        judged_before = draft.state.judgement
        draft.adopt(result)
        draft.result(call_id, tool.name, arguments, result)
        counters = draft.state.counters
        draft.count(step_failures=0)
        if tool.pack != "context":
            draft.count(step_evidence=counters.step_evidence + 1)
            digest = call_digest(tool.name, arguments, self.session.schedule_version)
            draft.update(read_calls=(*draft.state.read_calls[-40:], digest))
        if result.state is not None and result.state.judgement is not self.session.state.judgement:
            optimise.after_judgement(draft, judged_before)
            self._close_if_forced(draft)

    def _write(self, draft: Draft, tool: Tool, arguments: dict[str, Any], result: ToolResult, call_id: str) -> None:
        if not result.ok:
            draft.refused(call_id, tool.name, arguments, result)
            return
        if result.schedule is None or (not result.changes and not result.data.get("fields")):
            # Nothing would change (an empty build, closing the optimisation): there is nothing to ask for.
            draft.adopt(result)
            draft.result(call_id, tool.name, arguments, result)
            draft.count(step_evidence=draft.state.counters.step_evidence + 1, step_failures=0, plain_text=0)
            return
        fault = guards.task_budget_fault(tool, result, draft.state, self.bench.budgets)
        if fault is not None:
            draft.refused(call_id, tool.name, arguments, fault)
            return
        if draft.state.counters.writes >= self.bench.budgets.max_writes - self.bench.budgets.repair_reserve:
            draft.refused(call_id, tool.name, arguments, refuse("writes_exhausted", "本轮的写操作次数已用完。"))
            draft.update(phase="delivering", optimizing=False, forced_close="exhausted")
            return
        source = gate.permission(draft.state, tool, arguments, gate.risk_of(tool, result))
        if source is None:
            gate.write_card(draft, self.bench, tool, arguments, result, call_id)
        else:
            gate.carry_out(draft, tool, arguments, result, call_id, source, "")
            self._close_if_forced(draft)

    def _close_if_forced(self, draft: Draft) -> None:
        if draft.state.forced_close and draft.state.phase == "executing":
            draft.update(phase="delivering", optimizing=False)

    def _say(self, key: str, **values: object) -> str:
        return say(self.bench.locale, key, **values)


def start_plan(draft: Draft, plan: Plan, covered: bool) -> None:
    """Begins to execute a plan: its mode and tools take effect; covers only if the user has approved it."""
    active = dict(draft.state.active)
    hook = plan.context_hook
    if hook is not None:
        packs = default_packs(hook.domain) if hook.packs is None else hook.packs
        active[hook.domain] = tuple(dict.fromkeys((*active.get(hook.domain, ()), *packs)))
    draft.update(
        phase="executing",
        plan=plan,
        step=0,
        mode=plan.mode,
        optimizing=draft.state.optimizing and plan.mode == draft.state.mode,
        active=active,
        covers=tuple(cover for step in plan.steps for cover in step.covers) if covered else (),
        interaction=None,
    )
    draft.count(step_evidence=0, step_failures=0, plain_text=0)
