"""One recorded round made again, by the very functions that made it: only the world answers from the journal."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

from newagent.errors import NotFoundError
from newagent.loop.answers import Answering
from newagent.loop.decide import Decider, Earlier
from newagent.loop.draft import Bench, Draft
from newagent.loop.preview import Placement, acted_draft, stash_draft, undo_draft
from newagent.loop.prompt import build_prompt
from newagent.loop.replay.origin import origin_draft
from newagent.loop.system import delivered_without_model, ended, expired, handed_back, taken_over
from newagent.loop.thinking import prompt_hash, thought_of
from newagent.loop.turn import take_turn
from newagent.loop.world import RecordedWorld
from newagent.schedule.model import ScheduleState
from newagent.settings import Budgets
from newagent.state.documents import AgentState, Resume
from newagent.state.recording import RecordedRound, Recording
from newagent.state.snapshots import read_schedule
from newagent.state.store import Session
from newagent.tools.registry import Catalogue

Schedules = Mapping[int, ScheduleState]


class RecordedRuntime:
    """The clock and the ids that a round drew. Raises `LookupError` where it draws others."""

    def __init__(self, now: dt.datetime, drawn: list[str]) -> None:
        self._now = now
        self._drawn = list(drawn)

    def now(self) -> dt.datetime:
        """See `Runtime.now`."""
        return self._now

    def new_id(self, prefix: str) -> str:
        """See `Runtime.new_id`."""
        if not self._drawn or not self._drawn[0].startswith(f"{prefix}_"):
            raise LookupError(f"the round draws an id {prefix}_…, which it did not")
        return self._drawn.pop(0)


def beginning(recording: Recording) -> Session:
    """The session before the first round."""
    state = AgentState(conversation_id=recording.conversation_id, user_id=recording.user_id)
    return Session(0, 0, None, state, (), None, 0, 0)


def after(session: Session, draft: Draft) -> Session:
    """The session after a round."""
    return replace(
        session,
        version=session.version + 1,
        state=draft.state,
        messages=(*session.messages, *draft.messages),
        schedule=draft.timetable,
        schedule_version=draft.version,
        last_seq=session.last_seq + len(draft.events),
        title=draft.title or session.title,
    )


def bench_of(recorded: RecordedRound, session: Session, catalogue: Catalogue) -> Bench:
    """The bench that a round was made on."""
    body = recorded.entry.body
    now = dt.datetime.fromisoformat(body["now"])
    stored = None if recorded.schedule is None else read_schedule(recorded.schedule)
    return Bench(
        catalogue,
        # Settings of the present environment are none of the recording's business.
        Budgets.model_construct(**body.get("budgets", {})),
        body["locale"],
        RecordedRuntime(now, body.get("drawn", [])),
        now,
        RecordedWorld(body.get("world", []), session.schedule, stored),
    )


async def repeat(recorded: RecordedRound, session: Session, catalogue: Catalogue, schedules: Schedules) -> Draft:
    """The draft of a recorded round, made again. Raises `LookupError` and ValueError where it cannot be."""
    bench, body = bench_of(recorded, session, catalogue), recorded.entry.body
    if "origin" in body:
        return origin_draft(recorded, session)
    if "turn" in body:
        asked = body["turn"]
        ids, always = tuple(asked["task_class_ids"]), asked["always_execute"]
        return await take_turn(session, bench, None, asked["text"], ids, always)
    decider = Decider(bench, session, None, _earlier(schedules))
    match recorded.entry.kind:
        case "model":
            draft = await decider.decide(thought_of(body))
            draft.spend(body["spent_ms"])
            return draft
        case "resume":
            if session.state.interaction is None:
                raise LookupError("the round answers a card, and none is open")
            answering = Answering(decider, session.state.interaction)
            return await answering.answer(Resume.model_validate(body["resume"]), body.get("words"))
        case "user":
            return await _by_hand(recorded, session, decider, schedules)
        case _:
            return _system(recorded, session, bench)


def same_prompt(recorded: RecordedRound, session: Session, catalogue: Catalogue) -> bool:
    """Whether a model round would be shown the same prompt today; a newer version may word it otherwise."""
    body = recorded.entry.body
    if body.get("built_on") != session.schedule_version:
        return True
    return prompt_hash(build_prompt(session, bench_of(recorded, session, catalogue))) == body["prompt_hash"]


async def _by_hand(recorded: RecordedRound, session: Session, decider: Decider, schedules: Schedules) -> Draft:
    body = recorded.entry.body
    draft: Draft | None = None
    if "act" in body:
        name, arguments = body["act"]["tool"], body["act"]["arguments"]
        result = await decider.run(decider.bench.catalogue.by_name[name], arguments)
        draft = acted_draft(session, name, arguments, result)
    elif "stash" in body:
        items = [Placement(**item) for item in body["stash"]["items"]]
        draft = stash_draft(session, body["stash"]["version"], items)
    elif "undo" in body:
        version = body["undo"]["version"]
        draft = undo_draft(session, version, schedules[version])
    elif "end" in body:
        end = body["end"]
        draft = ended(session, decider.bench, end["kind"], end["code"], end["text"], end["internal"], by="user")
    if draft is None:
        raise LookupError("the round changes nothing, which it did")
    return draft


def _system(recorded: RecordedRound, session: Session, bench: Bench) -> Draft:
    body = recorded.entry.body
    if "expired" in body and session.state.interaction is not None:
        return expired(session, bench, session.state.interaction)
    if "takeover" in body:
        return taken_over(session, body["takeover"]["token"])
    if "handed_back" in body:
        return handed_back(session, body["handed_back"]["token"])
    if "model_failed" in body:
        failed = body["model_failed"]
        return delivered_without_model(session, bench, failed["code"], failed["message"])
    end = body["end"]
    return ended(session, bench, end["kind"], end["code"], end["text"], end["internal"])


def _earlier(schedules: Schedules) -> Earlier:
    async def at(version: int) -> ScheduleState:
        if version not in schedules:
            raise NotFoundError("version_not_found", f"the conversation has no schedule version {version}")
        return schedules[version]

    return at
