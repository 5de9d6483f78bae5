"""The sender of a request, as the gates before it have stored it in the request."""

from starlette.requests import Request

from mcpguard.domain.people import Principal
from mcpguard.web.gate.peer import OperatorPeer


def whoever(request: Request) -> OperatorPeer | Principal | None:
    """Return the sender: the peer at the operator's socket, the principal on the network, or None if unknown."""
    peer = getattr(request.state, "peer", None)
    if isinstance(peer, OperatorPeer):
        return peer
    principal = getattr(request.state, "principal", None)
    return principal if isinstance(principal, Principal) else None
