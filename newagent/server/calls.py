"""A call of the API: declared once, next to the function that answers it.

    calls = Calls("conversations")

    @calls.patch("/api/v1/agent/conversations/{id}", errors=("conversation_not_found", "invalid_title"))
    async def rename(asked: Asked, path: ConversationPath, body: TitleBody) -> Renamed: ...

The parameters `path`, `query`, `header` and `body` are pydantic models, the annotation of the result is the shape of
`data`. The same declaration binds and checks a request and is the source of `/openapi.json`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from newagent.errors import InputError
from newagent.server.backend import Backend
from newagent.server.body import MAX_BODY, faults_of, read_body
from newagent.server.envelope import done

Where = Literal["path", "query", "header", "body"]
WHERES: tuple[Where, ...] = ("path", "query", "header", "body")
Handler = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True)
class Asked:
    """A request that may be answered: what stands behind the service, and who asks."""

    backend: Backend
    user: str
    request: Request


@dataclass(frozen=True)
class Call:
    """One call. `media` is the type of a success that is no JSON envelope; `public` calls need no token."""

    method: str
    path: str
    handler: Handler
    tag: str
    errors: tuple[str, ...] = ()
    media: str = "application/json"
    body_media: str = "application/json"
    public: bool = False
    status: int = 200
    models: Mapping[Where, type[BaseModel]] = field(default_factory=dict[Where, type[BaseModel]])
    answer: Any = None

    @property
    def enveloped(self) -> bool:
        """Whether a success is JSON in our envelope."""
        return not (isinstance(self.answer, type) and issubclass(self.answer, Response))

    @property
    def name(self) -> str:
        """The name of the operation, unique in the API."""
        return f"{self.tag}_{self.handler.__name__}"

    def route(self) -> Route:
        """The call as a route."""
        adapter = TypeAdapter[Any](self.answer) if self.enveloped else None

        async def endpoint(request: Request) -> Response:
            backend: Backend = request.app.state.backend
            user = "" if self.public else await backend.admit(request)
            asked = Asked(backend, user, request)
            inputs = {where: await self._input(where, request) for where in self.models}
            result = await self.handler(asked, **inputs)
            return result if adapter is None else done(result, adapter, self.status)

        route = Route(self.path, endpoint, methods=[self.method], name=self.name)
        if self.media == "text/event-stream" and route.methods:
            route.methods.discard("HEAD")
        return route

    async def _input(self, where: Where, request: Request) -> BaseModel:
        model = self.models[where]
        match where:
            case "path":
                return checked(model, request.path_params)
            case "query":
                return checked(model, request.query_params)
            case "header":
                return checked(model, {name.replace("-", "_"): value for name, value in request.headers.items()})
            case "body":
                return await read_body(request, model, MAX_BODY)


class Calls:
    """The calls of a module, in order."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.all: list[Call] = []

    def get(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declares a call that reads; see `Call` for the options."""
        return self._declared("GET", path, options)

    def post(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declares a call; see `Call` for the options."""
        return self._declared("POST", path, options)

    def put(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declares a call that replaces; see `Call` for the options."""
        return self._declared("PUT", path, options)

    def patch(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declares a call that changes a part; see `Call` for the options."""
        return self._declared("PATCH", path, options)

    def delete(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declares a call that deletes; see `Call` for the options."""
        return self._declared("DELETE", path, options)

    def _declared(self, method: str, path: str, options: dict[str, Any]) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            hints = get_type_hints(handler)
            models: dict[Where, type[BaseModel]] = {where: hints[where] for where in WHERES if where in hints}
            self.all.append(Call(method, path, handler, self.tag, models=models, answer=hints.get("return"), **options))
            return handler

        return declare


def checked(model: type[BaseModel], values: Mapping[str, Any]) -> BaseModel:
    """Parameters as a model. Raises `InputError` with conversation_id_missing or invalid_parameter."""
    given = {
        name: values[name]
        for name in (field.alias or key for key, field in model.model_fields.items())
        if name in values
    }
    try:
        return model.model_validate(given)
    except ValidationError as error:
        faults = faults_of(error)
        if any(fault["path"] == "conversation_id" and not values.get("conversation_id") for fault in faults):
            raise InputError("conversation_id_missing", "the call needs a conversation_id") from None
        words = "; ".join(f"{fault['path']}: {fault['message']}" for fault in faults)
        raise InputError("invalid_parameter", words, faults=faults) from None
