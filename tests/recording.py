"""Records a call around work of the test's own, as the guard does around sending."""

from collections.abc import Awaitable, Callable

from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.ledger.entries import Entry, Still, unconditionally
from mcpguard.ledger.ledger import Ledger


async def record(
    ledger: Ledger, opening: Opening, work: Callable[[Entry], Awaitable[Outcome]], still: Still = unconditionally
) -> Outcome:
    """Record the call around the work, which runs unless the verdict denies it. Returns what its caller is told."""
    if isinstance(opening.verdict, Deny):
        return await ledger.refuse(opening)
    entry = ledger.open(opening, still)
    try:
        async with entry:
            entry.outcome = await work(entry)
    except LedgerUnavailable:
        assert entry.ended
    return entry.outcome
