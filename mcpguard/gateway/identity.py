"""Who calls.

Rules kept here:
1. A credential names a caller or is refused; a wrong one never makes anybody anonymous.
2. Without one a caller is anonymous only where the settings let anybody be, and only on this very machine: a loopback
   listener and peer, a Host that says so, and no sign that somebody forwards for others. (Where a public URL can be
   configured one day, nobody is anonymous: `_is_local` is the place.)
3. A refusal says, in the words of RFC 6750, whether there was no credential, a wrong one, or none that could be read.
"""

import re
from collections.abc import Iterable, MutableMapping
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, Final

from mcpguard.domain.callers import Caller
from mcpguard.domain.errors import GuardError
from mcpguard.guard.callers.callers import Callers

FORWARDED = (b"forwarded", b"via", b"x-forwarded-", b"x-real-ip")
REALM: Final = 'Bearer realm="mcpguard"'
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_TOKEN: Final = re.compile(rb"[A-Za-z0-9._~+/-]+=*")
Headers = Iterable[tuple[bytes, bytes]]


class Wrong(StrEnum):
    """What is wrong with a credential; the words are those of RFC 6750, which has none for one that is missing."""

    MISSING = ""
    INVALID = "invalid_token"
    UNREADABLE = "invalid_request"


class Unauthorized(GuardError):
    """A credential is missing, or was given and is wrong. Says what to do."""

    def __init__(self, sentence: str, wrong: Wrong = Wrong.INVALID) -> None:
        super().__init__(sentence)
        self.wrong = wrong

    @property
    def status(self) -> int:
        return 400 if self.wrong is Wrong.UNREADABLE else 401

    @property
    def challenge(self) -> bytes:
        """The header that goes with it."""
        return (f'{REALM}, error="{self.wrong}"' if self.wrong else REALM).encode()


def caller_of_request(scope: MutableMapping[str, Any], callers: Callers) -> Caller:
    """The caller of an HTTP request."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    given = [value for name, value in headers if name == b"authorization"]
    if given:
        return caller_of_token(_token(given), callers)
    if callers.anonymous is None:
        raise Unauthorized("a token is needed here", Wrong.MISSING)
    if not _is_local(scope, headers):
        raise Unauthorized("a token is needed here; only clients on this machine may do without", Wrong.MISSING)
    return callers.anonymous


def caller_of_token(token: str | None, callers: Callers) -> Caller:
    """The caller of a stream."""
    if token is None and callers.anonymous is not None:
        return callers.anonymous
    if token is None:
        raise Unauthorized("a token is needed here: set MCPGUARD_TOKEN or MCPGUARD_TOKEN_FILE", Wrong.MISSING)
    caller = callers.named_by(token)
    if caller is None:
        raise Unauthorized("this token is not known, or is not valid any more")
    return caller


def _token(given: list[bytes]) -> str:
    if len(given) > 1:
        raise Unauthorized("authorize once; there is more than one header for it", Wrong.UNREADABLE)
    kind, _, token = given[0].partition(b" ")
    if kind and kind.lower() != b"bearer":
        raise Unauthorized("authorize with a bearer token; nothing else is taken here", Wrong.MISSING)
    token = token.strip(b" ")
    if _TOKEN.fullmatch(token) is None:
        raise Unauthorized("authorize with one bearer token: Authorization: Bearer mcpg_…", Wrong.UNREADABLE)
    return token.decode("ascii")


def _is_local(scope: MutableMapping[str, Any], headers: Headers) -> bool:
    listener, peer = scope.get("server"), scope.get("client")
    if not listener or not peer or not _is_loopback(listener[0]) or not _is_loopback(peer[0]):
        return False
    hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
    if hosts not in [[f"{name}:{listener[1]}"] for name in _LOCAL]:
        return False
    return not any(name.startswith(FORWARDED) for name, _ in headers)


@lru_cache
def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
