"""What a verification found, and what its answer rests on."""

from bisect import insort
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Final

LONGEST: Final = 1000
"""Characters of a sentence that is kept. What it repeats was written by anybody."""


class Tampering(StrEnum):
    """What kind of change explains a problem."""

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
    """Something that an untouched ledger does not contain."""

    seq: int
    tampering: Tampering
    sentence: str


@dataclass(slots=True)
class ChainReport:
    """What was found in one chain. `problems` keeps those of the lowest numbers; `problem_count` counts them all.
    `notices` keeps the first ones of each kind of record, and `unlisted` counts the others.

    `signers`: keys whose signatures count, and that have signed. `earlier_to`: how far those of earlier keys go.
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

    def found(self, seq: int, tampering: Tampering, sentence: str) -> None:
        self.problem_count += 1
        insort(self.problems, LedgerProblem(seq, tampering, _cut(sentence)), key=attrgetter("seq"))
        del self.problems[self.KEEP :]

    def noticed(self, kind: str, sentence: str) -> None:
        """A record of this kind says something that is no problem, and that whoever reads the report should know."""
        self._noticed[kind] += 1
        if self._noticed[kind] <= self.KEEP:
            self.notices.append(_cut(sentence))
        else:
            self.unlisted[kind] += 1

    def cut(self, last: int, seq: int, what: str) -> None:
        """`what` speaks of a record after the last one."""
        sentence = f"records {last + 1} to {seq} are missing: {what} vouches for them"
        self.found(last + 1, Tampering.TAIL_CUT, sentence)

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
    """The keys that signatures must be by, and how they are known. Without any, what the log says of itself."""

    keys: frozenset[str] = frozenset()
    source: KeySource = KeySource.LOG


LOG_ONLY = KeyTrust()


@dataclass(frozen=True, slots=True)
class Report:
    """The answer about a store. `elsewhere`: chains that are not in it, and how far checkpoints kept elsewhere say that
    they went."""

    place: str
    trust: KeyTrust
    chains: tuple[ChainReport, ...]
    elsewhere: Mapping[str, int] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return all(chain.whole for chain in self.chains)
