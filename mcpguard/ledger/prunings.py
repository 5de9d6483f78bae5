"""Records of kind `pruned`: which stretch of the chain was emptied, why, and at whose request.

docs/ledger-format.md (5) is the specification for other verifiers.
"""

from bisect import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.errors import GuardError
from mcpguard.ledger.format import Fields, parse_content
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import pruning


class PrunedPart(StrEnum):
    """The part that was emptied: records with their bodies, or bodies alone."""

    RECORDS = "records"
    BODIES = "bodies"


class PruningCause(StrEnum):
    """Why something was pruned."""

    AGE = "age"
    COUNT = "count"
    SIZE = "size"
    ASKED = "asked"


class Unsound(GuardError):
    """The records to be removed are not what was written, so they stay as the evidence of that."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the chain that is emptied as one. `count`: of how many; `hashes`, `keys`: of records only."""

    what: PrunedPart
    first: int
    last: int
    count: int
    hashes: str = ""
    keys: str = ""

    def fields(self, why: PruningCause, asked: Fields) -> dict[str, Scalar]:
        """The fields of its record. `asked`: who requested it, if anybody did."""
        said: dict[str, Scalar] = {"what": self.what.value, "first": self.first, "last": self.last}
        if self.what is PrunedPart.RECORDS:
            said |= {"hashes": self.hashes, "keys": self.keys}
        return {**said, "count": self.count, "why": why.value, **asked}

    @classmethod
    def read(cls, seq: int, content: bytes) -> Self | None:
        """Parse the record of this number; None if it accounts for no earlier record."""
        said = parse_content(content)
        try:
            found = cls(PrunedPart(said["what"]), int(said["first"]), int(said["last"]), int(said.get("count", 0)))
        except (ValueError, KeyError, TypeError):
            return None
        # A record that accounts for itself, or for later ones, could hide anything.
        return found if 1 <= found.first <= found.last < seq else None


def recorded_prunings(connection: Connection, chain: str) -> list[Stretch]:
    """Every pruning that was recorded, in order."""
    found = (Stretch.read(seq, content) for seq, content in pruning.pruned_records(connection, chain))
    return [stretch for stretch in found if stretch is not None]


def first_unpruned(connection: Connection, chain: str, stretch: Stretch) -> int | None:
    """The first number in the stretch that is not emptied yet; None if all are."""
    look = pruning.first_full if stretch.what is PrunedPart.RECORDS else pruning.first_full_body
    return look(connection, chain, stretch.first, stretch.last)


def unfinished_prunings(connection: Connection, chain: str) -> list[tuple[Stretch, int]]:
    """The prunings that were begun and not completed, in order, each with the number at which it goes on.

    None is begun before the earlier ones are complete, so these are the last recorded ones.
    """
    found: list[tuple[Stretch, int]] = []
    # From the last: the first one that is complete ends the search.
    for stretch in reversed(recorded_prunings(connection, chain)):
        at = first_unpruned(connection, chain, stretch)
        if at is None:
            break
        found.append((stretch, at))
    return found[::-1]


class CoveredNumbers:
    """The numbers that some stretches of one kind cover together. There may be thousands, most of them adjacent."""

    def __init__(self, stretches: Iterable[Stretch], what: PrunedPart) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        for each in sorted((each for each in stretches if each.what is what), key=lambda each: each.first):
            # Adjacent stretches become one, so that lookups stay fast after years of pruning.
            if self._lasts and each.first <= self._lasts[-1] + 1:
                self._lasts[-1] = max(self._lasts[-1], each.last)
            else:
                self._firsts.append(each.first)
                self._lasts.append(each.last)

    def __contains__(self, seq: int) -> bool:
        at = bisect(self._firsts, seq) - 1
        return at >= 0 and seq <= self._lasts[at]


NOTHING: Final = CoveredNumbers((), PrunedPart.BODIES)


def pruned_up_to(stretches: list[Stretch], what: PrunedPart) -> int:
    """Up to which number all records, or all bodies, were pruned, according to these stretches.

    Records are pruned from the first on. Bodies go with their records; bodies that are pruned alone follow on.
    """
    upto = max((each.last for each in stretches if each.what is PrunedPart.RECORDS), default=0)
    if what is PrunedPart.BODIES:
        for each in sorted(stretches, key=lambda each: each.first):
            if each.what is PrunedPart.BODIES and each.first <= upto + 1:
                upto = max(upto, each.last)
    return upto
