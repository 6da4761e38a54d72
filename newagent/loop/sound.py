"""What users and models send, made fit to be stored and shown: text that UTF-8 can carry, JSON of a bounded size.

A model can write anything into its answer: half of a surrogate pair, numbers that JSON does not know, lists nested a
thousand deep, a name as long as a book. What can be kept is kept; an answer whose arguments cannot is a fault.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

from newagent.errors import InputError
from newagent.llm.decision import Decision, DecisionFault
from newagent.llm.mind import Thought

MOST_WORDS = 40_000
MOST_REASONING = 200_000
MOST_ARGUMENTS = 60_000
MOST_NESTED = 32
MOST_BITS = 256
MOST_NAME = 80
MOST_MESSAGE = 8000


def sound_text(text: str, most: int = MOST_WORDS) -> str:
    """The text with U+FFFD for each half of a surrogate pair that has lost the other, cut to `most` characters."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text if len(text) <= most else text[: most - 1] + "…"


def user_text(text: str) -> str:
    """A message of the user. Raises `InputError` with empty_message or message_too_long."""
    if not text.strip():
        raise InputError("empty_message", "the message is empty")
    if len(text) > MOST_MESSAGE:
        raise InputError("message_too_long", f"a message has at most {MOST_MESSAGE} characters", limit=MOST_MESSAGE)
    return sound_text(text)


def sound_json(value: Any) -> Any:
    """A JSON value with sound text and finite numbers. Raises ValueError, and says why, where it is beyond measure."""
    return _sound(value, MOST_NESTED, [MOST_ARGUMENTS])


def _sound(value: Any, depth: int, room: list[int]) -> Any:
    if depth < 0:
        raise ValueError(f"nested more than {MOST_NESTED} deep")
    room[0] -= len(value) + 2 if isinstance(value, str) else 2
    if room[0] < 0:
        raise ValueError(f"longer than {MOST_ARGUMENTS} characters")
    match value:
        case str():
            return sound_text(value, MOST_ARGUMENTS)
        case bool() | None:
            return value
        case int() if value.bit_length() > MOST_BITS:
            raise ValueError("a number is too large")
        case float() if not math.isfinite(value):
            raise ValueError("NaN and Infinity are no JSON")
        case dict():
            items = cast("dict[Any, Any]", value).items()
            return {_sound(str(key), depth, room): _sound(held, depth - 1, room) for key, held in items}
        case list() | tuple():
            return [_sound(held, depth - 1, room) for held in cast("list[Any]", value)]
        case _:
            return value


def sound_thought(thought: Thought) -> Thought:
    """A thought that can be stored; a decision whose arguments cannot be is a `DecisionFault` instead."""
    return replace(
        thought,
        result=_sound_result(thought.result),
        text=sound_text(thought.text),
        reasoning=sound_text(thought.reasoning, MOST_REASONING),
        model=sound_text(thought.model, MOST_NAME),
        raw=_sound_raw(thought.raw),
    )


def _sound_result(result: Decision | DecisionFault) -> Decision | DecisionFault:
    if isinstance(result, DecisionFault):
        return DecisionFault(message=sound_text(result.message, 2000), raw=sound_text(result.raw, 2000))
    call = result.tool_call
    words = {name: sound_text(getattr(result, name)) for name in ("speak", "reason", "goal_check")}
    rest = result.model_dump(exclude={*words, "tool_call"}, exclude_none=True)
    try:
        arguments = sound_json(call.arguments) if call else None
        document: dict[str, Any] = {**sound_json(rest), **words}
    except ValueError as error:
        return DecisionFault(message=f"the arguments cannot be used: {error}")
    if call is not None:
        document["tool_call"] = {"name": sound_text(call.name, MOST_NAME), "arguments": arguments}
    return Decision.model_validate(document)


def _sound_raw(raw: dict[str, Any]) -> dict[str, Any]:
    try:
        return sound_json(raw)
    except ValueError as error:
        return {"unusable": str(error)}
