"""The built-in rule model as an OpenAI-compatible service: chat completions, streamed or not, and the list of models.

It is spoken to through a transport inside the process, by the same client as any other endpoint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from newagent.llm.offline.answer import Reply
from newagent.llm.offline.facts import text_of
from newagent.llm.offline.policy import answer

MODEL = "newagent-rules"
PIECE = 24


def offline_app() -> Starlette:
    """The ASGI application; it keeps nothing between requests."""
    return Starlette(
        routes=[
            Route("/v1/chat/completions", _complete, methods=["POST"]),
            Route("/v1/models", _models, methods=["GET"]),
        ]
    )


async def _models(_: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "newagent"}]})


async def _complete(request: Request) -> Response:
    try:
        body: object = await request.json()
    except (ValueError, UnicodeDecodeError, RecursionError):
        return _fault("the body is not JSON")
    if not isinstance(body, dict):
        return _fault("the body is not an object")
    document = cast("dict[str, Any]", body)
    if not isinstance(document.get("messages"), list) or not document["messages"]:
        return _fault("messages must be a list that is not empty")
    reply = answer(document)
    if document.get("stream") is True:
        return StreamingResponse(_events(document, reply), media_type="text/event-stream")
    return JSONResponse(completion(document, reply))


def _fault(message: str) -> Response:
    return JSONResponse({"error": {"message": message, "type": "invalid_request_error", "code": None}}, status_code=400)


def completion(body: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    """The answer as one document."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.why:
        message["reasoning_content"] = reply.why
    if reply.name:
        message["tool_calls"] = [_call(body, reply, _arguments(reply))]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.name else "stop"}
    return {**_head(body, "chat.completion"), "choices": [choice], "usage": usage(body, reply)}


async def _events(body: Mapping[str, Any], reply: Reply) -> AsyncIterator[str]:
    for chunk in chunks(body, reply):
        yield f"data: {json.dumps(chunk, ensure_ascii=False, separators=(',', ':'))}\n\n"
    yield "data: [DONE]\n\n"


def chunks(body: Mapping[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    """The answer in pieces: reasoning, text, the call with its arguments in parts, the end, the usage if asked for."""
    head = _head(body, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.why):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(reply.text):
        yield chunk({"content": piece})
    if reply.name:
        yield chunk({"tool_calls": [{"index": 0, **_call(body, reply, "")}]})
        for piece in _pieces(_arguments(reply)):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if reply.name else "stop")
    options = body.get("stream_options")
    if isinstance(options, dict) and cast("dict[str, Any]", options).get("include_usage"):
        yield {**head, "choices": [], "usage": usage(body, reply)}


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def _arguments(reply: Reply) -> str:
    return json.dumps(dict(reply.arguments), ensure_ascii=False)


def _call(body: Mapping[str, Any], reply: Reply, arguments: str) -> dict[str, Any]:
    function = {"name": reply.name, "arguments": arguments}
    return {"id": f"call_{_digest(body)}", "type": "function", "function": function}


def _head(body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{_digest(body)}", "object": kind, "created": 0, "model": MODEL}


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()[:16]


def usage(body: Mapping[str, Any], reply: Reply) -> dict[str, int]:
    """Characters over three, so that budgets have something to count: rules have no tokens."""
    messages = cast("list[Any]", body["messages"])
    read = sum(len(text_of(one.get("content"))) for one in messages if isinstance(one, dict)) // 3  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    written = (len(reply.text) + len(reply.name) + len(_arguments(reply))) // 3
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
