"""The proof of a user's identity: an interface behind which passwords could be replaced.

Rules kept here:
1. A proof names an existing user, or nobody. It grants no role and creates no user.
2. It takes as long for an unknown user as for a known one, and does not say what was wrong.
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
