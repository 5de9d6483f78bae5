"""The result of a verification: problems, notices, and how far signatures and external checkpoints reach."""

from bisect import insort
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Final

LONGEST: Final = 1000
"""Characters of a sentence that are kept. It may repeat what anybody wrote."""


class Tampering(StrEnum):
    """The kind of tampering that explains a problem."""

    EDITED = "edited"
    COLUMNS_EDITED = "columns edited"
    REMOVED = "removed"
    ADDED = "added"
    REORDERED = "reordered"
    TAIL_CUT = "tail cut"
    REWRITTEN = "rewritten"
    BODY_EDITED = "body edited"
    BODY_REMOVED = "body removed"
    BODY_ADDED = "body added"
    CHECKPOINT_FORGED = "checkpoint forged"
    CHECKPOINT_REMOVED = "checkpoint removed"
    KEY_FORGED = "key forged"
    PRUNED_UNRECORDED = "pruned without a record"
    INCONSISTENT = "inconsistent"


@dataclass(frozen=True, slots=True)
class LedgerProblem:
    """A problem: something that an untouched ledger does not contain."""

    seq: int
    tampering: Tampering
    sentence: str


@dataclass(slots=True)
class ChainReport:
    """The result for one chain. `problems` keeps those with the lowest numbers; `problem_count` counts them all.
    `notices` keeps the first ones of each kind of record, and `unlisted` counts the others.

    `signers`: the keys that signed and whose signatures count. `earlier_to`: how far signatures of earlier keys reach.
    """

    KEEP = 20

    chain: str
    records: int = 0
    pruned: int = 0
    bodies: int = 0
    last_seq: int = 0
    last_at: int | None = None
    checkpoints: int = 0
    signed_to: int = 0
    anchored_to: int = 0
    earlier_to: int = 0
    rotations: int = 0
    keys: set[str] = field(default_factory=set)
    anchor_keys: set[str] = field(default_factory=set)
    signers: set[str] = field(default_factory=set)
    open_entries: set[str] = field(default_factory=set)
    notices: list[str] = field(default_factory=list)
    unlisted: Counter[str] = field(default_factory=Counter)
    problems: list[LedgerProblem] = field(default_factory=list)
    problem_count: int = 0
    _noticed: Counter[str] = field(default_factory=Counter)

    def add_problem(self, seq: int, tampering: Tampering, sentence: str) -> None:
        """Add a problem of the record with this number."""
        self.problem_count += 1
        # Ordered by number, as bodies and external checkpoints report out of turn: the first one matters most.
        insort(self.problems, LedgerProblem(seq, tampering, _cut(sentence)), key=attrgetter("seq"))
        # What follows a problem may only be its consequence, so the lowest numbers are kept.
        del self.problems[self.KEEP :]

    def add_notice(self, kind: str, sentence: str) -> None:
        """Add what a record of this kind says, if it is no problem but the reader of the report should know it."""
        self._noticed[kind] += 1
        if self._noticed[kind] <= self.KEEP:
            self.notices.append(_cut(sentence))
        else:
            self.unlisted[kind] += 1

    def add_cut_tail(self, last: int, seq: int, what: str) -> None:
        """Add the problem that the tail was cut: `what` is about a record after the last one."""
        sentence = f"records {last + 1} to {seq} are missing: {what} vouches for them"
        self.add_problem(last + 1, Tampering.TAIL_CUT, sentence)

    @property
    def whole(self) -> bool:
        return self.problem_count == 0

    @property
    def first(self) -> LedgerProblem | None:
        return self.problems[0] if self.problems else None


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= LONGEST else sentence[:LONGEST] + "…"


class KeySource(StrEnum):
    """How a verifier knows a key."""

    LOG = "named by the log itself"
    BESIDE = "found beside the log"
    ANCHOR = "of a checkpoint kept elsewhere"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class KeyTrust:
    """The keys that must have signed, and how they are known. Without any, the keys that the log itself names."""

    keys: frozenset[str] = frozenset()
    source: KeySource = KeySource.LOG


LOG_ONLY = KeyTrust()


@dataclass(frozen=True, slots=True)
class Report:
    """The result for a store. `elsewhere`: chains that it does not have, and up to which record external checkpoints
    cover them."""

    place: str
    trust: KeyTrust
    chains: tuple[ChainReport, ...]
    elsewhere: Mapping[str, int] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return all(chain.whole for chain in self.chains)
