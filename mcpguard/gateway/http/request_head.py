"""What the head of a request says, apart from what differs from call to call.

A client sends nearly the same head with each request on a connection. So it is read once, and again when it differs.

Rules kept here:
1. Nothing is taken from an earlier request but what depends on nothing else than the same target, the same method, the
   same bytes in the same headers, and the two ends of the connection. Who has a token is asked for each request.
2. A header that appears twice could mean two things, and is refused.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

import httptools

from mcpguard.codec.messages import INVALID_REQUEST
from mcpguard.codec.origins import is_foreign
from mcpguard.codec.origins import origin as ours
from mcpguard.gateway.http.plain import HEADER_MISMATCH, HttpRefusal
from mcpguard.gateway.identity import ConnectionEnds, Credential
from mcpguard.settings.address import OwnHosts

if TYPE_CHECKING:
    from mcpguard.gateway.clients import Client
    from mcpguard.gateway.faces.face import AgentFace

AGENTS = "/mcp"
_JSON = {"application/json", "application/*", "*/*"}
_STREAM = {"text/event-stream", "text/*", "*/*"}
Pairs = Sequence[tuple[bytes, bytes]]


def is_of_agents(url: bytes) -> bool:
    """Tell whether a request target is at the door of agents."""
    path = _path_of(httptools.parse_url(url).path)
    return path == AGENTS or path.startswith(AGENTS + "/")


class RequestHead:
    """What a method, a target and headers say, with the connection on which they came."""

    __slots__ = (
        "client",
        "credential",
        "face",
        "has_other_types",
        "is_foreign",
        "method",
        "pairs",
        "path",
        "peer",
        "query",
        "raw_path",
        "said",
        "scheme",
        "url",
    )

    def __init__(self, method: bytes, url: bytes, pairs: Pairs, hosts: OwnHosts, ends: ConnectionEnds) -> None:
        self.method = method
        self.url = url
        self.pairs = pairs
        target = httptools.parse_url(url)
        self.raw_path: bytes = target.path
        self.path = _path_of(self.raw_path)
        self.query: bytes = target.query or b""
        self.face: AgentFace | None = None
        """Set by the door for a target that means the same for every caller."""
        self.client: Client | None = None
        self.said: object = None
        """Set by the door: the client of the request before, and what it said of itself."""
        said = [value.decode("latin-1").lower() for name, value in pairs if name == b"host"]
        self.scheme = hosts.scheme(said[0]) if len(said) == 1 else None
        """None for a Host that is not ours."""
        self.credential = Credential(pairs, ends)
        self.peer = ends.peer_of(pairs)
        """Where the request comes from, as it is recorded."""
        self.is_foreign = self.scheme is None or _raises(self.check_origin)
        self.has_other_types = _raises(self.check_types)
        """Whether `check_origin` and `check_types` raise something for it."""

    def __getitem__(self, name: bytes) -> str | None:
        """The value of a header. White space around it is no part of it (RFC 9110, 5.5). Raises HttpRefusal for one
        that appears twice.
        """
        found = [value for key, value in self.pairs if key == name]
        if len(found) > 1:
            raise twice(name.decode())
        return found[0].strip(b" \t").decode("latin-1") if found else None

    def check_origin(self) -> None:
        """Raise HttpRefusal for a page of another origin. The Host header has been checked before."""
        origin, site = self[b"origin"], self[b"sec-fetch-site"]
        if is_foreign(origin, site, ours(self.scheme or "", self[b"host"] or "")):
            raise HttpRefusal(403, INVALID_REQUEST, "requests from web pages of other origins are refused", "origin")

    def check_types(self) -> None:
        """Raise HttpRefusal for a body that is no JSON, and for a client that does not take our answers."""
        kind = (self[b"content-type"] or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise HttpRefusal(415, INVALID_REQUEST, "send application/json", "content type")
        kinds = self._accepted_types()
        if not (kinds & _JSON and kinds & _STREAM):
            raise HttpRefusal(
                406, INVALID_REQUEST, "Accept must list both application/json and text/event-stream", "accept"
            )

    def check_accepts_stream(self) -> None:
        """Raise HttpRefusal for a client that does not take a stream of events."""
        if not self._accepted_types() & _STREAM:
            raise HttpRefusal(406, INVALID_REQUEST, "Accept must list text/event-stream", "accept")

    def _accepted_types(self) -> set[str]:
        """The media types that the client accepts, from one Accept header or several."""
        said = b",".join(value for key, value in self.pairs if key == b"accept").decode("latin-1").lower()
        return {each.partition(";")[0].strip() for each in said.split(",")}


def twice(name: str) -> HttpRefusal:
    """Return the refusal for a header that appears twice."""
    return HttpRefusal(400, HEADER_MISMATCH, f"the header {name} appears more than once", "headers")


def _path_of(raw: bytes) -> str:
    path = raw.decode("ascii")
    return unquote(path) if "%" in path else path


def _raises(check: Callable[[], None]) -> bool:
    try:
        check()
    except HttpRefusal:
        return True
    return False
