"""From a finished answer to a decision, or to the precise fault; and what is sent for it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newagent.llm.assemble import Answer, Assembler, RawCall
from newagent.llm.codec_json import JsonCodec, decision_schema
from newagent.llm.codec_tools import ToolsCodec
from newagent.llm.controls import CONTROLS, control_schemas, inlined
from newagent.llm.decision import Decision, DecisionFault
from newagent.llm.decode import json_object
from newagent.llm.dialects import DIALECTS
from newagent.llm.messages import alternating, native_messages
from newagent.llm.mind import Delta, Prompt, ToolSchema, Words, WorkItem

MOVE = ToolSchema(
    "move",
    "moves a task",
    {"type": "object", "properties": {"task_id": {"type": "integer"}}, "required": ["task_id"]},
    write=True,
)
LOOK = ToolSchema("get_overview", "looks", {"type": "object", "properties": {}})
EXECUTING = Prompt(
    system="rules",
    conversation=(Words("user", "hi"), Words("assistant", "yes?"), Words("user", "move it")),
    work=(WorkItem("c1", "get_overview", {"a": "课"}, "12 tasks"),),
    brief="FACTS {}",
    tools=(MOVE, LOOK),
    controls=("continue", "write", "ask_user", "plan_done", "next_step", "done", "abort"),
)
PLANNING = replace(EXECUTING, tools=(LOOK,), controls=("reply", "continue", "ask_user", "plan_done", "abort"))
DELIVERING = replace(EXECUTING, tools=(), controls=("reply",))
TOOLS, JSON = ToolsCodec(), JsonCodec()


def calls(*pairs: tuple[str, Any], text: str = "") -> Answer:
    return Answer(text, calls=tuple(RawCall(n, a if isinstance(a, str) else json.dumps(a)) for n, a in pairs))


def tools(answer: Answer, prompt: Prompt = EXECUTING) -> Decision | DecisionFault:
    return TOOLS.decode(prompt, answer)[0]


def as_json(document: Any, prompt: Prompt = EXECUTING) -> Decision | DecisionFault:
    text = document if isinstance(document, str) else json.dumps(document)
    return JSON.decode(prompt, Answer(text))[0]


def test_a_write_tool_is_a_write_and_a_read_tool_goes_on() -> None:
    write, read = tools(calls(("move", {"task_id": 3}), text="now")), tools(calls(("get_overview", "")))
    assert isinstance(write, Decision)
    assert isinstance(read, Decision)
    assert (write.action, write.speak, write.tool_call and write.tool_call.arguments) == (
        "write",
        "now",
        {"task_id": 3},
    )
    assert (read.action, read.tool_call and read.tool_call.arguments) == ("continue", {})


def test_an_unknown_tool_is_for_the_guards() -> None:
    found = tools(calls(("fly", {"to": "moon"})))
    assert isinstance(found, Decision)
    assert found.tool_call is not None
    assert (found.action, found.tool_call.name) == ("continue", "fly")


CONTROLLED: list[tuple[str, dict[str, Any], str, Any]] = [
    ("ask_user", {"text": "which?", "options": ["a", "b"]}, "question.options", ("a", "b")),
    ("plan_done", {"steps": [{"content": "look"}], "mode": "global_reopt"}, "plan.mode", "global_reopt"),
    ("plan_done", {"steps": ["look", "move"]}, "plan.steps.1.content", "move"),
    (
        "plan_done",
        {"steps": [{"content": "x", "covers": [{"tool": "rough_build", "task_class_ids": [1]}]}]},
        "plan.steps.0.covers.0.task_class_ids",
        (1,),
    ),
    ("next_step", {"goal_check": "seen"}, "goal_check", "seen"),
    ("done", {"goal_check": "all"}, "goal_check", "all"),
    ("abort", {"user_message": "sorry", "code": "no_way"}, "abort.code", "no_way"),
]


@pytest.mark.parametrize(("name", "arguments", "path", "expected"), CONTROLLED)
def test_control_calls(name: str, arguments: dict[str, Any], path: str, expected: Any) -> None:
    found: Any = tools(calls((name, arguments), text="so"))
    assert (found.action, found.speak) == (name, "so")
    for part in path.split("."):
        found = found[int(part)] if part.isdecimal() else getattr(found, part)
    assert found == expected


BROKEN: list[tuple[str, Answer, str]] = [
    ("no arguments at all", calls(("ask_user", "")), "$.text"),
    ("an empty plan", calls(("plan_done", {"steps": []})), "$.steps"),
    ("nine steps", calls(("plan_done", {"steps": ["s"] * 9})), "$.steps"),
    ("a step without words", calls(("plan_done", {"steps": [{"content": ""}]})), "$.steps[0].content"),
    ("an unknown mode", calls(("plan_done", {"steps": ["s"], "mode": "wild"})), "$.mode"),
    ("no check of the goal", calls(("done", {})), "$.goal_check"),
    ("a field too many", calls(("ask_user", {"text": "?", "colour": "red"})), "$.colour"),
    ("arguments that are a list", calls(("move", "[1]")), "move 的参数不是一个 JSON 对象"),
    ("arguments that are prose", calls(("move", "task three please")), "move 的参数不是一个 JSON 对象"),
    ("no name", calls(("", "{}")), "没有名字"),
    ("nothing", Answer(), "回答是空的"),
    ("only thoughts", Answer(reasoning="hm"), "回答是空的"),
    ("cut off", Answer("half", finish_reason="length"), "被截断"),
    ("endless", Answer("much", finish_reason="endless"), "被截断"),
]


@pytest.mark.parametrize(("answer", "part"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_faults_are_precise(answer: Answer, part: str) -> None:
    found = tools(answer)
    assert isinstance(found, DecisionFault)
    assert part in found.message


def test_a_fault_of_a_call_shows_the_schema() -> None:
    for name in ("ask_user", "move"):
        found = tools(calls((name, "[]")))
        assert isinstance(found, DecisionFault)
        assert '"properties"' in found.message


REPAIRED = [
    ('{"task_id": 3', {"task_id": 3}),
    ('{"task_id": 3,}', {"task_id": 3}),
    ("{'task_id': 3}", {"task_id": 3}),
    ('```json\n{"task_id": 3}\n```', {"task_id": 3}),
    ('the arguments: {"task_id": 3}', {"task_id": 3}),
    ("   ", {}),
]


@pytest.mark.parametrize(("text", "expected"), REPAIRED)
def test_nearly_json_is_repaired(text: str, expected: dict[str, Any]) -> None:
    found = tools(calls(("move", text)))
    assert isinstance(found, Decision)
    assert found.tool_call is not None
    assert found.tool_call.arguments == expected


def test_the_first_call_counts_and_the_others_are_named() -> None:
    decision, others = TOOLS.decode(EXECUTING, calls(("get_overview", {}), ("move", {}), ("done", {})))
    assert isinstance(decision, Decision)
    assert decision.tool_call is not None
    assert (decision.tool_call.name, others) == ("get_overview", ["move", "done"])


def test_plain_words_answer_while_planning_and_go_on_while_executing() -> None:
    said = Answer(" hello ")
    for prompt, action in ((PLANNING, "reply"), (DELIVERING, "reply"), (EXECUTING, "continue")):
        for codec in (TOOLS, JSON) if prompt is DELIVERING else (TOOLS,):
            assert codec.decode(prompt, said)[0] == Decision(action=action, speak="hello")  # type: ignore[arg-type]


IN_TEXT = [
    'I look.\n```json\n{"name": "get_overview", "arguments": {}}\n```',
    'I look. <tool_call>{"name": "get_overview", "arguments": {}}</tool_call>',
    'I look.\n```\n{"tool": "get_overview", "args": {}}\n```',
    'I look. ```json {"tool_call": {"name": "get_overview"}} ```',
    'I look. <tool_call>{"function": {"name": "get_overview", "parameters": "{}"}}</tool_call>',
    'I look. <tool_call>{"name": "get_overview", "arguments": {},}</tool_call>',
]


@pytest.mark.parametrize("text", IN_TEXT)
def test_a_call_that_stands_in_the_text_is_read(text: str) -> None:
    found = tools(Answer(text))
    assert isinstance(found, Decision)
    assert found.tool_call is not None
    assert (found.tool_call.name, found.speak) == ("get_overview", "I look.")


def test_a_control_may_stand_in_the_text_too() -> None:
    found = tools(Answer('{"name": "done", "arguments": {"goal_check": "seen"}}'))
    assert isinstance(found, Decision)
    assert (found.action, found.goal_check, found.speak) == ("done", "seen", "")


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ('Like this: ```json\n{"name": "fly", "arguments": {}}\n```', EXECUTING),
        ('```json\n{"answer": 42}\n```', EXECUTING),
        ('```json\n{"name": "move", "arguments": {}}\n```', PLANNING),
        ('```json\n{"name": "move", "arguments": {}}\n```', DELIVERING),
    ],
)
def test_other_json_in_the_text_is_text(text: str, prompt: Prompt) -> None:
    found = tools(Answer(text), prompt)
    assert isinstance(found, Decision)
    assert (found.tool_call, found.speak) == (None, text)


DOCUMENTS: list[tuple[Any, str, dict[str, Any]]] = [
    ({"speak": "hm", "action": "continue"}, "continue", {"speak": "hm"}),
    ({"action": "write", "tool_call": {"name": "move", "arguments": {"task_id": 1}}}, "write", {}),
    ({"action": "continue", "tool_call": {"name": "move", "arguments": {"task_id": 1}}}, "write", {}),
    ({"speak": "", "tool_call": {"name": "get_overview"}}, "continue", {}),
    ({"action": "get_overview", "arguments": {}}, "continue", {}),
    ({"action": "done", "goal_check": "seen"}, "done", {"goal_check": "seen"}),
    ({"action": "next_step", "goal_check": "seen", "speak": "ok"}, "next_step", {"speak": "ok"}),
    ({"action": "ask_user", "question": {"text": "?", "options": ["a"]}}, "ask_user", {}),
    ({"action": "ask_user", "question": "which?", "options": ["a"]}, "ask_user", {}),
    ({"action": "plan_done", "plan": {"steps": ["a"]}}, "plan_done", {}),
    ({"action": "abort", "speak": "sorry"}, "abort", {"speak": "sorry"}),
    ({"action": "abort", "abort": {"user_message": "sorry"}}, "abort", {}),
    ('Sure:\n```json\n{"speak": "hm", "action": "continue",}\n```', "continue", {"speak": "hm"}),
    ('{"speak": "hm", "action": "continue"', "continue", {"speak": "hm"}),
]


@pytest.mark.parametrize(("document", "action", "fields"), DOCUMENTS)
def test_decisions_as_one_object(document: Any, action: str, fields: dict[str, Any]) -> None:
    found = as_json(document)
    assert isinstance(found, Decision), found
    assert found.action == action
    assert {name: getattr(found, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("document", "part"),
    [
        ("no object here", "不是一个 JSON 对象"),
        ([1, 2], "不是一个 JSON 对象"),
        ({"action": "dance"}, "'dance' 不认识"),
        ({"action": ["reply"]}, "不认识"),
        ({}, "不认识"),
        ({"action": "write"}, "write 需要 tool_call"),
        ({"action": "continue", "speak": " "}, "continue 需要 speak"),
        ({"action": "done"}, "$.goal_check"),
        ({"action": "ask_user"}, "$.text"),
        ({"action": "plan_done", "plan": {}}, "$.steps"),
    ],
)
def test_faults_of_objects_are_precise(document: Any, part: str) -> None:
    found = as_json(document)
    assert isinstance(found, DecisionFault)
    assert part in found.message


def test_a_reply_as_an_object() -> None:
    assert as_json({"speak": "hi", "action": "reply"}, PLANNING) == Decision(action="reply", speak="hi")


def test_native_calls_are_taken_by_the_json_codec_too() -> None:
    found, others = JSON.decode(EXECUTING, calls(("move", {"task_id": 1}), ("done", {})))
    assert isinstance(found, Decision)
    assert (found.action, others) == ("write", ["done"])


def test_the_messages_keep_every_call_with_its_result() -> None:
    request = TOOLS.request(EXECUTING, "m", DIALECTS["openai"])
    roles = [message["role"] for message in request.messages]
    assert roles == ["system", "user", "assistant", "user", "assistant", "tool", "user"]
    made, result = request.messages[4], request.messages[5]
    assert made["tool_calls"][0]["id"] == result["tool_call_id"] == "c1"
    assert json.loads(made["tool_calls"][0]["function"]["arguments"]) == {"a": "课"}
    assert request.messages[-1]["content"] == "FACTS {}"


def test_the_front_stays_byte_for_byte_the_same_as_the_work_grows() -> None:
    later = replace(EXECUTING, work=(*EXECUTING.work, WorkItem("c2", "move", {}, "done")), brief="FACTS {1}")
    one, other = native_messages(EXECUTING), native_messages(later)
    assert json.dumps(one[:6]) == json.dumps(other[:6])
    shown = [TOOLS.request(prompt, "m", DIALECTS["openai"]).tools for prompt in (EXECUTING, later)]
    assert json.dumps(shown[0]) == json.dumps(shown[1])


def test_tools_and_controls_are_offered_and_none_where_only_words_are_wanted() -> None:
    names = [tool["function"]["name"] for tool in TOOLS.request(EXECUTING, "m", DIALECTS["openai"]).tools]
    assert names == ["ask_user", "plan_done", "next_step", "done", "abort", "move", "get_overview"]
    assert TOOLS.request(DELIVERING, "m", DIALECTS["openai"]).tools == ()
    assert JSON.request(DELIVERING, "m", DIALECTS["openai"]).response_format is None


def test_roles_alternate_for_servers_that_run_the_model_s_own_template() -> None:
    prompt = replace(EXECUTING, work=())
    for codec in (TOOLS, JSON):
        roles = [message["role"] for message in codec.request(prompt, "m", DIALECTS["llama.cpp"]).messages]
        assert roles == ["system", "user", "assistant", "user"]
    assert alternating([]) == []


@pytest.mark.parametrize(("name", "kind"), [("openai", "json_schema"), ("deepseek", "json_object")])
def test_the_object_is_constrained_as_far_as_the_dialect_can(name: str, kind: str) -> None:
    request = JSON.request(EXECUTING, "m", DIALECTS[name])
    assert request.response_format is not None
    assert request.response_format["type"] == kind
    system = request.messages[0]["content"]
    assert "move（写）" in system
    assert '"goal_check"' in system
    assert request.tools == ()


def test_no_format_where_the_dialect_has_none() -> None:
    plain = replace(DIALECTS["deepseek"], response_format="none")
    assert JSON.request(EXECUTING, "m", plain).response_format is None


def test_the_schema_of_a_round_knows_its_actions_and_tools() -> None:
    schema = decision_schema(PLANNING)
    assert schema["properties"]["action"]["enum"] == ["reply", "continue", "ask_user", "plan_done", "abort"]
    assert "$ref" not in json.dumps(schema)
    assert [one["properties"]["name"]["const"] for one in schema["properties"]["tool_call"]["anyOf"]] == [
        "get_overview"
    ]
    assert "tool_call" not in decision_schema(replace(PLANNING, tools=()))["properties"]


def test_references_are_filled_in_and_those_that_lead_nowhere_admit_anything() -> None:
    schema = {
        "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}},
        "properties": {"x": {"$ref": "#/$defs/A", "description": "d"}, "y": {"$ref": "#/$defs/B"}, "z": [1]},
    }
    assert inlined(schema) == {
        "properties": {
            "x": {"type": "object", "properties": {"a": {}}, "description": "d"},
            "y": {},
            "z": [1],
        }
    }
    assert "$ref" not in json.dumps(control_schemas(list(CONTROLS)))


@settings(deadline=None, max_examples=50)
@given(st.text() | st.from_regex(r"[\[{\"',:}\]0-9a-z `]*"))
def test_reading_json_never_raises(text: str) -> None:
    assert json_object(text) is None or isinstance(json_object(text), dict)


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "index",
                    "id",
                    "usage",
                    "speak",
                    "action",
                    "plan",
                    "steps",
                    "question",
                    "text",
                    "tool_call",
                    "finish_reason",
                    "message",
                    "prompt_tokens",
                    "reasoning",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=50)
@given(st.lists(JSONISH, max_size=6))
def test_no_stream_of_chunks_breaks_the_assembler_or_the_codecs(chunks: list[Any]) -> None:
    assembler = Assembler()
    for chunk in chunks:
        for piece in assembler.feed(chunk):
            assert isinstance(piece, Delta)
    answer = assembler.answer()
    for codec in (TOOLS, JSON):
        for prompt in (EXECUTING, PLANNING, DELIVERING):
            decision, others = codec.decode(prompt, answer)
            assert isinstance(decision, Decision | DecisionFault)
            assert all(isinstance(one, str) for one in others)


@settings(deadline=None, max_examples=50)
@given(JSONISH, st.sampled_from([EXECUTING, PLANNING]))
def test_no_object_breaks_the_codecs(document: Any, prompt: Prompt) -> None:
    text = json.dumps(document)
    for codec in (TOOLS, JSON):
        assert isinstance(codec.decode(prompt, Answer(f"```json\n{text}\n```"))[0], Decision | DecisionFault)
        for name in ("plan_done", "move", "ask_user"):
            assert isinstance(codec.decode(prompt, calls((name, text)))[0], Decision | DecisionFault)
