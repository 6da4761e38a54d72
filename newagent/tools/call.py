"""Running one call: arguments checked, time limited, every failure turned into a result."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import jsonschema
import structlog
from pydantic import ValidationError

from newagent.errors import NewAgentError
from newagent.tools.base import TEXT_LIMIT, Arguments, Tool, ToolContext, ToolResult
from newagent.tools.refusal import refuse

log = structlog.get_logger(__name__)


def check_arguments(tool: Tool, arguments: dict[str, Any]) -> Arguments | ToolResult:
    """The arguments as the tool's own type, or `invalid_args` with the JSON path of every fault."""
    validator = jsonschema.Draft202012Validator(tool.schema)
    faults = [
        {"path": error.json_path, "message": error.message[:300]}
        for error in sorted(validator.iter_errors(arguments), key=lambda error: error.json_path)  # pyright: ignore[reportUnknownMemberType]
    ]
    if not faults:
        try:
            return tool.arguments.model_validate(arguments)
        except ValidationError as error:
            for fault in error.errors():
                path = "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in fault["loc"])
                faults.append({"path": path, "message": fault["msg"]})
    lines = [f"{fault['path']}：{fault['message']}" for fault in faults[:8]]
    return refuse("invalid_args", f"{tool.name} 的参数不对：" + "；".join(lines), faults=faults)


async def run_tool(tool: Tool, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
    """Runs a tool. Never raises, but for cancellation: a fault of any kind is a result with a stable code."""
    checked = check_arguments(tool, arguments)
    if isinstance(checked, ToolResult):
        return checked
    if (tool.needs in ("session", "store") and context.state is None) or (
        tool.needs == "store" and context.timetable is None
    ):
        return refuse("needs_session", f"{tool.name} 只能在会话里使用。")
    if tool.needs != "nothing" and context.schedule is None:
        return refuse("no_schedule", "还没有载入课表：请先导入课表并建立任务类。")
    try:
        async with asyncio.timeout(tool.timeout):
            if inspect.iscoroutinefunction(tool.handler):
                result = await tool.handler(context, checked)
            else:
                result = await asyncio.to_thread(tool.handler, context, checked)
    except TimeoutError:
        return refuse("tool_timeout", f"{tool.name} 超过了 {tool.timeout:g} 秒的时限。")
    except NewAgentError as error:
        return refuse(error.code, error.message, **error.data)
    except Exception:  # a tool of any origin may raise anything; the loop must go on
        log.exception("tool_failed", tool=tool.name)
        return refuse("tool_failed", f"{tool.name} 内部出错，没有任何改动。")
    assert isinstance(result, ToolResult)
    if len(result.text) <= TEXT_LIMIT:
        return result
    return ToolResult(
        result.ok, result.code, _cut(result.text), result.data, result.changes, result.schedule, result.state
    )


def _cut(text: str) -> str:
    note = "\n（结果太长，后面省略；请缩小范围再查。）"
    return text[: TEXT_LIMIT - len(note)] + note
