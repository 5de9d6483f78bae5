"""Who is calling.

Rules kept here:
1. A credential names a caller or is refused; a wrong one never makes anybody anonymous.
2. Without a credential a caller is anonymous only where the settings allow it, and only on this host: loopback
   listener and peer, a Host header that says so, and no sign of a forwarding proxy.
3. A refusal says, in the words of RFC 6750, whether the credential was missing, wrong, or unreadable.
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


class CredentialFault(StrEnum):
    """What is wrong with a credential, in the words of RFC 6750, which has none for a missing one."""

    MISSING = ""
    INVALID = "invalid_token"
    UNREADABLE = "invalid_request"


class Unauthorized(GuardError):
    """A credential is missing or wrong. The sentence says what to do."""

    def __init__(self, sentence: str, wrong: CredentialFault = CredentialFault.INVALID) -> None:
        super().__init__(sentence)
        self.wrong = wrong

    @property
    def status(self) -> int:
        return 400 if self.wrong is CredentialFault.UNREADABLE else 401

    @property
    def challenge(self) -> bytes:
        """The value of the WWW-Authenticate header."""
        return (f'{REALM}, error="{self.wrong}"' if self.wrong else REALM).encode()


def caller_of_request(scope: MutableMapping[str, Any], callers: Callers) -> Caller:
    """Return the caller of an HTTP request. Raises Unauthorized."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    given = [value for name, value in headers if name == b"authorization"]
    if given:
        return caller_of_token(_token(given), callers)
    if callers.anonymous is None:
        raise Unauthorized("a token is required", CredentialFault.MISSING)
    if not _is_local(scope, headers):
        raise Unauthorized(
            "a token is required; only clients on this host may connect without one", CredentialFault.MISSING
        )
    return callers.anonymous


def caller_of_token(token: str | None, callers: Callers) -> Caller:
    """Return the caller of a stream. Raises Unauthorized."""
    if token is None and callers.anonymous is not None:
        return callers.anonymous
    if token is None:
        raise Unauthorized("a token is required: set MCPGUARD_TOKEN or MCPGUARD_TOKEN_FILE", CredentialFault.MISSING)
    caller = callers.caller_of_token(token)
    if caller is None:
        raise Unauthorized("this token is unknown, expired or revoked")
    return caller


def _token(given: list[bytes]) -> str:
    if len(given) > 1:
        raise Unauthorized("there is more than one Authorization header", CredentialFault.UNREADABLE)
    kind, _, token = given[0].partition(b" ")
    if kind and kind.lower() != b"bearer":
        raise Unauthorized("only bearer tokens are accepted", CredentialFault.MISSING)
    token = token.strip(b" ")
    if _TOKEN.fullmatch(token) is None:
        raise Unauthorized(
            "the Authorization header is malformed; send: Authorization: Bearer mcpg_…", CredentialFault.UNREADABLE
        )
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
