"""What was decided about a call. Exhaustive: a `match` over `Verdict` that misses one does not type-check."""

from dataclasses import dataclass

from mcpguard.domain.reasons import Reason


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may be sent."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The call waits for a person."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Deny:
    """The call is refused and nothing is sent."""

    reason: Reason


Verdict = Allow | Hold | Deny
