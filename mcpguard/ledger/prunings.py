"""What a record of kind `pruned` says: which stretch of the chain was emptied, why, and who wanted it.

docs/ledger-format.md (5) says the same for people who write a verifier.
"""

from bisect import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.errors import GuardError
from mcpguard.ledger.format import Fields, parsed
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import pruning


class What(StrEnum):
    """What was emptied: records with their bodies, or bodies alone."""

    RECORDS = "records"
    BODIES = "bodies"


class Cause(StrEnum):
    """What occasioned it."""

    AGE = "age"
    COUNT = "count"
    SIZE = "size"
    ASKED = "asked"


class Unsound(GuardError):
    """What would be removed is not what was written, so it stays: it is the evidence of that."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the chain that is emptied as one; `count`: of how many. `hashes` and `keys`: of records only."""

    what: What
    first: int
    last: int
    count: int
    hashes: str = ""
    keys: str = ""

    def fields(self, why: Cause, asked: Fields) -> dict[str, Scalar]:
        """What is recorded of it. `asked`: who wanted it, where somebody did."""
        said: dict[str, Scalar] = {"what": self.what.value, "first": self.first, "last": self.last}
        if self.what is What.RECORDS:
            said |= {"hashes": self.hashes, "keys": self.keys}
        return {**said, "count": self.count, "why": why.value, **asked}

    @classmethod
    def read(cls, seq: int, content: bytes) -> Self | None:
        """What the record of this number says, if it accounts for anything before it."""
        said = parsed(content)
        try:
            found = cls(What(said["what"]), int(said["first"]), int(said["last"]), int(said.get("count", 0)))
        except (ValueError, KeyError, TypeError):
            return None
        return found if 1 <= found.first <= found.last < seq else None


def said(connection: Connection, chain: str) -> list[Stretch]:
    """Everything that was said to be pruned, as it was recorded."""
    found = (Stretch.read(seq, content) for seq, content in pruning.said(connection, chain))
    return [stretch for stretch in found if stretch is not None]


def left(connection: Connection, chain: str, stretch: Stretch) -> int | None:
    """The first number in it that says something still."""
    look = pruning.first_full if stretch.what is What.RECORDS else pruning.first_full_body
    return look(connection, chain, stretch.first, stretch.last)


def unfinished(connection: Connection, chain: str) -> list[tuple[Stretch, int]]:
    """What was begun and not ended, in its order, with where it goes on.

    Nothing is begun before everything else is ended: so it is what was recorded last.
    """
    found: list[tuple[Stretch, int]] = []
    for stretch in reversed(said(connection, chain)):
        at = left(connection, chain, stretch)
        if at is None:
            break
        found.append((stretch, at))
    return found[::-1]


class Covered:
    """Which numbers some stretches of one kind cover together. There may be thousands; most join on."""

    def __init__(self, stretches: Iterable[Stretch], what: What) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        for each in sorted((each for each in stretches if each.what is what), key=lambda each: each.first):
            if self._lasts and each.first <= self._lasts[-1] + 1:
                self._lasts[-1] = max(self._lasts[-1], each.last)
            else:
                self._firsts.append(each.first)
                self._lasts.append(each.last)

    def __contains__(self, seq: int) -> bool:
        at = bisect(self._firsts, seq) - 1
        return at >= 0 and seq <= self._lasts[at]


NOTHING: Final = Covered((), What.BODIES)


def reached(stretches: list[Stretch], what: What) -> int:
    """Up to which number nothing of this is left that could be pruned, as far as these say.

    Records are pruned from the first on. Bodies go with their records; what is pruned of them alone joins on.
    """
    upto = max((each.last for each in stretches if each.what is What.RECORDS), default=0)
    if what is What.BODIES:
        for each in sorted(stretches, key=lambda each: each.first):
            if each.what is What.BODIES and each.first <= upto + 1:
                upto = max(upto, each.last)
    return upto
