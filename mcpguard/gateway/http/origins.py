"""Which browsers' pages may speak to agents' endpoints: our own, and no other (`codec/origins.py`)."""

from starlette.types import Scope

from mcpguard.codec.messages import INVALID_REQUEST
from mcpguard.codec.origins import is_foreign
from mcpguard.codec.origins import origin as ours
from mcpguard.gateway.http.plain import Turned, header


def check_origin(scope: Scope) -> None:
    """Raises Turned for a page that is not ours. The host has been checked before."""
    origin, site = header(scope, b"origin"), header(scope, b"sec-fetch-site")
    if is_foreign(origin, site, ours(scope["scheme"], header(scope, b"host") or "")):
        raise Turned(403, INVALID_REQUEST, "requests from pages of other sites are refused", "origin")
