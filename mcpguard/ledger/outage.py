"""The state of a ledger that cannot write: since when and why, and which closings it still has to write."""

from dataclasses import dataclass

from mcpguard.domain.calls.outcomes import Outcome


@dataclass(slots=True)
class Outage:
    """Since when the ledger cannot write (UTC, microseconds), why, and how many records it had to refuse."""

    since: int
    why: str
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Owed:
    """A closing that could not be stored, and is written later."""

    outcome: Outcome
    took_us: int
