"""What a verification found, and what its answer rests on."""

from dataclasses import dataclass, field
from enum import StrEnum


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
    PRUNED_UNRECORDED = "pruned without a record"
    INCONSISTENT = "inconsistent"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that an untouched ledger does not contain."""

    seq: int
    tampering: Tampering
    sentence: str


@dataclass(slots=True)
class ChainReport:
    """What was found in one chain. `problems` keeps the first ones; `problem_count` counts them all."""

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
    keys: set[str] = field(default_factory=set)
    open_entries: set[str] = field(default_factory=set)
    notices: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0

    def found(self, seq: int, tampering: Tampering, sentence: str) -> None:
        self.problem_count += 1
        if len(self.problems) < self.KEEP:
            self.problems.append(Problem(seq, tampering, sentence))
            self.problems.sort(key=lambda problem: problem.seq)

    @property
    def whole(self) -> bool:
        return self.problem_count == 0

    @property
    def first(self) -> Problem | None:
        return self.problems[0] if self.problems else None


class Source(StrEnum):
    """How a verifier knows a key."""

    LOG = "named by the log itself"
    BESIDE = "found beside the log"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys that signatures must be by, and how they are known. Without any, what the log says of itself."""

    keys: frozenset[str] = frozenset()
    source: Source = Source.LOG


LOG_ONLY = Trust()


@dataclass(frozen=True, slots=True)
class Report:
    """The answer about a store."""

    place: str
    trust: Trust
    chains: tuple[ChainReport, ...]

    @property
    def whole(self) -> bool:
        return all(chain.whole for chain in self.chains)
