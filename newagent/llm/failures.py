"""What went wrong at an endpoint, as a `ModelError` with a stable code and a message that carries no secret."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, cast

import httpx2
import openai

from newagent.errors import ModelError

BROKEN = (openai.APIConnectionError, httpx2.RequestError, json.JSONDecodeError, UnicodeDecodeError)
RETRIED_STATUS = frozenset({408, 409, 425, 429})
NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
FILTERS = ("content_filter", "data_inspection_failed", "sensitivecontent", "contentfilter", "1301")
_KEYS = re.compile(r"\b(?:sk|ak|key|Bearer)[-_ ][A-Za-z0-9*._-]{6,}")


def is_timeout(error: BaseException) -> bool:
    """Whether an exchange took too long, by our clock or the transport's."""
    return isinstance(error, TimeoutError | openai.APITimeoutError | httpx2.TimeoutException)


def may_retry(error: BaseException) -> bool:
    """Whether the same request may succeed a moment later."""
    if is_timeout(error):
        return False
    if isinstance(error, openai.APIStatusError):
        if _reason(error) in NO_CREDIT:
            return False
        return error.status_code in RETRIED_STATUS or error.status_code >= 500
    # An error object inside a stream has no status: it is the endpoint's own failure.
    return isinstance(error, (*BROKEN, openai.APIError))


def retry_after(error: BaseException) -> float | None:
    """The seconds that the endpoint asks to wait, None where it does not say."""
    if not isinstance(error, openai.APIStatusError):
        return None
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None


def as_model_error(error: BaseException, secret: str) -> ModelError:
    """The error of ours for a failure of an exchange."""
    if is_timeout(error):
        return ModelError("model_timeout", "the model endpoint did not answer in time")
    if isinstance(error, openai.APIStatusError):
        detail = f"the model endpoint answered {error.status_code}: {said(error, secret)}"
        if error.status_code == 429:
            wait = retry_after(error)
            return ModelError("model_rate_limited", detail, **({} if wait is None else {"retry_after": wait}))
        if error.status_code == 400 and any(name in f"{_reason(error)} {error.message}".lower() for name in FILTERS):
            return ModelError("model_refused", "the model endpoint's content filter refused the request")
        return ModelError("model_unavailable", detail, status=error.status_code)
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        return ModelError("model_unavailable", f"the model endpoint failed: {said(error, secret)}")
    return ModelError("model_unavailable", "the model endpoint cannot be reached, or its answer was cut off")


def said(error: openai.APIError, secret: str) -> str:
    """What the endpoint said, in one line of at most 200 characters, without anything that looks like a key."""
    body: object = error.body
    message: object = cast("Mapping[str, Any]", body).get("message") if isinstance(body, Mapping) else None
    text = " ".join((message if isinstance(message, str) else _reason(error) or "no detail").split())
    if secret:
        text = text.replace(secret, "***")
    return _KEYS.sub("***", text)[:200]


def _reason(error: openai.APIError) -> str:
    return str(error.code or error.type or "")
