"""A caller as a person has granted it: who it is, how far it reaches, until when. What it shows is kept as a digest.

Rules kept here:
1. A grant does not change. Whoever is to reach further, or less far, gets another one, with another token.
2. An id is one caller's for ever. A label is one caller's until that one is revoked.
"""

import re
from dataclasses import dataclass
from typing import Final

from mcpguard.domain.callers import Caller
from mcpguard.domain.errors import GuardError

LABEL: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
ANONYMOUS: Final = "anonymous"
"""The id and the label of whoever shows no token; nobody else's."""

USUAL_SECONDS: Final = 90 * 86_400
"""For how long a token holds, an agent's or an operator's, where nobody says for how long, or that it never ends."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A caller, who let it in and when, and when that ends (UTC, microseconds; None: when somebody revokes it)."""

    caller: Caller
    at: int
    by: str
    expires_at: int | None = None

    def holds(self, now: int) -> bool:
        """Whether its time is not over."""
        return self.expires_at is None or now < self.expires_at


class CallerUnknown(GuardError):
    """There is no such caller, or it was revoked before."""


class LabelTaken(GuardError):
    """There is a caller of this name already."""
