"""The first round of a fork: another conversation as it was after one of its rounds."""

from __future__ import annotations

import datetime as dt
from typing import Any

from newagent.loop.draft import Bench, Draft
from newagent.loop.gate import card_payload
from newagent.state.documents import AgentState
from newagent.state.recording import RecordedRound
from newagent.state.snapshots import read_agent, read_message, read_schedule
from newagent.state.store import Session
from newagent.stream.events import NewEvent


def fork_draft(source: Session, fork: Session, bench: Bench) -> Draft:
    """The draft of the first round of `fork`: all that `source` holds, under the ids and versions of its own."""
    version = 0 if source.schedule is None else 1
    state = _state(source, fork.state, version, bench)
    draft = Draft(fork, state, kind="system", schedule=source.schedule, messages=list(source.messages))
    draft.title = source.title or None
    draft.journal["origin"] = {
        "conversation_id": source.state.conversation_id,
        "version": source.version,
        "state": state.model_dump(mode="json"),
    }
    if source.schedule is not None:
        draft.events.append(NewEvent("schedule_updated", payload={"version": version}))
    card = state.interaction
    if card is not None and card.kind == "question":
        payload = {"interaction_id": card.interaction_id, "question": card.summary, "options": list(card.options)}
        draft.events.append(NewEvent("interrupt", card.summary, payload))
    elif card is not None:
        draft.events.append(NewEvent("confirm_request", card.title, {"confirm": card_payload(card)}))
    return draft


def origin_draft(recorded: RecordedRound, session: Session) -> Draft:
    """The first round of a fork as it was recorded: its first snapshot, which nothing can make again."""
    draft = Draft(session, read_agent(recorded.entry.body["origin"]["state"]), kind="system")
    draft.messages = [read_message(document) for document in recorded.messages]
    draft.schedule = None if recorded.schedule is None else read_schedule(recorded.schedule)
    return draft


def _state(source: Session, own: AgentState, version: int, bench: Bench) -> AgentState:
    """The source's agent state: earlier versions stay behind, what was said of the present one holds of version 1."""
    changes: dict[str, Any] = {"conversation_id": own.conversation_id, "user_id": own.user_id, "undo": ()}
    judgement, card = source.state.judgement, source.state.interaction
    if judgement is not None:
        same = judgement.state_version == source.schedule_version
        changes["judgement"] = judgement.model_copy(update={"state_version": version}) if same else None
    if card is not None:
        fresh = {"interaction_id": bench.runtime.new_id("act"), "state_version": version, "opened_at": bench.now}
        ends = bench.now + dt.timedelta(seconds=bench.budgets.interaction_seconds)
        changes["interaction"] = card.model_copy(update={**fresh, "expires_at": ends})
    return source.state.model_copy(update={**changes, "refused_calls": (), "read_calls": ()})
