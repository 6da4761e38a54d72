"""The description of the API, made from the declarations of its calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from newagent.server.calls import Call, Where
from newagent.server.codes import CODES
from newagent.server.envelope import OPENAI, Failure, OpenAIFailure, Success

REFERENCE = "#/components/schemas/{model}"
PLACES: tuple[Where, ...] = ("path", "query", "header")
OF_INPUT: dict[Where, tuple[str, ...]] = {
    "path": (),
    "query": ("invalid_parameter",),
    "header": ("invalid_parameter",),
    "body": ("invalid_body", "body_too_large"),
}
OF_USER = ("bad_host", "token_missing", "token_invalid", "token_expired", "foreign_origin", "rate_limited")
UNAVAILABLE = "the database or the model cannot be reached; the call may be made again"


def describe(calls: Sequence[Call], *, tokens: bool) -> dict[str, Any]:
    """The OpenAPI 3.1 document of the calls; `tokens` says whether they need a bearer token."""
    schemas, components = _schemas(calls)
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for call in calls:
        paths[call.path][call.method.lower()] = _operation(call, schemas, tokens=tokens)
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "newagent", "version": version("newagent"), "description": "Study time in a timetable."},
        "paths": dict(paths),
        "components": {"schemas": components},
    }
    if tokens:
        document["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
        }
    return document


def errors_of(call: Call) -> tuple[str, ...]:
    """Every documented code that a call may fail with."""
    inputs = [code for where in call.models for code in OF_INPUT[where]]
    general = () if call.public else OF_USER
    return tuple(dict.fromkeys((*inputs, *general, *call.errors)))


def _schemas(calls: Sequence[Call]) -> tuple[dict[Any, dict[str, Any]], dict[str, Any]]:
    """The schema of each model that the calls name, by model and mode, and the definitions that they refer to."""
    models: list[tuple[type[BaseModel], Any]] = [(Failure, "serialization"), (OpenAIFailure, "serialization")]
    for call in calls:
        models += [(model, "validation") for model in call.models.values()]
        if call.enveloped:
            models.append((Success[call.answer], "serialization"))
    unique = list(dict.fromkeys(models))
    schemas, document = models_json_schema(unique, ref_template=REFERENCE)
    return dict(schemas), document.get("$defs", {})


def _operation(call: Call, schemas: dict[Any, dict[str, Any]], *, tokens: bool) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": call.name,
        "tags": [call.tag],
        "summary": (call.handler.__doc__ or "").strip().split("\n")[0],
        "responses": {str(call.status): _success(call, schemas), **_failures(call, schemas)},
    }
    parameters = [one for place in PLACES if place in call.models for one in _parameters(call.models[place], place)]
    if parameters:
        operation["parameters"] = parameters
    if "body" in call.models:
        schema = schemas[call.models["body"], "validation"]
        operation["requestBody"] = {"required": True, "content": {call.body_media: {"schema": schema}}}
    if tokens and not call.public:
        operation["security"] = [{"bearer": []}]
    return operation


def _success(call: Call, schemas: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    if call.enveloped:
        schema = schemas[Success[call.answer], "serialization"]
    else:
        schema = {} if call.media == "application/json" else {"type": "string"}
    answer: dict[str, Any] = {"description": "Done.", "content": {call.media: {"schema": schema}}}
    if call.media == "text/event-stream":
        answer["headers"] = {"X-Conversation-ID": {"required": True, "schema": {"type": "string"}}}
    return answer


def _failures(call: Call, schemas: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in errors_of(call):
        by_status[CODES[code].http].append(f"`{code}`: {CODES[code].meaning}")
    by_status[503].append(UNAVAILABLE)
    model = OpenAIFailure if call.path.startswith(OPENAI) else Failure
    content = {"application/json": {"schema": schemas[model, "serialization"]}}
    answers: dict[str, Any] = {}
    for status, meanings in sorted(by_status.items()):
        answers[str(status)] = {"description": "\n".join(f"- {one}" for one in meanings), "content": content}
        if status == 429:
            answers[str(status)]["headers"] = {"Retry-After": {"required": True, "schema": {"type": "integer"}}}
    return answers


def _parameters(model: type[BaseModel], place: Where) -> Iterable[dict[str, Any]]:
    schema = model.model_json_schema()
    required: list[str] = schema.get("required", [])
    for name, held in schema["properties"].items():
        yield {
            "name": name.replace("_", "-") if place == "header" else name,
            "in": place,
            "required": place == "path" or name in required,
            "schema": {key: value for key, value in held.items() if key != "title"},
        }
