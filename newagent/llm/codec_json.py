"""The codec of models without tool calls: a decision is one JSON object."""

from __future__ import annotations

import json
from typing import Any, cast

from newagent.llm.assemble import Answer, RawCall
from newagent.llm.client import ChatRequest
from newagent.llm.codec_tools import as_text, broken, call_of, decode_call, spoken
from newagent.llm.controls import CONTROLS, inlined
from newagent.llm.decision import Decision, DecisionFault
from newagent.llm.decode import embedded_objects, json_object
from newagent.llm.dialects import Dialect
from newagent.llm.messages import alternating, plain_messages
from newagent.llm.mind import Prompt
from newagent.llm.speech import SpokenField

RAW = 2000
WORDS_ONLY = frozenset({"reply", "continue"})
CALLING = frozenset({"continue", "write"})


class JsonCodec:
    """Asks for an object with `speak` first, so that it can be shown while the rest arrives."""

    def listener(self, prompt: Prompt) -> SpokenField | Words:
        """What shows the words of an answer; where only words are wanted they come as such."""
        return SpokenField() if wants_object(prompt) else Words()

    def request(self, prompt: Prompt, model: str, dialect: Dialect) -> ChatRequest:
        """What to send: the schema constrains the output where the dialect can, and stands in the rules anyway."""
        if not wants_object(prompt):
            messages = plain_messages(prompt, "")
            return ChatRequest(model=model, messages=alternating(messages), thinking=prompt.thinking)
        schema = decision_schema(prompt)
        format_: dict[str, Any] | None = None
        if dialect.response_format == "json_schema":
            format_ = {"type": "json_schema", "json_schema": {"name": "decision", "schema": schema}}
        elif dialect.response_format == "json_object":
            format_ = {"type": "json_object"}
        return ChatRequest(
            model=model,
            messages=alternating(plain_messages(prompt, rules(prompt, schema))),
            response_format=format_,
            thinking=prompt.thinking,
        )

    def decode(self, prompt: Prompt, answer: Answer) -> tuple[Decision | DecisionFault, list[str]]:
        """The decision of an answer. Never raises."""
        fault = broken(answer)
        if fault is not None:
            return fault, []
        if not wants_object(prompt):
            return spoken(prompt, answer.text.strip()), []
        if answer.calls:
            return decode_call(prompt, answer.calls[0], answer.text.strip()), [call.name for call in answer.calls[1:]]
        document = json_object(answer.text) or next((value for _, value in embedded_objects(answer.text)), None)
        if document is None:
            return DecisionFault(message=f"回答不是一个 JSON 对象。{shape(prompt)}", raw=answer.text[:RAW]), []
        return decision_of(prompt, document), []


class Words:
    """A listener that shows everything."""

    def feed(self, piece: Any) -> list[Any]:
        """The piece itself."""
        return [piece]


def wants_object(prompt: Prompt) -> bool:
    """Whether anything but words can be decided."""
    return bool(prompt.tools) or any(control not in WORDS_ONLY for control in prompt.controls)


def actions_of(prompt: Prompt) -> list[str]:
    """The actions of this round, `write` only where there is something to write with."""
    writes = any(tool.write for tool in prompt.tools)
    return [one for one in prompt.controls if one != "write" or writes]


def decision_schema(prompt: Prompt) -> dict[str, Any]:
    """The JSON schema of this round's decision: the fields in the order in which they are best written."""
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": inlined(tool.parameters)},
            "required": ["name", "arguments"],
        }
        for tool in prompt.tools
    ]
    properties: dict[str, Any] = {
        "speak": {"type": "string"},
        "action": {"enum": actions_of(prompt)},
        "goal_check": {"type": "string"},
    }
    if calls:
        properties["tool_call"] = {"anyOf": calls}
    for action, field in (("ask_user", "question"), ("plan_done", "plan"), ("abort", "abort")):
        if action in prompt.controls:
            properties[field] = CONTROLS[action].schema
    return {"type": "object", "properties": properties, "required": ["speak", "action"]}


def rules(prompt: Prompt, schema: dict[str, Any]) -> str:
    """The format in words, with the tools and the schema."""
    tools = "\n".join(f"- {tool.name}{'（写）' if tool.write else ''}：{tool.description}" for tool in prompt.tools)
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return (
        f"输出格式：只输出一个 JSON 对象，不要写别的。{shape(prompt)}\n工具：\n{tools or '（无）'}\nJSON schema：{text}"
    )


def shape(prompt: Prompt) -> str:
    """The format in one line."""
    return (
        "speak 是说给学生的话（可为空）；action 是 "
        + "|".join(actions_of(prompt))
        + " 之一；调用工具写 tool_call {name, arguments}；next_step 和 done 写 goal_check；"
        "ask_user 写 question {text, options}；plan_done 写 plan {steps, mode, context_hook}；abort 写 abort。"
    )


def decision_of(prompt: Prompt, document: dict[str, Any]) -> Decision | DecisionFault:
    """The decision of an object: by its action, else by what it carries."""
    speak = document.get("speak")
    speak = speak.strip() if isinstance(speak, str) else ""
    action = document.get("action")
    call = call_of(document)
    if action is None and call is not None:
        action = "continue"
    if action not in ("reply", "continue", "write", *CONTROLS):
        known = call_of({"name": action, "arguments": document.get("arguments", {})})
        offered = {tool.name for tool in prompt.tools}
        if known is None or action not in offered:
            return DecisionFault(message=f"action {action!r} 不认识。{shape(prompt)}", raw=as_text(document)[:RAW])
        call, action = known, "continue"
    if action in CALLING and call is not None:
        return decode_call(prompt, call, speak)
    if action in CONTROLS:
        return decode_call(prompt, RawCall(str(action), as_text(_control_fields(str(action), document))), speak)
    if action == "write":
        return DecisionFault(message=f"write 需要 tool_call。{shape(prompt)}", raw=as_text(document)[:RAW])
    if not speak:
        return DecisionFault(message=f"{action} 需要 speak。{shape(prompt)}", raw=as_text(document)[:RAW])
    return Decision(action="reply" if action == "reply" else "continue", speak=speak)


def _control_fields(action: str, document: dict[str, Any]) -> dict[str, Any]:
    field = {"ask_user": "question", "plan_done": "plan", "abort": "abort"}.get(action)
    if field is None:
        return {"goal_check": document.get("goal_check", "")}
    inner = document.get(field)
    if isinstance(inner, dict):
        return cast("dict[str, Any]", inner)
    if isinstance(inner, str) and action == "ask_user":
        return {"text": inner, "options": document.get("options", [])}
    if action == "abort" and isinstance(document.get("speak"), str):
        return {"user_message": document["speak"]}
    return {}
