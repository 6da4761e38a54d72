"""Request bodies: bounded, JSON, and checked by a model."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from newagent.errors import InputError

MAX_BODY = 1024 * 1024
Body = TypeVar("Body", bound=BaseModel)


async def read_body(request: Request, model: type[Body]) -> Body:
    """The body as a model. Raises `InputError` with body_too_large or invalid_body and the paths that are wrong."""
    # A web page may send any other type to this machine without asking; JSON it may not.
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise InputError("invalid_body", "the body must be application/json")
    content = bytearray()
    try:
        async for piece in request.stream():
            content += piece
            if len(content) > MAX_BODY:
                raise InputError("body_too_large", f"a body has at most {MAX_BODY} bytes", limit=MAX_BODY)
    except ClientDisconnect:
        raise InputError("invalid_body", "the body was cut off") from None
    try:
        return model.model_validate_json(bytes(content))
    except ValidationError as error:
        faults = [
            {"path": ".".join(str(part) for part in fault["loc"]), "message": fault["msg"]}
            for fault in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        raise InputError("invalid_body", "the body is malformed", faults=faults) from None
