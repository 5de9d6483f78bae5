"""Describes a server's error in the guard's own sentences.

Text from a server is never repeated, because it may contain the secrets that the server was given. Of the credentials
that it requests only the scheme is named, if it is a known one.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.upstreams.exchange.conversation import INTERNAL_ERROR, ServerError
from mcpguard.upstreams.exchange.transport import SAID_LAST
from mcpguard.upstreams.transports.http_replies import UNAUTHORIZED

_MEANINGS: Final[Mapping[int, str]] = {
    400: "it rejected the request; an older server may need SSE (type: sse)",
    UNAUTHORIZED: "it requires credentials; add a header such as Authorization: Bearer ${env:TOKEN}",
    403: "it rejected the credentials, or its own rules block the guard",
    404: "there is no MCP endpoint at this URL; check the path",
    405: "this URL does not support streamable HTTP; an older server may need SSE (type: sse)",
    407: "a proxy in between requires credentials",
    429: "rate limit exceeded",
    502: "the gateway in front of the server cannot reach it",
    503: "it is unavailable or overloaded",
    504: "the gateway in front of the server got no answer from it",
}
_SCHEMES: Final[Mapping[str, str]] = {
    "bearer": "a bearer token",
    "basic": "user name and password",
    "digest": "digest authentication",
}


def http_status(error: ServerError) -> int | None:
    """Return the HTTP status, where the server answered with one instead of a JSON-RPC error."""
    match error.error:
        case {"code": code, "data": {"status": int(number)}} if code == INTERNAL_ERROR:
            return number
        case _:
            return None


def error_sentence(error: BaseException) -> str:
    """Return what went wrong in a sentence without a full stop."""
    if isinstance(error, ServerError):
        number = http_status(error)
        if number is not None:
            meaning = _MEANINGS.get(number, "")
            scheme = _scheme(error.error["data"]) if number == UNAUTHORIZED else ""
            return f"the server answered with HTTP status {number}" + (f": {meaning}{scheme}" if meaning else "")
    return str(error)


def without_last_words(said: str) -> str:
    """Return the sentence without the server's last output: the audit log must not keep a secret for ever."""
    return said.partition(SAID_LAST)[0]


def _scheme(data: Mapping[str, Any]) -> str:
    """Return the kind of credentials that the server requests, in brackets; empty where it is unknown."""
    challenge = str(data.get("www_authenticate", ""))
    word = challenge.partition(" ")[0].lower()
    if word not in _SCHEMES:
        return ""
    oauth = " from OAuth, which mcpguard does not support" if "resource_metadata" in challenge else ""
    return f" (it requests {_SCHEMES[word]}{oauth})"


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors in a group in the order in which they happened; the first one is the cause of the others."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from leaves(each)
    else:
        yield error
