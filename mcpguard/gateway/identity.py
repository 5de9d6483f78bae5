"""Who is calling.

Rules kept here:
1. A credential is a token or a client certificate. It names a caller or is refused; a wrong one never makes anybody
   anonymous. With both, the token counts, and the certificate must not name another caller.
2. Without a credential a caller is anonymous only where the settings allow it, and only on this host: loopback
   listener and peer, a Host header that says so, no named proxy, and no sign of another one.
3. A refusal says, in the words of RFC 6750, whether the credential was missing, wrong, or unreadable.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_address
from typing import Final

from mcpguard.codec.headers.client_address import Proxies
from mcpguard.domain.callers import Caller
from mcpguard.domain.certificates import ClientCertificate
from mcpguard.domain.errors import GuardError
from mcpguard.domain.peers import THIS_HOST, NetworkPeer
from mcpguard.guard.callers.callers import Callers
from mcpguard.settings.address import LOOPBACK

FORWARDED = (b"forwarded", b"via", b"x-forwarded-", b"x-real-ip")
REALM: Final = 'Bearer realm="mcpguard"'
_TOKEN: Final = re.compile(rb"[A-Za-z0-9._~+/-]+=*")
Headers = Iterable[tuple[bytes, bytes]]
Address = tuple[str, int | None] | None
"""An end of a connection; None where it has no host, as on a socket of this machine."""
NO_PROXIES: Final = Proxies()


@dataclass(frozen=True, slots=True)
class ConnectionEnds:
    """The two ends of a connection, and the certificate that the client showed. `proxies`: those that are believed."""

    listener: Address
    peer: Address
    certificate: ClientCertificate | None = None
    proxies: Proxies = NO_PROXIES

    @property
    def is_direct(self) -> bool:
        """Whether it comes neither from a named proxy nor from this host."""
        return self.peer is not None and not _is_loopback(self.peer[0]) and self.peer[0] not in self.proxies

    def peer_of(self, headers: Headers) -> NetworkPeer:
        """Return where a request with these headers comes from."""
        host = "" if self.peer is None else self.proxies.client_of(self.peer[0], headers)
        shown = "" if self.certificate is None else self.certificate.digest
        address = "" if _is_loopback(host) else host
        return NetworkPeer(address, shown) if address or shown else THIS_HOST


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
    """What a request shows of its caller, by its headers and its connection."""

    __slots__ = ("_certificate", "_fault", "_token", "is_local")

    def __init__(self, headers: Headers, ends: ConnectionEnds) -> None:
        self._certificate = ends.certificate
        self._token: str | None = None
        self._fault: tuple[str, CredentialFault] | None = None
        given = [value for name, value in headers if name == b"authorization"]
        try:
            self._token = _token(given) if given else None
        except Unauthorized as wrong:
            self._fault = str(wrong), wrong.wrong
        self.is_local = not given and ends.certificate is None and _is_local(ends, headers)
        """Whether nothing was shown on this host: whoever is anonymous may do so."""

    def caller(self, callers: Callers) -> Caller:
        """Return whose credential this is now. Raises Unauthorized."""
        if self.is_local and callers.anonymous is not None:
            return callers.anonymous
        if self._fault is not None:
            raise Unauthorized(*self._fault)
        if self._certificate is not None:
            return self._certified(self._certificate, callers)
        if self._token is not None:
            return caller_of_token(self._token, callers)
        if callers.anonymous is None:
            raise Unauthorized("a token is required", CredentialFault.MISSING)
        raise Unauthorized(
            "a token is required; only clients on this host may connect without one", CredentialFault.MISSING
        )

    def _certified(self, certificate: ClientCertificate, callers: Callers) -> Caller:
        named = callers.callers_of_certificate(certificate)
        if self._token is not None:
            caller = caller_of_token(self._token, callers)
            if any(each.id != caller.id for each in named):
                raise Unauthorized("the token and the client certificate name different callers; use one of them")
            return caller
        if len(named) > 1:
            raise Unauthorized("the client certificate names several callers; use one that names a single caller")
        if not named:
            raise Unauthorized("the client certificate names no caller, or has expired, and there is no token")
        return named[0]


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


def _is_local(ends: ConnectionEnds, headers: Headers) -> bool:
    listener, peer = ends.listener, ends.peer
    if not listener or not peer or not _is_loopback(listener[0]) or not _is_loopback(peer[0]):
        return False
    if peer[0] in ends.proxies:
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
