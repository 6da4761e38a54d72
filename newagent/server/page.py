"""The page: its document, its modules and styles, and its texts. Nothing of it comes from another host.

The answers carry a policy that lets the browser run this origin's modules only and talk to this origin only, so that
a text of a user, a model or a file that looks like a script stays a text.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from newagent.texts import Locale, catalogue

FOLDER = Path(str(files("newagent.server").joinpath("static")))
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    # A browser asks each time whether what it has is still the latest: an old module never meets a new one.
    "Cache-Control": "no-cache",
}


class PageFiles(StaticFiles):
    """The modules and styles, with the policy of the page."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """See `StaticFiles`."""
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


async def document(request: Request) -> Response:
    """GET /: the page."""
    del request
    return FileResponse(FOLDER / "index.html", headers=HEADERS)


async def texts(request: Request) -> Response:
    """GET /texts/{locale}.json: all texts for students of a language by their keys."""
    locale: Locale | None = next((one for one in get_args(Locale) if one == request.path_params["locale"]), None)
    if locale is None:
        raise HTTPException(404, "no such language")
    return JSONResponse(catalogue(locale), headers=HEADERS)


def routes() -> list[BaseRoute]:
    """The routes of the page."""
    return [
        Route("/", document),
        Route("/texts/{locale}.json", texts),
        Mount("/static", PageFiles(directory=FOLDER)),
    ]
