"""The right that a route needs, and the check that the sender has it.

Rules kept here:
1. Every route names exactly one right, or is marked as open; there is no default.
2. On the operator's socket, the peer identified by the kernel may do everything. On the network, the sender is the
   principal identified by `credentials`: a user or an operator's token, never an agent's token.
3. The right is checked before any of the body is read.
"""

from typing import Any, Final

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from mcpguard.domain.decisions import Forbidden
from mcpguard.domain.errors import GuardError
from mcpguard.domain.people import Principal, Right
from mcpguard.web.gate.sender import whoever


class NobodyKnown(GuardError):
    """The request has no valid credential."""


class RightLacking(Forbidden):
    """The sender is known, and the role does not permit the request."""


class Needs:
    """The right that a route needs; None for an open route."""

    def __init__(self, right: Right | None) -> None:
        self.right = right

    async def __call__(self, request: Request) -> None:
        """Raise NobodyKnown or RightLacking."""
        if self.right is None:
            return
        by = whoever(request)
        if by is None:
            raise NobodyKnown("sign in, or send an API token: Authorization: Bearer mcpo_…")
        if isinstance(by, Principal) and not by.may(self.right):
            raise RightLacking(f"this needs the right `{self.right}`, which the role {by.role} does not have")


OPEN: Final = Depends(Needs(None))
"""The dependency of an open route."""


def may(right: Right) -> Any:  # noqa: ANN401 - as FastAPI's own `Depends`
    """The dependency of a route that needs this right."""
    return Depends(Needs(right))


def needs_of(route: APIRoute) -> Needs:
    """Return the right that a route names. Raises ValueError where it names none, or more than one."""
    (needs,) = (each.dependency for each in route.dependencies if isinstance(each.dependency, Needs))
    return needs
