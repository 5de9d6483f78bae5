"""The URL of a remote server and the headers configured for it.

Rules kept here:
1. A URL is parsed once and strictly: the host that is resolved, the one that TLS verifies and the one in `Host` are the
   same. A URL that contains credentials is refused.
2. A configured header cannot replace a header of the protocol or of the connection, and its value cannot start another
   header (header injection).
3. Neither an error nor a `repr` shows a header's value.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from urllib.parse import urljoin, urlsplit

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
    """A URL or a header cannot be used. The message says which, and never repeats a value."""


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """The parts of a URL."""

    scheme: str
    host: str
    port: int
    target: str = field(repr=False)
    origin: tuple[str, str, int] = field(init=False, repr=False, compare=False)
    authority: str = field(init=False, repr=False, compare=False)
    """Host and port, as in the `Host` header."""

    def __post_init__(self) -> None:
        host = f"[{self.host}]" if ":" in self.host else self.host
        object.__setattr__(self, "origin", (self.scheme, self.host, self.port))
        object.__setattr__(self, "authority", host if self.port == PORTS[self.scheme] else f"{host}:{self.port}")

    def towards(self, reference: str) -> "RemotePlace":
        """Return the place that a reference leads to from here. Raises BadRemote."""
        if not _URL.fullmatch(reference):
            raise BadRemote("the URL contains invalid characters")
        try:
            return parse_url(urljoin(f"{self.scheme}://{self.authority}{self.target}", reference))
        except ValueError as error:
            raise BadRemote("the URL is invalid") from error


@dataclass(frozen=True, slots=True)
class Remote:
    """A server at a URL. `headers` are sent to its own origin and nowhere else."""

    url: str = field(repr=False)  # its query may hold a secret
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    place: RemotePlace = field(init=False)
    fields: tuple[Header, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", parse_url(self.url))
        object.__setattr__(self, "fields", tuple(_configured(self.headers)))


def parse_url(url: str) -> RemotePlace:
    """Parse a URL. Raises BadRemote."""
    if not _URL.fullmatch(url):
        raise BadRemote("the URL contains invalid characters; write international host names in ASCII form (xn--…)")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadRemote("the URL or its port is invalid") from error
    if parts.scheme not in PORTS:
        raise BadRemote("the URL must begin with https:// or http://")
    # A URL is shown to reviewers and written to logs, which no secret must reach.
    if parts.username is not None or parts.password is not None:
        raise BadRemote("the URL must not contain credentials; use a header instead")
    if port == 0:
        raise BadRemote("the URL's port must be from 1 to 65535")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return RemotePlace(parts.scheme, _host(parts.hostname or ""), port or PORTS[parts.scheme], target)


def parameter_headers(headers: Mapping[str, str]) -> list[Header]:
    """Return the headers that repeat parameters of a call. Raises BadRemote."""
    for name in headers:
        if not name.lower().startswith(MIRRORED):
            raise BadRemote("only headers that repeat parameters may be added to a request")
    return [_field(name, value) for name, value in headers.items()]


def _configured(headers: Mapping[str, str]) -> list[Header]:
    names = [name.lower() for name in headers]
    for name in names:
        if name in OURS or name.startswith(MIRRORED):
            raise BadRemote(
                f"the header {name} cannot be configured: it is reserved for the protocol or the connection"
            )
        # With two headers of one name it depends on the server which of them counts.
        if names.count(name) > 1:
            raise BadRemote(f"the header {name!a} is configured twice")
    return [_field(name, value) for name, value in headers.items()]


def _field(name: str, value: str) -> Header:
    if not _TOKEN.fullmatch(name):
        raise BadRemote(f"{name[:60]!a} is not a valid header name")
    # A line end in a value would begin another header, or another request.
    if not _VALUE.fullmatch(value):
        raise BadRemote(f"the header {name[:60]} has an invalid value: use visible ASCII on one line")
    return name.encode(), value.encode()


def _host(host: str) -> str:
    if ":" not in host:
        if not _NAME.fullmatch(host):
            raise BadRemote("the URL has no valid host name")
        return host
    try:
        address = IPv6Address(host)
    except ValueError as error:
        raise BadRemote("the URL has no valid host name") from error
    if address.scope_id is not None:
        raise BadRemote("the URL names a network interface of this host; use an address without a zone")
    return str(address)
