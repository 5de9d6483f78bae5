"""Who calls.

Rules kept here:
1. A credential names a caller or is refused; a wrong one never makes anybody anonymous.
2. Without one a caller is anonymous only on this very machine: a loopback listener and peer, a Host that says so, and
   no sign that somebody forwards for others.
"""

from collections.abc import Iterable, MutableMapping
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from mcpguard.domain.callers import Caller
from mcpguard.domain.errors import GuardError
from mcpguard.guard.callers import Callers

FORWARDED = (b"forwarded", b"via", b"x-forwarded-", b"x-real-ip")
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
Headers = Iterable[tuple[bytes, bytes]]


class Unauthorized(GuardError):
    """A credential is missing, or was given and is wrong. Says what to do."""

    def __init__(self, sentence: str, *, given: bool = True) -> None:
        super().__init__(sentence)
        self.given = given


def caller_of_request(scope: MutableMapping[str, Any], callers: Callers) -> Caller:
    """The caller of an HTTP request."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    given = [value for name, value in headers if name == b"authorization"]
    if given:
        kind, _, token = given[0].partition(b" ")
        if len(given) > 1 or kind.lower() != b"bearer":
            raise Unauthorized("authorize with one bearer token")
        return caller_of_token(token.strip().decode("latin-1"), callers)
    if not _is_local(scope, headers):
        raise Unauthorized("a token is needed here; only clients on this machine may do without", given=False)
    return callers.anonymous


def caller_of_token(token: str | None, callers: Callers) -> Caller:
    """The caller of a stream."""
    if token is None:
        return callers.anonymous
    caller = callers.named_by(token)
    if caller is None:
        raise Unauthorized("this token is not known, or is not valid any more")
    return caller


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
