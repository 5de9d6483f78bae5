"""Sends HTTP requests to one remote server over a pool of reusable connections.

Rules kept here:
1. An error affects only its own request, and reports whether the server may have executed it.
2. A few redirects are followed, with the same method and the same checks: within the origin, and from plain HTTP to TLS
   on the same host. Another host or port would be another server than the approved one. Headers for one origin are
   never sent to another: `Headers` are computed anew for every target.
3. Nothing is sent twice. A connection that was idle for a while is not reused, so that no request is sent just as the
   server closes it.
4. Text from a server is never repeated in an error.
"""

import ssl
from collections.abc import Callable

import httpcore2
import structlog

from mcpguard.upstreams.exchange.endings import NoUsableAnswer, Unsent
from mcpguard.upstreams.transports.dialing import CONNECT_SECONDS, Dialer, Dialing
from mcpguard.upstreams.transports.http_replies import Reply
from mcpguard.upstreams.transports.remotes import BadRemote, Header, Remote, RemotePlace

MOST_CONNECTIONS = 2048
MOST_IDLE = 64
IDLE_SECONDS = 4.0
MOST_REDIRECTIONS = 5
_FOLLOWED = {"GET": {301, 302, 303, 307, 308}, "POST": {307, 308}}
_TIMES = {"timeout": {"connect": CONNECT_SECONDS, "pool": CONNECT_SECONDS}}
_NEVER_SENT = (httpcore2.PoolTimeout, httpcore2.LocalProtocolError, httpcore2.UnsupportedProtocol)
_FAILED = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError)

Headers = Callable[[RemotePlace], list[Header]]
log = structlog.get_logger("mcpguard.upstreams")


class HttpPool:
    """The pool of connections to one remote."""

    def __init__(self, remote: Remote, dialing: Dialing, trust: ssl.SSLContext) -> None:
        self._start = remote.place
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trust,
            max_connections=MOST_CONNECTIONS,
            max_keepalive_connections=MOST_IDLE,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=Dialer(dialing),
        )

    async def send(self, method: str, headers: Headers, body: bytes = b"", at: RemotePlace | None = None) -> Reply:
        """Return the reply, whatever its status; the caller closes it. Raises Unsent or NoUsableAnswer."""
        place = at or self._start
        reply = await self._once(method, place, headers(place), body)
        for _ in range(MOST_REDIRECTIONS):
            if not _leads_on(reply, method):
                return reply
            await reply.aclose()
            place = _next(place, reply.header(b"location"))
            try:
                reply = await self._once(method, place, headers(place), body)
            except Unsent as error:  # not sent to this place, but the one before has seen it
                raise NoUsableAnswer(f"cannot follow the server's redirection: {error}") from error
        if not _leads_on(reply, method):
            return reply
        await reply.aclose()
        raise NoUsableAnswer("too many redirections")

    async def _once(self, method: str, place: RemotePlace, headers: list[Header], body: bytes) -> Reply:
        # Set here and nowhere else, from the parsed URL: a configured Host could reach another site on the same server.
        headers.append((b"Host", place.authority.encode()))
        if method == "POST":
            headers.append((b"Content-Length", b"%d" % len(body)))
        request = httpcore2.Request(method, place.url, headers=headers, content=body, extensions=_TIMES)
        try:
            response = await self._pool.handle_async_request(request)
        except _NEVER_SENT as error:
            raise Unsent(f"the request could not be sent to {place.host}") from error
        except _FAILED as error:
            # The details only in the debug log: the library's text may contain bytes of the server.
            log.debug("upstream.failed", host=place.host, why=repr(error))
            raise NoUsableAnswer(
                f"{place.host} closed the connection or answered with something that is not HTTP"
            ) from error
        return Reply(response, place)

    async def aclose(self) -> None:
        await self._pool.aclose()


def _leads_on(reply: Reply, method: str) -> bool:
    return reply.status in _FOLLOWED.get(method, ()) and bool(reply.header(b"location"))


def _next(here: RemotePlace, location: bytes) -> RemotePlace:
    try:
        there = here.towards(location.decode("ascii"))
    except (BadRemote, UnicodeDecodeError) as error:
        raise NoUsableAnswer("the server redirects to an invalid URL") from error
    # A redirection to plain HTTP would send the call in the clear.
    if here.scheme == "https" and there.scheme != "https":
        raise NoUsableAnswer("the server redirects to a URL without TLS, which is not followed")
    if here.host != there.host:
        raise NoUsableAnswer("the server redirects to another host, which is not followed; declare that URL instead")
    if here.scheme == there.scheme and here.port != there.port:
        raise NoUsableAnswer("the server redirects to another port, which is not followed; declare that URL instead")
    return there
