"""Who is calling.

Rules kept here:
1. A credential names a caller or is refused; a wrong one never makes anybody anonymous.
2. Without a credential a caller is anonymous only where the settings allow it, and only on this host: loopback
   listener and peer, a Host header that says so, and no sign of a forwarding proxy.
3. A refusal says, in the words of RFC 6750, whether the credential was missing, wrong, or unreadable.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_address
from typing import Final

from mcpguard.domain.callers import Caller
from mcpguard.domain.errors import GuardError
from mcpguard.guard.callers.callers import Callers
from mcpguard.settings.address import LOOPBACK

FORWARDED = (b"forwarded", b"via", b"x-forwarded-", b"x-real-ip")
REALM: Final = 'Bearer realm="mcpguard"'
_TOKEN: Final = re.compile(rb"[A-Za-z0-9._~+/-]+=*")
Headers = Iterable[tuple[bytes, bytes]]
Address = tuple[str, int | None] | None
"""An end of a connection; None where it has no host, as on a socket of this machine."""


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


class Credential:
    """What a request shows of its caller, by its headers and the two ends of its connection."""

    __slots__ = ("_fault", "_token", "is_local")

    def __init__(self, headers: Headers, listener: Address, peer: Address) -> None:
        self._token: str | None = None
        self._fault: tuple[str, CredentialFault] | None = None
        given = [value for name, value in headers if name == b"authorization"]
        try:
            self._token = _token(given) if given else None
        except Unauthorized as wrong:
            self._fault = str(wrong), wrong.wrong
        self.is_local = not given and _is_local(listener, peer, headers)
        """Whether nothing was shown on this host: whoever is anonymous may do so."""

    def caller(self, callers: Callers) -> Caller:
        """Return whose credential this is now. Raises Unauthorized."""
        if self.is_local and callers.anonymous is not None:
            return callers.anonymous
        if self._fault is not None:
            raise Unauthorized(*self._fault)
        if self._token is not None:
            return caller_of_token(self._token, callers)
        if callers.anonymous is None:
            raise Unauthorized("a token is required", CredentialFault.MISSING)
        raise Unauthorized(
            "a token is required; only clients on this host may connect without one", CredentialFault.MISSING
        )


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


def _is_local(listener: Address, peer: Address, headers: Headers) -> bool:
    if not listener or not peer or not _is_loopback(listener[0]) or not _is_loopback(peer[0]):
        return False
    hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
    if hosts not in [[f"{name}:{listener[1]}"] for name in LOOPBACK]:
        return False
    return not any(name.startswith(FORWARDED) for name, _ in headers)


@lru_cache
def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
