"""What a server's error says, in words of ours.

Nothing that a server wrote is repeated: it may hold what it was given in confidence. Of what it wants as credentials
the scheme is told, where it is one of those that are known.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.upstreams.exchange.conversation import INTERNAL_ERROR, ServerError
from mcpguard.upstreams.exchange.transport import SAID_LAST
from mcpguard.upstreams.transports.http_replies import UNAUTHORIZED

_MEANINGS: Final[Mapping[int, str]] = {
    400: "it does not understand what was asked; an older server may speak SSE (type: sse)",
    UNAUTHORIZED: "it wants credentials; declare a header for it, as in --header 'Authorization=Bearer ${env:TOKEN}'",
    403: "it does not accept the credentials that it was sent, or its own rules keep the guard out",
    404: "nothing is at this address; look at the path of the URL",
    405: "this address does not speak streamable HTTP; an older server may speak SSE (type: sse)",
    407: "a proxy in between wants credentials",
    429: "it is asked too often",
    502: "what stands in front of the server cannot reach it",
    503: "it is not ready, or too busy",
    504: "what stands in front of the server got no answer from it",
}
_SCHEMES: Final[Mapping[str, str]] = {"bearer": "a token", "basic": "a name and a password", "digest": "a digest"}


def status(error: ServerError) -> int | None:
    """The HTTP status, where the server answered with one and with no error of the protocol."""
    match error.error:
        case {"code": code, "data": {"status": int(number)}} if code == INTERNAL_ERROR:
            return number
        case _:
            return None


def sentence(error: BaseException) -> str:
    """What went wrong."""
    if isinstance(error, ServerError):
        number = status(error)
        if number is not None:
            meaning = _MEANINGS.get(number, "")
            scheme = _scheme(error.error["data"]) if number == UNAUTHORIZED else ""
            return f"the server answered with HTTP status {number}" + (f": {meaning}{scheme}" if meaning else "")
    return str(error)


def of_ours(said: str) -> str:
    """A sentence without the last words of a server that may end it: for what is kept and cannot be taken back."""
    return said.partition(SAID_LAST)[0]


def _scheme(data: Mapping[str, Any]) -> str:
    """The kind of credentials that it asks for."""
    challenge = str(data.get("www_authenticate", ""))
    word = challenge.partition(" ")[0].lower()
    if word not in _SCHEMES:
        return ""
    way = ", which it says can be had by OAuth; mcpguard does not fetch one" if "resource_metadata" in challenge else ""
    return f" (it asks for {_SCHEMES[word]}{way})"


def leaves(error: BaseException) -> Iterator[BaseException]:
    """What went wrong, in the order in which it did; what followed from the first says less."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from leaves(each)
    else:
        yield error
