"""The control calls: what a model says to the loop itself, offered to it as tools of the protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from newagent.llm.decision import Abort, Action, Decision, DecisionFault, Plan, Question

SHOWN_SCHEMA = 1500


class GoalCheck(BaseModel):
    """How a step, or the whole, has been achieved."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal_check: str = Field(min_length=1, max_length=2000)


@dataclass(frozen=True)
class Control:
    """A control call: what the model is told of it, the shape of its arguments, and the decision it makes."""

    action: Action
    description: str
    arguments: type[BaseModel]
    fields: Callable[[Any], dict[str, Any]]

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, without references; not to be changed."""
        return inlined(self.arguments.model_json_schema())


CONTROLS: Mapping[str, Control] = {
    "ask_user": Control(
        "ask_user",
        "向学生提一个问题并等待回答；知道可能的答案时给出 options。",
        Question,
        lambda question: {"question": question},
    ),
    "plan_done": Control(
        "plan_done",
        "给出（或修改）计划：1 到 8 个步骤，每步写明做什么和完成标准，以及优化模式和要用的工具包。",
        Plan,
        lambda plan: {"plan": plan},
    ),
    "next_step": Control(
        "next_step",
        "当前步骤完成，进入下一步；goal_check 写明目标如何达成。",
        GoalCheck,
        lambda checked: {"goal_check": checked.goal_check},
    ),
    "done": Control(
        "done",
        "全部完成，进入交付；goal_check 写明目标如何达成。",
        GoalCheck,
        lambda checked: {"goal_check": checked.goal_check},
    ),
    "abort": Control(
        "abort",
        "无法继续时中止：user_message 是给学生的一句话。",
        Abort,
        lambda abort: {"abort": abort},
    ),
}


def control_schemas(names: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """The tool schemas of the controls that a phase allows; plain words need none."""
    return tuple(
        tool_schema(name, CONTROLS[name].description, CONTROLS[name].schema) for name in names if name in CONTROLS
    )


def tool_schema(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A function in the form of the protocol."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": inlined(parameters)},
    }


def control_decision(name: str, arguments: dict[str, Any], speak: str) -> Decision | DecisionFault:
    """The decision of a control call, or what is wrong with its arguments, each fault with its JSON path."""
    control = CONTROLS[name]
    try:
        parsed = control.arguments.model_validate(_near_misses(name, arguments))
    except ValidationError as error:
        return DecisionFault(
            message=f"{name} 的参数不对：{faults_text(error)}。{schema_hint(control.schema)}",
            raw=json.dumps(arguments, ensure_ascii=False)[:2000],
        )
    return Decision(action=control.action, speak=speak, **control.fields(parsed))


def faults_text(error: ValidationError) -> str:
    """The faults of a validation, at most eight, each with its JSON path."""
    lines: list[str] = []
    for fault in error.errors()[:8]:
        path = "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"])
        lines.append(f"{path}：{fault['msg']}")
    return "；".join(lines)


def schema_hint(schema: dict[str, Any]) -> str:
    """The schema for a model that got it wrong, cut where it is long."""
    return f"格式：{json.dumps(schema, ensure_ascii=False, separators=(',', ':'))[:SHOWN_SCHEMA]}"


def _near_misses(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Steps given as bare sentences are steps; nothing else is guessed."""
    steps = arguments.get("steps")
    if name != "plan_done" or not isinstance(steps, list):
        return arguments
    rows = cast("list[object]", steps)
    return {**arguments, "steps": [{"content": step} if isinstance(step, str) else step for step in rows]}


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with its local references filled in: some endpoints and most small models do not follow them.

    A reference that leads nowhere, or back into itself, becomes a schema that admits anything.
    """
    definitions: dict[str, Any] = schema.get("$defs", {})

    def fill(node: Any, within: tuple[str, ...]) -> Any:
        if isinstance(node, dict):
            record = cast("dict[str, Any]", node)
            reference = record.get("$ref")
            if isinstance(reference, str):
                name = reference.rsplit("/", 1)[-1]
                rest = {key: value for key, value in record.items() if key != "$ref"}
                if name in within or name not in definitions:
                    return rest
                return {**fill(definitions[name], (*within, name)), **rest}
            return {key: fill(value, within) for key, value in record.items() if key != "$defs"}
        if isinstance(node, list):
            return [fill(one, within) for one in cast("list[Any]", node)]
        return node

    return fill(schema, ())
