"""How somebody shows who they are: the one place where a password could be something else.

Rules kept here:
1. A proof names a user that there is, or nobody. It gives no role and makes no user.
2. It takes as long for somebody who is not there as for somebody who is, and says nothing of what was wrong.
"""

from dataclasses import dataclass, field
from typing import Protocol

from mcpguard.domain.people import User


@dataclass(frozen=True, slots=True)
class IdentityClaim:
    """Who somebody says they are, and what they show for it."""

    name: str
    secret: str = field(repr=False)


class Proof(Protocol):
    """One way to show it. `method` is its name in the records."""

    method: str

    async def user_of(self, claim: IdentityClaim) -> User | None:
        """Whose claim this is, if it is true. Whether they may sign in is not asked here."""
        ...
