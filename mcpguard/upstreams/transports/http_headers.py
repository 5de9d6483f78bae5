"""Builds the headers of HTTP requests to servers, for each protocol era.

Rules kept here:
1. Up to 2025-11-25 there is a session; its id is sent with every request after the response to `initialize`, and only
   to the origin that issued it. From 2026-07-28 on there is no session, and each request repeats its method in a
   header.
2. Until a revision is negotiated, each request names its own; afterwards no request can leave the negotiated era.
3. Configured headers, which may hold credentials, are sent only to the origin that they were configured for.
"""

import re
from collections.abc import Mapping
from functools import partial

from mcpguard.codec import envelope
from mcpguard.codec.headers.header_values import NAMED_BY, encode_header
from mcpguard.upstreams.exchange.conversation import Params
from mcpguard.upstreams.exchange.endings import NoUsableAnswer
from mcpguard.upstreams.transports.http_pool import Headers
from mcpguard.upstreams.transports.http_replies import Reply
from mcpguard.upstreams.transports.remotes import Header, Remote, RemotePlace, parameter_headers

INITIALIZE = "initialize"
_POST = [
    (b"Accept", b"application/json, text/event-stream"),
    (b"Content-Type", b"application/json"),
    (b"Accept-Encoding", b"identity"),
]
_GET = [(b"Accept", b"text/event-stream"), (b"Accept-Encoding", b"identity")]
_AGENT = (b"User-Agent", b"mcpguard")
_SESSION = re.compile(rb"[\x21-\x7e]{1,4096}")
_VERSION = re.compile(r"[0-9A-Za-z.-]{1,40}")
_SENDABLE = re.compile(r"[\x20-\x7e]{1,1024}")


class Heading:
    """Builds the headers for one remote, from its session and revision."""

    def __init__(self, remote: Remote) -> None:
        self._origin = remote.place.origin
        named = any(name.lower() == b"user-agent" for name, _ in remote.fields)
        self._configured = remote.fields if named else (_AGENT, *remote.fields)
        self.version: str | None = None
        self.is_modern = False
        """Whether a revision of the modern era was negotiated: `version`."""
        self._session: tuple[bytes, tuple[str, str, int]] | None = None

    @property
    def has_session(self) -> bool:
        return self._session is not None

    def speak(self, version: str) -> None:
        self.version, self.is_modern = version, version in envelope.MODERN
        # The modern era has no sessions: an id that a server gave earlier must not tie requests together.
        if self.is_modern:
            self._session = None

    def modern(self, params: Params) -> str | None:
        """Return the revision in which these parameters are sent, if it is of the modern era."""
        if self.version is not None and self.version not in envelope.MODERN:
            return None
        said = envelope.meta(params).get(envelope.PROTOCOL, self.version)
        return said if isinstance(said, str) and _VERSION.fullmatch(said) else self.version

    def take_session(self, reply: Reply) -> None:
        """Remember the session in the answer to `initialize`, if there is one. Raises NoUsableAnswer for an invalid
        id.
        """
        given = reply.header(b"mcp-session-id")
        # The id goes into a header of every further request. With other characters it could add headers of its own.
        if given and not _SESSION.fullmatch(given):
            raise NoUsableAnswer("the server sent an invalid session id")
        self._session = (given, reply.place.origin) if given else None

    def carried_session(self, reply: Reply) -> bool:
        """Tell whether the request for this reply carried the session's id."""
        return self._session is not None and self._session[1] == reply.place.origin

    def asking(
        self, method: str, params: Params, version: str | None, extra: Mapping[str, str] | None = None
    ) -> Headers:
        """Return the headers for a request or a notification in a revision of the modern era, or in an earlier one.

        Raises BadRemote.
        """
        if version is None:
            return partial(self._at, _POST, in_session=method != INITIALIZE)
        said = [
            *_POST,
            (b"MCP-Protocol-Version", version.encode()),
            (b"Mcp-Method", encode_header(method).encode()),
        ]
        key = "taskId" if method.startswith("tasks/") else NAMED_BY.get(method)
        if params is not None and key is not None and isinstance(name := params.get(key), str):
            said.append((b"Mcp-Name", encode_header(name).encode()))
        return partial(self._at, said + parameter_headers(extra) if extra else said, in_session=False)

    def answering(self) -> Headers:
        """Return the headers for an answer to a server's request."""
        return partial(self._at, _POST)

    def listening(self, last_id: str = "") -> Headers:
        """Return the headers for a stream of events, resumed after `last_id` if that is not empty."""
        resumed = [(b"Last-Event-ID", last_id.encode())] if _SENDABLE.fullmatch(last_id) else []
        return partial(self._at, _GET + resumed)

    def _at(self, said: list[Header], place: RemotePlace, *, in_session: bool = True) -> list[Header]:
        """Return these headers together with those that depend on the place."""
        # Computed anew for every place: after a redirection to another origin, credentials and session stay behind.
        found = [*said]
        if place.origin == self._origin:
            found += self._configured
        if in_session and self.version is not None:
            found.append((b"MCP-Protocol-Version", self.version.encode()))
        if in_session and self._session is not None and self._session[1] == place.origin:
            found.append((b"Mcp-Session-Id", self._session[0]))
        return found
