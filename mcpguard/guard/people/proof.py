"""How users prove who they are: the interface behind which a password could be replaced by something else.

Rules kept here:
1. A proof names a user that there is, or nobody. It gives no role and makes no user.
2. It takes as long for somebody who is not there as for somebody who is, and says nothing of what was wrong.
"""

from dataclasses import dataclass, field
from typing import Protocol

from mcpguard.domain.people import User


@dataclass(frozen=True, slots=True)
class IdentityClaim:
    """The name that somebody claims, and the secret that they show for it."""

    name: str
    secret: str = field(repr=False)


class Proof(Protocol):
    """One way to prove an identity. `method` is its name in the records."""

    method: str

    async def user_of(self, claim: IdentityClaim) -> User | None:
        """The user whose identity is claimed, if the claim is true; None otherwise."""
        ...
