"""Which right a route needs, and who has it.

Rules kept here:
1. Every route names exactly one right, or says that it is open; there is no default.
2. At the operator's socket the peer, whom its credentials name, may do everything. On the network it is the principal
   that the gate before has found: a person, or an operator's token. An agent's token never is one.
3. Who may is asked before anything of the body is read.
"""

from typing import Any, Final

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from mcpguard.domain.decisions import Forbidden
from mcpguard.domain.errors import GuardError
from mcpguard.domain.people import Principal, Right
from mcpguard.web.gate.peer import OperatorPeer


class NobodyKnown(GuardError):
    """Nobody has said who they are, or not in a way that holds."""


class RightLacking(Forbidden):
    """Whoever sent this is known, and may not do it."""


class Needs:
    """The right that a route needs; None where everybody is heard."""

    def __init__(self, right: Right | None) -> None:
        self.right = right

    async def __call__(self, request: Request) -> None:
        """Raises NobodyKnown or RightLacking."""
        if self.right is None:
            return
        by = whoever(request)
        if by is None:
            raise NobodyKnown("sign in, or send an operator's token: Authorization: Bearer mcpo_…")
        if isinstance(by, Principal) and not by.may(self.right):
            raise RightLacking(f"this needs the right to {self.right}, which the role {by.role} does not have")


OPEN: Final = Depends(Needs(None))
"""The dependency of a route that everybody may use."""


def may(right: Right) -> Any:  # noqa: ANN401 - as FastAPI's own `Depends`
    """The dependency of a route that needs this right."""
    return Depends(Needs(right))


def needed(route: APIRoute) -> Needs:
    """The right that a route names. Raises ValueError where it names none, or more than one."""
    (needs,) = (each.dependency for each in route.dependencies if isinstance(each.dependency, Needs))
    return needs


def whoever(request: Request) -> OperatorPeer | Principal | None:
    """Who sent this: the peer at the operator's socket, the principal on the network, or nobody."""
    peer = getattr(request.state, "peer", None)
    if isinstance(peer, OperatorPeer):
        return peer
    principal = getattr(request.state, "principal", None)
    return principal if isinstance(principal, Principal) else None
