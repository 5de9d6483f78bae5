"""What was found in a bundle, and what the answer rests on."""

from dataclasses import dataclass, field
from enum import StrEnum

from mcpguard.ledger.bundle.manifest import Manifest
from mcpguard.ledger.verify.report import ChainReport, KeyTrust


class Flaw(StrEnum):
    """What kind of change explains what is wrong with the files. What is wrong with records is a `Tampering`."""

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
    """Something that an untouched bundle does not contain. `file` is empty where it is about none."""

    flaw: Flaw
    file: str
    sentence: str


@dataclass(slots=True)
class BundleReport:
    """The answer about a bundle. `chain`: what was found in its records; None where they prove nothing by themselves.

    `vouched`: how many of some records that were chosen a checkpoint names by itself; of all records it is the chain
    that says how far checkpoints reach.
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

    def found(self, flaw: Flaw, sentence: str, file: str = "") -> None:
        if len(self.problems) < self.KEEP:
            self.problems.append(BundleFinding(flaw, file, sentence))

    @property
    def whole(self) -> bool:
        return not self.problems and (self.chain is None or self.chain.whole)
