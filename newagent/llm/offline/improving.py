"""Improving: judge, take the best candidate that the user has not refused, judge again, stop when the judge says so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from newagent.llm.offline.answer import Reply, ask, call, finish
from newagent.llm.offline.facts import Call, View
from newagent.llm.offline.intents import understand
from newagent.llm.offline.naming import plain
from newagent.llm.offline.planning import opened
from newagent.llm.offline.texts import say

PATIENCE = 2
TUNED = ("move", "swap", "batch_move", "apply_candidate")


def improve(view: View, more: bool) -> Reply:
    """The decision of a round that improves the whole."""
    language = view.language
    stopped = _stop_words(view)
    if stopped:
        return finish(False, say(language, "check.improve"), say(language, "say.stop"))
    judgement = view.judgement
    if judgement is None:
        if view.failed("analyze_health"):
            return finish(False, say(language, "check.improve"))
        return opened(view, "analyze_health", "mutation", "analyze") or call(
            "analyze_health", say(language, "say.judge"), "the timetable has changed, so the judge is asked"
        )
    if not judgement["feasible"]:
        return _infeasible(view, judgement)
    if view.facts.get("must_close") or (view.facts.get("budget") or {}).get("writes", 1) < 1:
        return finish(more, say(language, "check.improve"))
    if not worth_going_on(judgement):
        return _closed(view, judgement, more)
    return _candidate(view, judgement, more)


def worth_going_on(judgement: Mapping[str, Any]) -> bool:
    """Whether the judge says so. Where it would place what is pending first, which nobody asked for here, its own
    measure is applied to the best candidate."""
    if judgement["should_continue"] and judgement["recommended"] == "rough_build":
        best = max((int(one["benefit"]) for one in judgement["candidates"]), default=0)
        return best >= max(2, int(judgement["cost"]) / 50)
    return bool(judgement["should_continue"]) and judgement["recommended"] in TUNED


def _stop_words(view: View) -> bool:
    last = view.calls[-1] if view.calls else None
    if last is None or not last.words:
        return False
    return last.words == say(view.language, "option.stop") or understand(last.words, view.classes).kind == "stop"


def _closed(view: View, judgement: Mapping[str, Any], more: bool) -> Reply:
    language = view.language
    text = say(language, "say.enough")
    if judgement["recommended"] == "ask_user":
        names = [one["name"] for one in view.classes if one["missing_profile"]]
        text = say(language, "say.profile", classes="、".join(names) if language == "zh" else ", ".join(names))
    return finish(more, say(language, "check.improve"), text)


def _infeasible(view: View, judgement: Mapping[str, Any]) -> Reply:
    language = view.language
    last = view.calls[-1] if view.calls else None
    if last is not None and last.name == "ask_user":
        option = next((one for one in judgement["options"] if one["summary"] == last.words), None)
        if option is None or option["code"] == "accept_risk_and_close":
            return finish(False, say(language, "relax.closed"), say(language, "relax.closed"))
        return finish(False, last.words, say(language, "relax.choose", option=last.words))
    options = [str(option["summary"]) for option in judgement["options"]] or [say(language, "option.stop")]
    return ask(say(language, "ask.infeasible"), *options, why="infeasible: the user chooses")


def _candidate(view: View, judgement: Mapping[str, Any], more: bool) -> Reply:
    language = view.language
    refused = _refused(view)
    offered: Sequence[Mapping[str, Any]] = [
        one
        for one in judgement["candidates"]
        if one["tool"] in TUNED and one["candidate_id"] != "close" and one["benefit"] > 0
    ]
    left = [
        one for one in offered if one["candidate_id"] not in {str(c.arguments.get("candidate_id")) for c in refused}
    ]
    left = left[_spent(view) :]
    avoided = [phrase for one in refused for phrase in _named(one.words)]
    left = [one for one in left if not any(phrase in plain(str(one["summary"])) for phrase in avoided)]
    last = view.calls[-1] if view.calls else None
    asked = last is not None and last.name == "ask_user"
    if not left:
        return finish(more, say(language, "check.improve"), say(language, "say.no_more"))
    if len(refused) >= PATIENCE and not asked:
        return ask(say(language, "ask.improve"), say(language, "option.more"), say(language, "option.stop"))
    key = "say.next_candidate" if refused else "say.candidate"
    summary = str(left[0]["summary"])
    return call(
        "apply_candidate",
        say(language, key, summary=summary),
        "the largest benefit",
        candidate_id=left[0]["candidate_id"],
    )


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
    """What the reason of a refusal names that is not to be touched: quoted names, weekdays."""
    return re.findall(r"周[一二三四五六日]", reason) + [
        plain(name) for name in re.findall(r"[「“\"](.+?)[」”\"]", reason)
    ]
