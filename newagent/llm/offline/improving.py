"""Improving: judge, take the best candidate that the user has not refused, judge again, stop when the judge says so."""

from __future__ import annotations

import re

from newagent.llm.offline.answer import Reply, ask, call, finish
from newagent.llm.offline.facts import Call, CandidateFacts, JudgementFacts, View
from newagent.llm.offline.naming import plain
from newagent.llm.offline.negotiating import negotiate
from newagent.llm.offline.steps import opened, stops
from newagent.llm.offline.texts import say

PATIENCE = 2
"""How many refused candidates in a row before the user is asked whether to go on."""
TUNING = ("move", "swap", "batch_move", "apply_candidate")


def improve(view: View, more: bool) -> Reply:
    """The decision of a round that improves the whole."""
    language, latest = view.language, view.latest
    check = say(language, "check.improve")
    if latest is not None and latest.words and stops(view, latest.words):
        return finish(False, check, say(language, "say.stop"))
    judgement = view.judgement
    if judgement is None:
        if view.failed("analyze_health"):
            return finish(False, check)
        return opened(view, "analyze_health", "mutation", "analyze") or call(
            "analyze_health", say(language, "say.judge")
        )
    if not judgement.feasible:
        return negotiate(view)
    if view.facts.must_close or view.facts.budget.writes < 1:
        return finish(more, check)
    if not worth_going_on(judgement):
        return finish(more, check, _conclusion(view, judgement))
    return _candidate(view, judgement, more)


def worth_going_on(judgement: JudgementFacts) -> bool:
    """Whether the judge says so.

    Where it would first place what is pending, which nobody asked for in this step, its own measure of what is worth
    a change is applied to the best candidate.
    """
    if judgement.should_continue and judgement.recommended == "rough_build":
        best = max((one.benefit for one in judgement.candidates), default=0)
        return best >= max(2, judgement.cost / 50)
    return judgement.should_continue and judgement.recommended in TUNING


def _conclusion(view: View, judgement: JudgementFacts) -> str:
    if judgement.recommended == "ask_user":
        names = [one.name for one in view.facts.classes if one.missing_profile]
        return say(view.language, "say.profile", classes=("、" if view.language == "zh" else ", ").join(names))
    return say(view.language, "say.enough")


def _candidate(view: View, judgement: JudgementFacts, more: bool) -> Reply:
    language = view.language
    refused = _refused(view)
    spent = _spent(view)
    left = _left(judgement, refused)[spent:]
    if not left:
        return finish(more, say(language, "check.improve"), say(language, "say.no_more"))
    if len(refused) >= PATIENCE and view.latest is refused[-1]:
        options = (say(language, "option.more"), say(language, "option.stop"))
        return ask(say(language, "ask.improve"), *options)
    best = left[0]
    key = "say.next_candidate" if refused or spent else "say.candidate"
    said = say(language, key, summary=best.summary)
    return call("apply_candidate", said, candidate_id=best.candidate_id)


def _left(judgement: JudgementFacts, refused: list[Call]) -> list[CandidateFacts]:
    """The improving candidates that were not refused, without those that touch what the reasons name."""
    gone = {one.arguments.get("candidate_id") for one in refused}
    avoided = [name for one in refused for name in _named(one.words)]
    return [
        one
        for one in judgement.candidates
        if one.tool in TUNING
        and one.benefit > 0
        and one.candidate_id not in gone
        and not any(name in plain(one.summary) for name in avoided)
    ]


def _refused(view: View) -> list[Call]:
    """The candidates of the present judgement that the user has refused."""
    judged = max((i for i, one in enumerate(view.calls) if one.name == "analyze_health"), default=-1)
    return [one for one in view.calls[judged + 1 :] if one.name == "apply_candidate" and one.rejected]


def _spent(view: View) -> int:
    """How many candidates at the head of the list the guards have just refused, one after the other."""
    if not view.failed("apply_candidate"):
        return 0
    count = 0
    for failure in reversed(view.failures):
        if not failure.startswith("apply_candidate "):
            break
        count += 1
    return count


def _named(reason: str) -> list[str]:
    """What the reason of a refusal names that shall be left alone: weekdays, quoted names."""
    weekdays = [f"周{letter}" for letter in re.findall(r"(?:周|星期|礼拜)([一二三四五六日])", reason)]
    return weekdays + [plain(name) for name in re.findall(r"[「“\"](.+?)[」”\"]", reason)]
