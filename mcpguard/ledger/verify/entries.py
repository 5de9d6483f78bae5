"""One opening, one closing: what the records of calls say together."""

from collections.abc import Mapping
from typing import Any

from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.ledger.verify.tombstones import Tombstones


class Entries:
    """Follows every entry from its opening to its closing. Keeps only those that are open."""

    def __init__(self, report: ChainReport, tombstones: Tombstones) -> None:
        self._report = report
        self._tombstones = tombstones
        self._openings_lost = False

    def lost(self) -> None:
        """From here on an entry may end whose opening the chain says was lost."""
        self._openings_lost = True

    def take(self, seq: int, record: Mapping[str, Any]) -> None:
        entry, kind = str(record.get("entry")), record["kind"]
        still_open = self._report.open_entries
        match kind:
            case "opened":
                if entry in still_open:
                    self._inconsistent(seq, f"entry {entry} was opened twice")
                still_open.add(entry)
            case "released" | "closed" if entry not in still_open and not self._excused(seq):
                self._inconsistent(seq, f"entry {entry} was {kind}, but is not open")
            case "closed":
                still_open.discard(entry)
            case _:
                pass

    def _excused(self, seq: int) -> bool:
        return self._openings_lost or self._tombstones.excuses(seq)

    def _inconsistent(self, seq: int, sentence: str) -> None:
        self._report.found(seq, Tampering.INCONSISTENT, sentence)
