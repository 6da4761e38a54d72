"""Answers to cards: the table of the specification, one branch a row. Faults that leave a card open are raised."""

from __future__ import annotations

import unicodedata
from typing import Any

from newagent.errors import RefusedError
from newagent.loop import gate
from newagent.loop.decide import Decider, start_plan
from newagent.loop.draft import Draft
from newagent.loop.optimise import accepts_risk
from newagent.loop.sound import sound_json, user_text
from newagent.state.documents import Message, PendingInteraction, Resume
from newagent.stream.events import NewEvent
from newagent.tools.base import Tool, ToolResult
from newagent.tools.refusal import refuse

YES = frozenset(["确认", "同意", "可以", "好", "是", "yes", "ok"])
NO = frozenset(["拒绝", "取消", "不", "不要", "no"])
ALLOWED = {
    "plan": ("approve", "reject", "cancel"),
    "write": ("approve", "reject", "edit", "cancel"),
    "question": ("reply", "cancel"),
}


def answer_of_message(card: PendingInteraction, text: str) -> Resume:
    """What a plain message means to an open card: an answer, exactly a word of yes or no, or a rejection with it."""
    word = unicodedata.normalize("NFKC", text).strip().strip("。.!！~ ").casefold()
    if card.kind == "question":
        return Resume(interaction_id=card.interaction_id, action="reply", message=text)
    if word in YES:
        return Resume(interaction_id=card.interaction_id, action="approve")
    if word in NO:
        return Resume(interaction_id=card.interaction_id, action="reject")
    return Resume(interaction_id=card.interaction_id, action="reject", message=text)


def sound_resume(resume: Resume) -> Resume:
    """An answer that can be stored and compared. Raises `RefusedError("invalid_args")`, and what `user_text` raises."""
    message = user_text(resume.message) if resume.message and resume.message.strip() else None
    try:
        arguments = sound_json(resume.arguments)
    except ValueError as error:
        raise RefusedError("invalid_args", f"the arguments cannot be used: {error}") from None
    return resume.model_copy(update={"message": message, "arguments": arguments})


class Answering:
    """Answers the open card of a session; `decider` runs the tools, in a transaction where they write the store."""

    def __init__(self, decider: Decider, card: PendingInteraction) -> None:
        self.decider = decider
        self.bench = decider.bench
        self.card = card

    def check(self, resume: Resume) -> None:
        """Raises `invalid_args` for an answer of another kind; the card stays open."""
        allowed = ALLOWED[self.card.kind]
        if resume.action not in allowed:
            raise RefusedError(
                "invalid_args",
                f"a {self.card.kind} card takes {', '.join(allowed)}, not {resume.action}",
                allowed=allowed,
            )
        if resume.action == "edit" and resume.arguments is None:
            raise RefusedError("invalid_args", "an edit needs the full arguments")
        if resume.action == "reply" and not (resume.message or "").strip():
            raise RefusedError("invalid_args", "a reply needs a message")

    async def answer(self, resume: Resume, words: str | None = None) -> Draft:
        """The draft of a resume round; `words` is the plain message that carried the answer, if one did."""
        self.check(resume)
        draft = Draft(self.decider.session, self.decider.session.state, kind="resume")
        draft.journal["resume"] = resume.model_dump(mode="json", exclude={"type"})
        if words is not None:
            draft.journal["words"] = words
            draft.events.append(NewEvent("user_text", words, role="user"))
        draft.update(interaction=None, phase=self.card.resume_phase)
        match resume.action:
            case "approve":
                await self._approve(draft, resume)
            case "edit":
                await self._edit(draft, resume)
            case "reject":
                self._reject(draft, resume)
            case "reply":
                self._reply(draft, resume)
            case "cancel":
                self._told(draft, "cancel")
                self._result(draft, refuse("cancelled", "用户取消了这一轮。"))
                draft.finish("cancelled", "cancelled", self.bench.locale)
        if words is not None:
            draft.messages.append(Message(role="user", text=words, run_id=draft.state.run_id))
        draft.consumed = {
            "interaction_id": self.card.interaction_id,
            "answer": resume.answer,
            "result": draft.journal.get("tool", {}).get("result") or {"ok": True, "code": resume.action},
        }
        return draft

    def _told(self, draft: Draft, action: str, source: str = "user") -> None:
        payload = {"interaction_id": self.card.interaction_id, "action": action, "source": source}
        draft.events.append(NewEvent("confirm_result", payload=payload))

    def _result(self, draft: Draft, result: ToolResult) -> None:
        """The result of the call that waited for this card."""
        name = self.card.tool or ("plan_done" if self.card.kind == "plan" else "ask_user")
        draft.result(self.card.call_id or "", name, self.card.arguments or {}, result)

    async def _approve(self, draft: Draft, resume: Resume) -> None:
        if self.card.kind == "plan":
            assert self.card.plan is not None
            self._told(draft, "approve")
            self._result(draft, ToolResult(True, "ok", "用户同意了计划，开始执行。"))
            start_plan(draft, self.card.plan, covered=True)
            return
        tool, arguments = self._tool(), self.card.arguments or {}
        result = await self.decider.run(tool, arguments)
        schedule = draft.session.schedule
        now = gate.changes_of(schedule, result, self.bench.locale) if result.ok else ()
        if not result.ok or not gate.same_changes(now, self.card.changes):
            self._told(draft, "approve")
            detail = "" if result.ok else f"：{result.text}"
            self._result(draft, refuse("stale_interaction", f"课表在这之后变了，确认的改动没有执行{detail}"))
            return
        self._permit(draft, tool, resume)
        self._carry_out(draft, tool, arguments, result)

    def _permit(self, draft: Draft, tool: Tool, resume: Resume) -> None:
        if resume.always_allow and self.card.risk in ("A", "C"):
            grants = draft.state.grants
            tools = tuple(dict.fromkeys((*grants.tools, tool.name)))
            draft.update(grants=grants.model_copy(update={"tools": tools}))

    def _carry_out(self, draft: Draft, tool: Tool, arguments: dict[str, Any], result: ToolResult) -> None:
        gate.carry_out(draft, tool, arguments, result, self.card.call_id or "", "user", self.card.interaction_id)
        if draft.state.forced_close:
            draft.update(phase="delivering", optimizing=False)

    async def _edit(self, draft: Draft, resume: Resume) -> None:
        assert resume.arguments is not None
        tool = self._tool()
        result = await self.decider.run(tool, resume.arguments)
        if not result.ok:
            raise RefusedError(result.code, result.text, **result.data)
        self._permit(draft, tool, resume)
        self._carry_out(draft, tool, resume.arguments, result)

    def _tool(self) -> Tool:
        tool = self.bench.catalogue.get(self.card.tool or "")
        if tool is None:
            raise RefusedError("unknown_tool", f"the tool {self.card.tool} is no longer there")
        return tool

    def _reject(self, draft: Draft, resume: Resume) -> None:
        self._told(draft, "reject")
        message = (resume.message or "").strip()
        reason = f"用户拒绝了，理由：{message}" if message else "用户拒绝了，没有给理由。"
        self._result(draft, refuse("rejected", reason, message=message))
        if self.card.kind == "write":
            # A refusal is a reply of the user: a model may end the step on it.
            draft.count(step_evidence=draft.state.counters.step_evidence + 1, plain_text=0)
            return
        revisions = draft.state.counters.revisions + 1
        draft.count(revisions=revisions)
        if revisions > self.bench.budgets.max_revisions:
            draft.finish("exhausted", "revisions_exhausted", self.bench.locale)

    def _reply(self, draft: Draft, resume: Resume) -> None:
        message = (resume.message or "").strip()
        self._told(draft, "reply")
        self._result(draft, ToolResult(True, "ok", f"用户回答：{message}", {"message": message}))
        draft.count(step_evidence=draft.state.counters.step_evidence + 1, plain_text=0)
        if accepts_risk(draft.state, message, draft.session.schedule_version):
            draft.update(phase="delivering", optimizing=False, forced_close="risk_accepted")
