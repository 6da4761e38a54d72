"""The JSON around every answer, and failures as answers: in our envelope, or as clients of OpenAI expect them."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from newagent.errors import NewAgentError
from newagent.server.codes import http_status, number_of

OPENAI = "/v1/"
T = TypeVar("T")


class Success(BaseModel, Generic[T]):
    """A call that succeeded."""

    status: Literal["10000"]
    info: Literal["success"]
    data: T


class FailureDetail(BaseModel):
    """The stable name of a failure, and what belongs to it."""

    model_config = ConfigDict(extra="allow")

    error_code: str


class Failure(BaseModel):
    """A failed call."""

    status: str
    info: str
    data: FailureDetail


class OpenAIFailureDetail(BaseModel):
    """What clients of OpenAI read."""

    message: str
    type: str
    code: str


class OpenAIFailure(BaseModel):
    """A failed call of an OpenAI client."""

    error: OpenAIFailureDetail


def done(data: Any, adapter: TypeAdapter[Any], status: int = 200) -> Response:
    """A success."""
    content = b'{"status":"10000","info":"success","data":' + adapter.dump_json(data, by_alias=True) + b"}"
    return Response(content, status, media_type="application/json")


def failure_body(code: str, message: str, data: dict[str, Any]) -> dict[str, Any]:
    """A failure in our envelope."""
    return {"status": number_of(code), "info": message, "data": {"error_code": code, **data}}


def error_body(code: str, message: str) -> dict[str, Any]:
    """A failure as a stream and clients of OpenAI carry it."""
    return {"error": {"message": message, "type": "newagent_error", "code": code}}


def failed(request: Request, error: NewAgentError) -> Response:
    """A failure, with its stable name and the headers that belong to it."""
    request.scope.setdefault("state", {})["error_code"] = error.code
    headers: dict[str, str] = {}
    status = http_status(error)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if "retry_after" in error.data:
        headers["Retry-After"] = str(error.data["retry_after"])
    if request.url.path.startswith(OPENAI):
        return JSONResponse(error_body(error.code, error.message), status, headers)
    return JSONResponse(failure_body(error.code, error.message, error.data), status, headers)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Starlette's handler for what it finds itself: an unknown path, a wrong method."""
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "bad_request")
    answer = failed(request, NewAgentError(code, error.detail))
    answer.status_code = error.status_code
    answer.headers.update(error.headers or {})
    return answer


async def on_failure(request: Request, error: Exception) -> Response:
    """Starlette's handler for a fault of ours, which it then raises on for the log."""
    del error
    return failed(request, NewAgentError("internal_error", "something went wrong inside the program"))


async def on_error(request: Request, error: Exception) -> Response:
    """Starlette's handler for our errors."""
    assert isinstance(error, NewAgentError)
    return failed(request, error)
