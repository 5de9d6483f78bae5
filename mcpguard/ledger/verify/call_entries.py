"""Checks that every entry is opened once and closed once."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.ledger.verify.tombstones import Tombstones

MOST: Final = 100_000
"""Entries that are followed at once. No guard has so many calls open."""
LONGEST: Final = 64
"""Characters of an id; those of a guard have fewer."""


class CallEntries:
    """Follows every entry from its opening to its closing. Keeps only the open ones, and at most `MOST`."""

    def __init__(self, report: ChainReport, tombstones: Tombstones) -> None:
        self._report = report
        self._tombstones = tombstones
        self._openings_lost = False

    def expect_lost_openings(self) -> None:
        """From here on, an entry may be closed without an opening: the chain says that records were lost."""
        self._openings_lost = True

    def take(self, seq: int, record: Mapping[str, Any]) -> None:
        entry, kind = entry_id(record.get("entry")), record["kind"]
        still_open = self._report.open_entries
        match kind:
            case "opened":
                if entry in still_open:
                    self._inconsistent(seq, f"entry {entry} was opened twice")
                self._follow(seq, entry)
            # A closing without an opening was added, or its opening removed.
            case "released" | "closed" if entry not in still_open and not self._excused(seq):
                self._inconsistent(seq, f"entry {entry} was {kind}, but is not open")
            case "closed":
                still_open.discard(entry)
            case _:
                pass

    def may_pass(self, paired: Sequence[str], opened: int) -> bool:
        """Tell whether these entries, which are opened and then closed within a stretch in which so many are opened in
        all, would leave no trace here."""
        still_open = self._report.open_entries
        return len(still_open) + opened <= MOST and still_open.isdisjoint(paired)

    def _follow(self, seq: int, entry: str) -> None:
        # Anybody can write openings without end; memory must not follow.
        if len(self._report.open_entries) < MOST:
            self._report.open_entries.add(entry)
        else:
            self._inconsistent(seq, f"more than {MOST:,} entries are open at once, so this one is not followed")

    def _excused(self, seq: int) -> bool:
        return self._openings_lost or self._tombstones.excuses(seq)

    def _inconsistent(self, seq: int, sentence: str) -> None:
        self._report.add_problem(seq, Tampering.INCONSISTENT, sentence)


def entry_id(said: object) -> str:
    """Return the id of an entry, or its hash if it is longer than a guard's ids: anybody may have written it."""
    entry = str(said)
    return entry if len(entry) <= LONGEST else sha256(entry.encode(errors="replace")).hexdigest()
