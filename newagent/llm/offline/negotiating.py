"""What does not fit: the judge's ways out are the user's to choose from."""

from __future__ import annotations

from newagent.llm.offline.answer import Reply, ask, call, finish
from newagent.llm.offline.facts import View
from newagent.llm.offline.steps import opened
from newagent.llm.offline.texts import say

ACCEPT = "accept_risk_and_close"


def negotiate(view: View) -> Reply:
    """Asks the judge for the ways out, then the user for one of them, then closes as was chosen."""
    language, judgement, latest = view.language, view.judgement, view.latest
    if judgement is None and not view.failed("analyze_health"):
        return opened(view, "analyze_health", "mutation", "analyze") or call(
            "analyze_health", say(language, "say.judge")
        )
    options = judgement.options if judgement is not None else ()
    if latest is not None and latest.name == "ask_user":
        chosen = next((one for one in options if one.summary == latest.words), None)
        if chosen is None or chosen.code == ACCEPT:
            return finish(False, say(language, "relax.closed"), say(language, "relax.closed"))
        return finish(False, chosen.summary, say(language, "relax.choose", option=chosen.summary))
    summaries = [one.summary for one in options] or [say(language, "option.stop")]
    return ask(say(language, "ask.infeasible"), *summaries)
