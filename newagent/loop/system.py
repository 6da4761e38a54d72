"""Rounds that nobody asked for: a card that expired, a run that ended, was taken over or handed back.

Each is a pure function from a session to a draft; the journal says which one it was, so that a replay can repeat it.
"""

from __future__ import annotations

from typing import Literal

from newagent.loop.deliver import deliver
from newagent.loop.draft import Bench, Draft
from newagent.state.documents import OutcomeKind, PendingInteraction
from newagent.state.store import Session
from newagent.stream.events import NewEvent
from newagent.texts import say
from newagent.tools.refusal import refuse


def expired(session: Session, bench: Bench, card: PendingInteraction) -> Draft:
    """The expiry of a card: no effect, the waiting call gets its result, the run ends."""
    draft = Draft(session, session.state, kind="system")
    draft.journal["expired"] = {"interaction_id": card.interaction_id}
    payload = {"interaction_id": card.interaction_id, "action": "expire", "source": "expiry"}
    draft.events.append(NewEvent("confirm_result", payload=payload))
    name = card.tool or ("plan_done" if card.kind == "plan" else "ask_user")
    draft.result(card.call_id or "", name, card.arguments or {}, refuse("interaction_expired", "等待确认超时。"))
    draft.consumed = {
        "interaction_id": card.interaction_id,
        "answer": {"action": "expire"},
        "result": {"ok": False, "code": "interaction_expired"},
    }
    draft.update(interaction=None)
    draft.finish("cancelled", "interaction_expired", bench.locale, text=say(bench.locale, "outcome.expired"))
    return draft


def ended(
    session: Session,
    bench: Bench,
    kind: OutcomeKind,
    code: str,
    text: str | None = None,
    internal: str = "",
    by: Literal["user", "system"] = "system",
) -> Draft:
    """The end of a run from outside of it: cancelled, out of budget, abandoned, or failed."""
    draft = Draft(session, session.state, kind=by)
    draft.journal["end"] = {"kind": kind, "code": code, "text": text, "internal": internal}
    draft.finish(kind, code, bench.locale, internal=internal, text=text)
    return draft


def delivered_without_model(session: Session, bench: Bench, code: str, message: str) -> Draft:
    """A delivery whose model failed: it needs none, its facts are computed, and its words fixed."""
    draft = Draft(session, session.state, kind="system")
    draft.journal["model_failed"] = {"code": code, "message": message}
    deliver(draft, bench, "")
    return draft


def taken_over(session: Session, token: int) -> Draft:
    """A new owner of a run; what it was before is noted, and how often nothing came of it."""
    draft = Draft(session, session.state, kind="system")
    draft.journal["takeover"] = {"token": token}
    draft.count(takeovers=session.state.counters.takeovers + 1)
    return draft


def handed_back(session: Session, token: int) -> Draft:
    """A run without an owner, for whoever comes next."""
    draft = Draft(session, session.state, kind="system")
    draft.journal["handed_back"] = {"token": token}
    return draft
