"""The JSON around every answer, and the HTTP status of every error code."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from newagent.errors import InputError, ModelError, NewAgentError, NotFoundError, RefusedError, StoreError

STATUS_OF = {
    "run_in_progress": 409,
    "interaction_closed": 409,
    "timetable_conflict": 409,
    "interaction_expired": 410,
    "body_too_large": 413,
}
NUMBER_OF = {
    "conversation_not_found": "40004",
    "invalid_body": "40005",
    "timetable_conflict": "40026",
    "outside_semester": "40049",
    "no_preview": "40058",
}


def done(data: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> JSONResponse:
    """A success."""
    return JSONResponse({"status": "10000", "info": "success", "data": data}, status, headers)


def http_status(error: NewAgentError) -> int:
    """The HTTP status that fits an error."""
    if error.code in STATUS_OF:
        return STATUS_OF[error.code]
    match error:
        case NotFoundError():
            return 404
        case InputError():
            return 400
        case RefusedError():
            return 422
        case StoreError() | ModelError():
            return 503
        case _:
            return 500


def failed(error: NewAgentError) -> JSONResponse:
    """A failure, with its stable name."""
    body = {
        "status": NUMBER_OF.get(error.code, error.code),
        "info": error.message,
        "data": {"error_code": error.code, **error.data},
    }
    return JSONResponse(body, http_status(error))


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    """Starlette's handler for what it finds itself: an unknown path, a wrong method."""
    del request
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "bad_request")
    body = {"status": code, "info": error.detail, "data": {"error_code": code}}
    return JSONResponse(body, error.status_code, error.headers)


async def on_failure(request: Request, error: Exception) -> JSONResponse:
    """Starlette's handler for a fault of ours, which it then raises on for the log."""
    del request, error
    return failed(NewAgentError("internal_error", "something went wrong inside the program"))


async def on_error(request: Request, error: Exception) -> JSONResponse:
    """Starlette's handler for our errors."""
    del request
    assert isinstance(error, NewAgentError)
    return failed(error)
