"""The result of verifying a bundle."""

from dataclasses import dataclass, field
from enum import StrEnum

from mcpguard.ledger.bundle.manifest import Manifest
from mcpguard.ledger.verify.report import ChainReport, KeyTrust


class Flaw(StrEnum):
    """The kind of problem with the files of a bundle. Problems of records are a `Tampering`."""

    MANIFEST = "manifest unreadable"
    SIGNATURE = "signature wrong"
    KEY = "another key"
    MISSING = "file missing"
    CUT = "file cut"
    CHANGED = "file changed"
    ADDED = "file added"
    UNREADABLE = "file unreadable"
    COUNTS = "counts differ"
    CHECKPOINT = "another checkpoint"


@dataclass(frozen=True, slots=True)
class BundleFinding:
    """A problem with the files of a bundle. `file` is empty if it is about none."""

    flaw: Flaw
    file: str
    sentence: str


@dataclass(slots=True)
class BundleReport:
    """The result for a bundle. `chain`: the result for its records; None if the bundle has none that can be verified.

    `vouched`: of selected records, how many match a checkpoint of their own; for all records,
    `chain.signed_to` says how far checkpoints reach.
    """

    KEEP = 50

    place: str
    trust: KeyTrust
    manifest: Manifest | None = None
    signed: bool = False
    chain: ChainReport | None = None
    vouched: int = 0
    problems: list[BundleFinding] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def add_problem(self, flaw: Flaw, sentence: str, file: str = "") -> None:
        if len(self.problems) < self.KEEP:
            self.problems.append(BundleFinding(flaw, file, sentence))

    @property
    def whole(self) -> bool:
        return not self.problems and (self.chain is None or self.chain.whole)
