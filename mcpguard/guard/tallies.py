"""Facts that are recorded once a minute and not each time: whoever causes them must not be able to flood the ledger.

Rules kept here:
1. What is alike within a minute is one record with a count. The number of different ones is bounded too; what comes
   beyond it is counted as `other`.
2. What could not be recorded is kept and recorded when the ledger can write again.
"""

from collections import Counter
from collections.abc import Mapping

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.records import RecordKind
from mcpguard.ledger.ledger import Ledger

MOST_DIFFERENT = 1000
PERIOD_SECONDS = 60.0
Key = tuple[RecordKind, tuple[tuple[str, Scalar], ...]]


class Tallies:
    """Counts what happens, and records the counts."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._counts: Counter[Key] = Counter()

    def disclosed(self, **facts: Scalar) -> None:
        """Somebody was shown what is offered."""
        self._count(RecordKind.DISCLOSED, facts)

    def turned_away(self, **facts: Scalar) -> None:
        """Something came that could not be understood, or from where nothing is taken."""
        self._count(RecordKind.TURNED_AWAY, facts)

    async def run(self) -> None:
        while True:
            await self._clock.sleep(PERIOD_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Record what was counted. It is kept until it is stored, also if this is cancelled."""
        for key, count in tuple(self._counts.items()):
            kind, facts = key
            try:
                await self._ledger.note(kind, {**dict(facts), "count": count})
            except LedgerUnavailable:
                return
            self._counts[key] -= count
            if not self._counts[key]:
                del self._counts[key]

    def _count(self, kind: RecordKind, facts: Mapping[str, Scalar]) -> None:
        key = (kind, tuple(sorted(facts.items())))
        if key not in self._counts and len(self._counts) >= MOST_DIFFERENT:
            key = (kind, (("other", True),))
        self._counts[key] += 1
