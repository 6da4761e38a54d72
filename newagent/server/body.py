"""Request bodies: bounded, JSON, and checked by a model."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from newagent.errors import InputError

MAX_BODY = 1024 * 1024
Body = TypeVar("Body", bound=BaseModel)


async def read_bytes(request: Request, limit: int) -> bytes:
    """The body, `limit` bytes at most. Raises `InputError` with body_too_large or invalid_body."""
    content = bytearray()
    try:
        async for piece in request.stream():
            content += piece
            if len(content) > limit:
                raise InputError("body_too_large", f"a body has at most {limit} bytes", limit=limit)
    except ClientDisconnect:
        raise InputError("invalid_body", "the body was cut off") from None
    return bytes(content)


async def read_body(request: Request, model: type[Body], limit: int = MAX_BODY) -> Body:
    """The body as a model. Raises `InputError` with body_too_large or invalid_body and the paths that are wrong."""
    # A web page may send any other type to this machine without asking; JSON it may not.
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise InputError("invalid_body", "the body must be application/json")
    content = await read_bytes(request, limit)
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        raise InputError("invalid_body", "the body is malformed", faults=faults_of(error)) from None


def faults_of(error: ValidationError) -> list[dict[str, str]]:
    """What is wrong, by path, without the values that were given."""
    return [
        {"path": ".".join(map(str, fault["loc"])), "message": fault["msg"]}
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]
