"""The codec of models with tool calls: a decision is a native call, or a call as JSON in the text, or plain words."""

from __future__ import annotations

import json
from typing import Any, cast

from newagent.llm.assemble import Answer, RawCall
from newagent.llm.client import ChatRequest
from newagent.llm.controls import CONTROLS, control_decision, control_schemas, schema_hint, tool_schema
from newagent.llm.decision import Decision, DecisionFault, ToolCall
from newagent.llm.decode import embedded_objects, json_object
from newagent.llm.dialects import Dialect
from newagent.llm.messages import alternating, native_messages
from newagent.llm.mind import Prompt
from newagent.llm.speech import Speech

RAW = 2000
CUT_OFF = ("length", "endless")


class ToolsCodec:
    """Asks with tools, reads calls."""

    def request(self, prompt: Prompt, model: str, dialect: Dialect) -> ChatRequest:
        """What to send: no tools at all where only words are wanted."""
        messages = native_messages(prompt)
        tools = (
            *control_schemas(prompt.controls),
            *(tool_schema(tool.name, tool.description, tool.parameters) for tool in prompt.tools),
        )
        return ChatRequest(
            model=model,
            messages=alternating(messages) if dialect.alternate_roles else messages,
            tools=tools,
            thinking=prompt.thinking,
        )

    def listener(self, prompt: Prompt) -> Speech:
        """What shows the words of an answer while it arrives."""
        del prompt
        return Speech()

    def decode(self, prompt: Prompt, answer: Answer) -> tuple[Decision | DecisionFault, list[str]]:
        """The decision of an answer, and the names of the calls after the first. Never raises."""
        fault = broken(answer)
        if fault is not None:
            return fault, []
        text, calls = answer.text.strip(), answer.calls
        if not calls:
            text, calls = calls_in_text(prompt, text)
        if not calls:
            return spoken(prompt, text), []
        others = [call.name for call in calls[1:]]
        return decode_call(prompt, calls[0], text), others


def broken(answer: Answer) -> DecisionFault | None:
    """Whether an answer is unusable as a whole: cut off, or empty."""
    if answer.finish_reason in CUT_OFF:
        return DecisionFault(message="回答太长，被截断了：请只说一件事，只给一个调用。", raw=answer.text[:RAW])
    if not answer.calls and not answer.text.strip():
        return DecisionFault(message="回答是空的：请说一段话，或给出一个调用。", raw=answer.reasoning[:RAW])
    return None


def spoken(prompt: Prompt, text: str) -> Decision:
    """Plain words: an answer to the user where the phase has one, else a remark on the way."""
    return Decision(action="reply" if "reply" in prompt.controls else "continue", speak=text)


def decode_call(prompt: Prompt, call: RawCall, speak: str) -> Decision | DecisionFault:
    """The decision of one call. Whether the tool exists and may be used now is the guards' question."""
    name = call.name.strip()
    offered = {tool.name: tool for tool in prompt.tools}
    schema = offered[name].parameters if name in offered else CONTROLS[name].schema if name in CONTROLS else None
    if not name:
        return DecisionFault(message="调用没有名字。", raw=call.arguments[:RAW])
    arguments: dict[str, Any] | None = json_object(call.arguments) if call.arguments.strip() else {}
    if arguments is None:
        hint = schema_hint(schema) if schema else ""
        return DecisionFault(message=f"{name} 的参数不是一个 JSON 对象。{hint}", raw=call.arguments[:RAW])
    if name in CONTROLS and name not in offered:
        return control_decision(name, arguments, speak)
    write = name in offered and offered[name].write
    return Decision(
        action="write" if write else "continue", speak=speak, tool_call=ToolCall(name=name, arguments=arguments)
    )


def calls_in_text(prompt: Prompt, text: str) -> tuple[str, tuple[RawCall, ...]]:
    """Calls that a small model wrote as JSON into its text, and the text without them.

    Only objects that name an offered tool or control count; any other JSON is just text.
    """
    if not prompt.tools and not any(name in CONTROLS for name in prompt.controls):
        return text, ()
    known = {tool.name for tool in prompt.tools} | {name for name in prompt.controls if name in CONTROLS}
    calls: list[RawCall] = []
    for source, value in embedded_objects(text):
        call = call_of(value)
        if call is not None and call.name in known:
            calls.append(call)
            text = text.replace(source, "", 1)
    return text.strip(), tuple(calls)


def call_of(value: dict[str, Any]) -> RawCall | None:
    """A call from a JSON object in one of the shapes that models use for it."""
    for key in ("tool_call", "function_call", "function"):
        inner = value.get(key)
        if isinstance(inner, dict):
            return call_of(cast("dict[str, Any]", inner))
    name = value.get("name") or value.get("tool") or value.get("function") or value.get("tool_name")
    if not isinstance(name, str):
        return None
    for key in ("arguments", "parameters", "args", "input"):
        if key in value:
            return RawCall(name, as_text(value[key]))
    return RawCall(name, "{}")


def as_text(arguments: object) -> str:
    """Arguments as JSON text, whether they came as an object or as text."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
