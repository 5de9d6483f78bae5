"""Where a remote server is, and the headers that were configured for it.

Rules kept here:
1. A URL is read once and strictly: the host that is resolved, the one that TLS verifies and the one that is said in
   `Host` are the same. Credentials have no place in it.
2. A configured header cannot speak for us: not for the protocol, not for the connection. Nor can it hold anything that
   would begin another header.
3. Neither an error nor a representation shows a header's value.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from urllib.parse import urljoin, urlsplit

import httpcore2

from mcpguard.domain.errors import GuardError

Header = tuple[bytes, bytes]

PORTS = {"http": 80, "https": 443}
OURS = frozenset(
    {
        "accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "keep-alive",
        "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
MIRRORED = "mcp-param-"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?")
_URL = re.compile(r"[\x21-\x5b\x5d-\x7e]+")
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*)")


class BadRemote(GuardError):
    """A URL or a header cannot be used. Says which, and never what it holds."""


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """A URL, taken apart."""

    scheme: str
    host: str
    port: int
    target: str = field(repr=False)
    url: httpcore2.URL = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        scheme, host, target = self.scheme.encode(), self.host.encode(), self.target.encode()
        object.__setattr__(self, "url", httpcore2.URL(scheme=scheme, host=host, port=self.port, target=target))

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """As `Host` says it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def towards(self, reference: str) -> "RemotePlace":
        """The place that a reference leads to from here. Raises BadRemote."""
        if not _URL.fullmatch(reference):
            raise BadRemote("a URL holds characters that no URL has")
        try:
            return place(urljoin(f"{self.scheme}://{self.authority}{self.target}", reference))
        except ValueError as error:
            raise BadRemote("this is no URL") from error


@dataclass(frozen=True, slots=True)
class Remote:
    """A server at a URL. `headers` go to its own origin and nowhere else."""

    url: str = field(repr=False)  # its query may hold a secret
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    place: RemotePlace = field(init=False)
    fields: tuple[Header, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", place(self.url))
        object.__setattr__(self, "fields", tuple(_configured(self.headers)))


def place(url: str) -> RemotePlace:
    """Read a URL. Raises BadRemote."""
    if not _URL.fullmatch(url):
        raise BadRemote("a URL holds characters that no URL has; write a host's name in its ASCII form (xn--…)")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadRemote("this is no URL, or its port is none") from error
    if parts.scheme not in PORTS:
        raise BadRemote("a server's URL begins with https:// or http://")
    if parts.username is not None or parts.password is not None:
        raise BadRemote("a URL must hold no credentials; put them into a header")
    if port == 0:
        raise BadRemote("the port of a URL is a number from 1 to 65535")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return RemotePlace(parts.scheme, _host(parts.hostname or ""), port or PORTS[parts.scheme], target)


def mirrored(headers: Mapping[str, str]) -> list[Header]:
    """The headers that repeat parameters of a call."""
    for name in headers:
        if not name.lower().startswith(MIRRORED):
            raise BadRemote("besides the configured headers only those go with a request that repeat its parameters")
    return [_field(name, value) for name, value in headers.items()]


def _configured(headers: Mapping[str, str]) -> list[Header]:
    names = [name.lower() for name in headers]
    for name in names:
        if name in OURS or name.startswith(MIRRORED):
            raise BadRemote(f"the header {name} cannot be configured: it belongs to the protocol or to the connection")
        if names.count(name) > 1:
            raise BadRemote(f"the header {name!a} is configured twice")
    return [_field(name, value) for name, value in headers.items()]


def _field(name: str, value: str) -> Header:
    if not _TOKEN.fullmatch(name):
        raise BadRemote(f"{name[:60]!a} is no name of a header")
    if not _VALUE.fullmatch(value):
        raise BadRemote(f"the header {name[:60]} has a value that no header can have: only visible ASCII, on one line")
    return name.encode(), value.encode()


def _host(host: str) -> str:
    if ":" not in host:
        if not _NAME.fullmatch(host):
            raise BadRemote("a URL names no host that could be reached")
        return host
    try:
        address = IPv6Address(host)
    except ValueError as error:
        raise BadRemote("a URL names no host that could be reached") from error
    if address.scope_id is not None:
        raise BadRemote("a URL names an interface of this machine")
    return str(address)
