"""Which browsers' pages may speak to agents' endpoints: our own, and no other.

Programs send neither header. A browser sends at least one of them with everything that a page makes it send here.
"""

from starlette.types import Scope

from mcpguard.codec.messages import INVALID_REQUEST
from mcpguard.gateway.http.plain import Turned, header

_SAME = ("same-origin", "none")


def check_origin(scope: Scope) -> None:
    """Raises Turned for a page that is not ours."""
    origin, site = header(scope, b"origin"), header(scope, b"sec-fetch-site")
    if origin is not None and origin.lower() != _ours(scope):
        raise Turned(403, INVALID_REQUEST, "requests from pages of other sites are refused", "origin")
    if site is not None and site not in _SAME:
        raise Turned(403, INVALID_REQUEST, "requests from pages of other sites are refused", "origin")


def _ours(scope: Scope) -> str:
    """Our own origin, as the client reaches us; the host has been checked before."""
    return f"{scope['scheme']}://{(header(scope, b'host') or '').lower()}"
