"""Verifies a bundle of selected records: each one against its line, its neighbours and the checkpoints.

That the records belong to the chain, and are all that match the filter, is only asserted by the signer.
"""

from collections.abc import Iterator, Mapping

from mcpguard.ledger.bundle.all_records import BundleContents, NoBodies, compare_with_anchor
from mcpguard.ledger.bundle.lines import RecordLine
from mcpguard.ledger.bundle.manifest import Manifest
from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint
from mcpguard.ledger.format import link
from mcpguard.ledger.verify.bodies import BodyCheck
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.ledger.verify.succession import KeySuccession
from mcpguard.ledger.verify.tombstones import Tombstones
from mcpguard.ledger.verify.walk import Progress
from mcpguard.store.rows.checkpoints import StoredCheckpoint


class _Elsewhere(Tombstones):
    """Tombstones of selected records: the records that account for them are hardly selected, so none is required."""

    def body(self, seq: int) -> None:
        pass


class _Stamps:
    """Matches checkpoints with known hashes, both in order."""

    def __init__(self, stored: Iterator[Checkpoint], report: ChainReport) -> None:
        self._stored = stored
        self._report = report
        self._next = next(stored, None)

    def take(self, seq: int, known: bytes) -> bool:
        """Tell whether a checkpoint has this hash."""
        while self._next is not None and self._next.seq < seq:
            self._next = next(self._stored, None)
        if self._next is None or self._next.seq != seq:
            return False
        if self._next.hash != known.hex():
            self._report.add_problem(
                seq, Tampering.REWRITTEN, "the checkpoint signed after this record has a different hash"
            )
            return False
        return True

    def finish(self) -> None:
        while self._next is not None:
            self._next = next(self._stored, None)


def check_selected_records(
    files: BundleContents,
    manifest: Manifest,
    held: Mapping[int, Checkpoint],
    keys: KeySuccession,
    report: ChainReport,
    progress: Progress,
) -> int:
    """Verify the records; return how many match a checkpoint. `held`: external ones. Raises UnreadableBundle."""
    vouched = 0
    stamps = _Stamps(_believed(files.checkpoints(), report, keys), report)
    bodies = (BodyCheck if manifest.bodies else NoBodies)(files.bodies(), report, _Elsewhere((), report))
    before: RecordLine | None = None
    for told in files.record_lines():
        report.records += 1
        if wrong := _misplaced(told, before, manifest):
            report.add_problem(told.seq, *wrong)
            continue
        if told.raw is None:
            report.pruned += 1
            bodies.skip(told.seq)
        else:
            if wrong := _changed(told, told.raw, before, manifest):
                report.add_problem(told.seq, *wrong)
            if told.previous is not None:
                stamps.take(told.seq - 1, told.previous)
            bodies.take(told.seq, told.said)
        # A checkpoint of the record itself, or (above) of the one before it, whose hash the line repeats.
        vouched += stamps.take(told.seq, told.hash)
        compare_with_anchor(told, held, report)
        before, report.last_seq = told, told.seq
        if report.records % 10_000 == 0:
            progress(told.seq)
    stamps.finish()
    bodies.finish()
    return vouched


def _misplaced(told: RecordLine, before: RecordLine | None, manifest: Manifest) -> tuple[Tampering, str] | None:
    last = manifest.after if before is None else before.seq
    if before is not None and told.seq == last:
        return Tampering.ADDED, "it is there twice"
    if told.seq <= last:
        return Tampering.REORDERED, f"it comes after record {last}"
    if told.seq > manifest.upto:
        return Tampering.ADDED, f"the bundle ends with record {manifest.upto}"
    if told.chain != manifest.chain:
        return Tampering.REORDERED, "it belongs to another chain"
    return None


def _changed(
    told: RecordLine, raw: bytes, before: RecordLine | None, manifest: Manifest
) -> tuple[Tampering, str] | None:
    # Without the previous hash the record's own cannot be recomputed.
    if told.previous is None:
        return Tampering.EDITED, "its line has no previous hash"
    if link(told.previous, raw) != told.hash:
        return Tampering.EDITED, "its content or its hash is not what was written"
    known = manifest.before if before is None and told.seq == manifest.after + 1 else None
    if before is not None and before.seq == told.seq - 1:
        known = before.hash.hex()
    if known is not None and known != told.previous.hex():
        return Tampering.EDITED, "it does not follow the record before it"
    return None


def _believed(stored: Iterator[StoredCheckpoint], report: ChainReport, keys: KeySuccession) -> Iterator[Checkpoint]:
    """The checkpoints of this chain with a valid signature; the others are reported."""
    before: int | None = None
    for each in stored:
        try:
            checkpoint = Checkpoint.verify(each.content, each.signature)
        except BadCheckpoint as error:
            report.add_problem(each.seq, Tampering.CHECKPOINT_FORGED, f"the checkpoint is not valid: {error}")
            continue
        fault = keys.fault(checkpoint.key, checkpoint.seq)
        if fault or checkpoint.chain != report.chain:
            wrong = f"signed {fault}" if fault else "for another chain"
            report.add_problem(each.seq, Tampering.CHECKPOINT_FORGED, f"the checkpoint is {wrong}")
            continue
        if before is not None and checkpoint.previous != before:
            gone = f"the checkpoint before {checkpoint.seq} is missing"
            report.add_problem(checkpoint.previous, Tampering.CHECKPOINT_REMOVED, gone)
        before = checkpoint.seq
        report.checkpoints += 1
        yield checkpoint
