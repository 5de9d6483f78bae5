"""The checks that every network request passes before it reaches a page.

Rules kept here:
1. An unknown Host is 421: a foreign page whose host name resolves to the guard (DNS rebinding) gets nothing.
2. A body over the limit is 413 before it is read to its end, whatever its headers say.
3. Every response forbids scripts, frames and connections of other origins.
"""

from collections.abc import Awaitable
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcpguard.settings.address import LOOPBACK, UNKNOWN_HOST, OwnHosts
from mcpguard.web.gate.problem import is_of_programs, problem

LONGEST_NUMBER = 18  # digits; Python itself refuses to read very long ones, with an exception
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
HSTS = {"strict-transport-security": "max-age=31536000"}
"""For a name that is reached over TLS. Not for `localhost`, at which other programs listen, too."""

_NAMED = "mcpguard.named"
"""In a scope: whether it came over TLS, by a name that is not `localhost`."""


class Hosts:
    """Refuses an unknown Host."""

    def __init__(self, app: ASGIApp, ours: OwnHosts) -> None:
        self._app = app
        self._ours = ours

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http":
            given = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
            scheme = self._ours.scheme(given[0]) if len(given) == 1 else None
            if scheme is None:
                return _refusal(scope, 421, UNKNOWN_HOST)(scope, receive, send)
            if scheme == "https":
                scope["scheme"] = scheme
                scope[_NAMED] = not given[0].startswith(LOOPBACK)
        return self._app(scope, receive, send)


class Headers:
    """Adds the security headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS | (HSTS if scope.get(_NAMED) else {}))
            await send(message)

        await self._app(scope, receive, answer)


def _refusal(scope: Scope, status: int, sentence: str) -> Response:
    """Make the answer of a refusal: a problem for programs, a line of text for browsers."""
    if is_of_programs(scope):
        return problem("refused", status, HTTPStatus(status).phrase, sentence)
    return PlainTextResponse(f"{sentence}\n", status)


class _TooLarge(Exception):
    """A body is larger than the limit."""


class BodyLimit:
    """Refuses a body over the limit, by its declared length and by the bytes that arrive."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] != "http":
            return self._app(scope, receive, send)
        sizes = [value.decode("latin-1") for name, value in scope["headers"] if name == b"content-length"]
        if not all(map(self._fits, sizes)):
            return self._refusal(scope)(scope, receive, send)
        return self._count(scope, receive, send)

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(receive, send, self._limit)
        try:
            await self._app(scope, body.receive, body.answer)
        except _TooLarge:
            if not body.is_too_large:
                raise
        if body.is_too_large:
            await self._refusal(scope)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response:
        return _refusal(scope, 413, f"The body is larger than {self._limit} bytes.")

    def _fits(self, length: str) -> bool:
        return length.isdecimal() and len(length) <= LONGEST_NUMBER and int(length) <= self._limit


class _Body:
    """A body that is counted while it arrives, and the answer to it."""

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive = receive
        self._send = send
        self._left = limit
        self._answered = False

    @property
    def is_too_large(self) -> bool:
        """Whether the body exceeded the limit before an answer had begun."""
        return self._left < 0 and not self._answered

    async def receive(self) -> Message:
        if self._left >= 0:
            message = await self._receive()
            self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _TooLarge
        return message

    async def answer(self, message: Message) -> None:
        if self.is_too_large:
            return  # the framework would answer 400 or 500 for a body that it could not read; the reason is 413
        self._answered = True
        await self._send(message)
