"""Who asks: the user of a bearer token, or the one local user of a service without a key.

A service without a key is for this machine only. What protects it is not the address alone, for a page of any site may
send requests there from the user's own browser: it answers only to its own names, and changes nothing for a page of
another origin.
"""

from __future__ import annotations

import ipaddress
import warnings
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

import jwt
from jwt.warnings import InsecureKeyLengthWarning
from starlette.requests import Request

from newagent.errors import InputError, RefusedError

Algorithm = Literal["HS256", "RS256"]
LEEWAY_SECONDS = 10
LONGEST_USER = 128
READING = ("GET", "HEAD", "OPTIONS")


class Identity(Protocol):
    """Tells who asks."""

    def user(self, request: Request) -> str:
        """The id of the user. Raises `RefusedError` with a code of 400, 401 or 403."""
        ...


@dataclass(frozen=True)
class LocalIdentity:
    """Everybody on this machine is one user. `origins` are pages elsewhere that may call all the same."""

    name: str
    origins: tuple[str, ...] = ()

    def user(self, request: Request) -> str:
        """See `Identity.user`."""
        if not is_loopback(hostname(request.headers.get("host", ""))):
            raise RefusedError("bad_host", "this service answers to localhost only")
        origin = request.headers.get("origin")
        same = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
        if origin is not None and not same and origin not in self.origins and request.method not in READING:
            raise RefusedError("foreign_origin", "a page of another origin may not do that")
        return self.name


@dataclass(frozen=True)
class TokenIdentity:
    """The `sub` of a JSON web token. With RS256 `key` is the public key in PEM."""

    key: str
    algorithm: Algorithm = "HS256"
    audience: str | None = None

    def user(self, request: Request) -> str:
        """See `Identity.user`."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise RefusedError("token_missing", "the call needs an Authorization header with a bearer token")
        return self.read(token.strip())

    def read(self, token: str) -> str:
        """The user of a token. Raises `RefusedError` with token_invalid or token_expired."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InsecureKeyLengthWarning)  # told once, at the start
                claims = jwt.decode(
                    token,
                    self.key,
                    algorithms=[self.algorithm],
                    audience=self.audience,
                    leeway=LEEWAY_SECONDS,
                    options={"require": ["exp", "sub"]},
                )
        except jwt.ExpiredSignatureError:
            raise RefusedError("token_expired", "the token has expired") from None
        except (jwt.PyJWTError, ValueError):
            raise RefusedError("token_invalid", "the token is not valid here") from None
        user = claims["sub"]
        if not isinstance(user, str) or not 0 < len(user) <= LONGEST_USER:
            raise RefusedError("token_invalid", f"the token's sub has 1 to {LONGEST_USER} characters")
        return user

    def check_key(self) -> None:
        """Raises `InputError("invalid_settings")` for a key that no token of the algorithm can be checked with."""
        algorithm = jwt.get_algorithm_by_name(self.algorithm)
        try:
            algorithm.prepare_key(self.key)
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise InputError("invalid_settings", f"NEWAGENT_JWT_KEY: no key for {self.algorithm}: {error}") from None


def make_token(user: str, seconds: int, now: int, identity: TokenIdentity, private_key: str | None = None) -> str:
    """A token for a user, good for so many seconds. RS256 needs the private key in PEM.

    Raises `InputError` with invalid_user_id or invalid_settings.
    """
    if not 0 < len(user) <= LONGEST_USER:
        raise InputError("invalid_user_id", f"a user id has 1 to {LONGEST_USER} characters")
    claims: dict[str, Any] = {"sub": user, "iat": now, "exp": now + seconds}
    if identity.audience is not None:
        claims["aud"] = identity.audience
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InsecureKeyLengthWarning)
            return jwt.encode(claims, private_key or identity.key, algorithm=identity.algorithm)
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        raise InputError("invalid_settings", f"no token can be signed with this key: {error}") from None


def hostname(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
