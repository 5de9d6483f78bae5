"""Grants: callers that a user created, with their scope and expiry.

Only a digest of a token is stored.

Rules kept here:
1. A grant is immutable. A wider or narrower scope needs another grant, with another token.
2. An id belongs to one caller permanently, a label until its caller is revoked.
"""

import re
from dataclasses import dataclass
from typing import Final

from mcpguard.domain.callers import Caller
from mcpguard.domain.errors import GuardError

LABEL: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
ANONYMOUS: Final = "anonymous"
"""The id and the label of callers without a token; no grant has them."""

USUAL_SECONDS: Final = 90 * 86_400
"""How long a token of a caller or an operator is valid, unless another time, or none, is chosen."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A caller, who created it and when, and when it expires (UTC, microseconds; None: it is valid until revoked).

    `certificate`: the name in client certificates by which the caller is known; empty where it has a token.
    """

    caller: Caller
    at: int
    by: str
    expires_at: int | None = None
    certificate: str = ""

    def holds(self, now: int) -> bool:
        """Tell whether it has not expired."""
        return self.expires_at is None or now < self.expires_at


class CallerUnknown(GuardError):
    """The caller does not exist, or was revoked."""


class LabelTaken(GuardError):
    """A caller with this label, or this name in certificates, exists already."""
