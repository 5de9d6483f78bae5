"""Which web pages may call the endpoints for agents: our own, and no other (`codec/origins.py`)."""

from starlette.types import Scope

from mcpguard.codec.messages import INVALID_REQUEST
from mcpguard.codec.origins import is_foreign
from mcpguard.codec.origins import origin as ours
from mcpguard.gateway.http.plain import HttpRefusal, header


def check_origin(scope: Scope) -> None:
    """Raise HttpRefusal for a page of another origin. The Host header has been checked before."""
    origin, site = header(scope, b"origin"), header(scope, b"sec-fetch-site")
    if is_foreign(origin, site, ours(scope["scheme"], header(scope, b"host") or "")):
        raise HttpRefusal(403, INVALID_REQUEST, "requests from web pages of other origins are refused", "origin")
