"""The records of a bundle that has some of them. Each is held against its own line, its neighbours and the checkpoints;
that they are of the chain, and all that were chosen, is the word of whoever signed the bundle."""

from collections.abc import Iterator, Mapping

from mcpguard.ledger.bundle.lines import RecordLine
from mcpguard.ledger.bundle.manifest import Manifest
from mcpguard.ledger.bundle.whole import Files, NoBodies, hold
from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint
from mcpguard.ledger.format import link
from mcpguard.ledger.verify.bodies import BodyCheck
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.ledger.verify.succession import KeySuccession
from mcpguard.ledger.verify.tombstones import Tombstones
from mcpguard.ledger.verify.walk import Progress
from mcpguard.store.rows.checkpoints import StoredCheckpoint


class _Elsewhere(Tombstones):
    """What accounts for what was pruned was hardly chosen."""

    def body(self, seq: int) -> None:
        pass


class _Stamps:
    """The checkpoints, in order, held against the hashes that are known, in order."""

    def __init__(self, stored: Iterator[Checkpoint], report: ChainReport) -> None:
        self._stored = stored
        self._report = report
        self._next = next(stored, None)

    def take(self, seq: int, known: bytes) -> bool:
        """Whether one of them names this hash."""
        while self._next is not None and self._next.seq < seq:
            self._next = next(self._stored, None)
        if self._next is None or self._next.seq != seq:
            return False
        if self._next.hash != known.hex():
            self._report.found(seq, Tampering.REWRITTEN, "the checkpoint signed after this record names another hash")
            return False
        return True

    def finish(self) -> None:
        while self._next is not None:
            self._next = next(self._stored, None)


def check(
    files: Files,
    manifest: Manifest,
    held: Mapping[int, Checkpoint],
    keys: KeySuccession,
    report: ChainReport,
    progress: Progress,
) -> int:
    """How many of them a checkpoint names. `held`: checkpoints that were kept elsewhere. Raises Unreadable."""
    vouched = 0
    stamps = _Stamps(_believed(files.checkpoints(), report, keys), report)
    bodies = (BodyCheck if manifest.bodies else NoBodies)(files.bodies(), report, _Elsewhere((), report))
    before: RecordLine | None = None
    for told in files.told():
        report.records += 1
        if wrong := _misplaced(told, before, manifest):
            report.found(told.seq, *wrong)
            continue
        if told.raw is None:
            report.pruned += 1
            bodies.skip(told.seq)
        else:
            if wrong := _changed(told, told.raw, before, manifest):
                report.found(told.seq, *wrong)
            if told.previous is not None:
                stamps.take(told.seq - 1, told.previous)
            bodies.take(told.seq, told.said)
        vouched += stamps.take(told.seq, told.hash)
        hold(told, held, report)
        before, report.last_seq = told, told.seq
        if report.records % 10_000 == 0:
            progress(told.seq)
    stamps.finish()
    bodies.finish()
    return vouched


def _misplaced(told: RecordLine, before: RecordLine | None, manifest: Manifest) -> tuple[Tampering, str] | None:
    last = manifest.after if before is None else before.seq
    if before is not None and told.seq == last:
        return Tampering.ADDED, "it is there a second time"
    if told.seq <= last:
        return Tampering.REORDERED, f"it stands behind record {last}"
    if told.seq > manifest.upto:
        return Tampering.ADDED, f"the bundle ends with record {manifest.upto}"
    if told.chain != manifest.chain:
        return Tampering.REORDERED, "it is of another chain"
    return None


def _changed(
    told: RecordLine, raw: bytes, before: RecordLine | None, manifest: Manifest
) -> tuple[Tampering, str] | None:
    if told.previous is None:
        return Tampering.EDITED, "its line does not say which hash it follows"
    if link(told.previous, raw) != told.hash:
        return Tampering.EDITED, "its content or its hash is not what was written"
    known = manifest.before if before is None and told.seq == manifest.after + 1 else None
    if before is not None and before.seq == told.seq - 1:
        known = before.hash.hex()
    if known is not None and known != told.previous.hex():
        return Tampering.EDITED, "it does not follow the record before it"
    return None


def _believed(stored: Iterator[StoredCheckpoint], report: ChainReport, keys: KeySuccession) -> Iterator[Checkpoint]:
    """Those that are signed by a key that is believed, for this chain; the others are told."""
    before: int | None = None
    for each in stored:
        try:
            checkpoint = Checkpoint.verified(each.content, each.signature)
        except BadCheckpoint as error:
            report.found(each.seq, Tampering.CHECKPOINT_FORGED, f"the checkpoint cannot be believed: {error}")
            continue
        fault = keys.fault(checkpoint.key, checkpoint.seq)
        if fault or checkpoint.chain != report.chain:
            wrong = f"signed {fault}" if fault else "of another chain"
            report.found(each.seq, Tampering.CHECKPOINT_FORGED, f"the checkpoint is {wrong}")
            continue
        if before is not None and checkpoint.previous != before:
            gone = f"the checkpoint before {checkpoint.seq} is missing"
            report.found(checkpoint.previous, Tampering.CHECKPOINT_REMOVED, gone)
        before = checkpoint.seq
        report.checkpoints += 1
        yield checkpoint
