"""Verifies a bundle that has all records of a range by walking its chain, like that of a store."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from mcpguard.ledger.bundle import lines
from mcpguard.ledger.bundle.lines import RecordLine
from mcpguard.ledger.bundle.manifest import BundleFile, Manifest
from mcpguard.ledger.bundle.source import BundleSource, UnreadableBundle
from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.export.formats import OWN
from mcpguard.ledger.verify.bodies import BodyCheck
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.ledger.verify.signatures import Signatures
from mcpguard.ledger.verify.succession import KeySuccession
from mcpguard.ledger.verify.tombstones import PruneClaim, Tombstones
from mcpguard.ledger.verify.walk import Progress, Walk
from mcpguard.store.rows.checkpoints import StoredCheckpoint
from mcpguard.store.rows.records import COLUMNS, StoredBody, StoredRecord

T = TypeVar("T")


class BundleContents:
    """The files of a bundle by what they hold. Reading them raises UnreadableBundle, with the name of the file."""

    def __init__(self, source: BundleSource, manifest: Manifest) -> None:
        there = [each for each in manifest.files if each.name in source.sizes]
        self.records_file = next((each for each in there if each.form == OWN.word), None)
        """The file with records in the jsonl form, the only ones that can be verified."""
        self.last: RecordLine | None = None
        """The last record that was read."""
        self._source = source
        self._kept = {each.what: each for each in there}

    def record_lines(self) -> Iterator[RecordLine]:
        """Every record, in the order of the file."""
        return self._read(self.records_file, self._record_lines)

    def pruning_records(self) -> Iterator[StoredRecord]:
        """The records about prunings. They come after what was pruned, so they are read before the walk."""
        return (StoredRecord(told.seq, told.hash, told.raw, ()) for told in self._of_kind("pruned"))

    def rotation_lines(self) -> Iterator[RecordLine]:
        """The records about key rotations. The walk has to know them from its beginning."""
        return self._of_kind("rotated")

    def checkpoints(self) -> Iterator[StoredCheckpoint]:
        return self._read(self._kept.get("checkpoints"), lines.checkpoints)

    def bodies(self) -> Iterator[StoredBody]:
        return self._read(self._kept.get("bodies"), lines.bodies)

    def _of_kind(self, kind: str) -> Iterator[RecordLine]:
        holding = f'"kind":"{kind}"'.encode()
        some = self._read(self.records_file, partial(lines.records, holding=holding))
        return (told for told in some if told.said.get("kind") == kind)

    def _record_lines(self, source: BundleSource, kept: BundleFile) -> Iterator[RecordLine]:
        for self.last in lines.records(source, kept):
            yield self.last

    def _read(self, kept: BundleFile | None, how: Callable[[BundleSource, BundleFile], Iterator[T]]) -> Iterator[T]:
        if kept is None:
            return
        try:
            yield from how(self._source, kept)
        except UnreadableBundle as error:
            # The parser of lines does not know which file it reads.
            error.file = kept.name
            raise


class _HalfSeen(Tombstones):
    """Tombstones of a bundle: hashes of records before its beginning are not in it, nor perhaps checkpoints."""

    begin = 1

    def reach(self, seq: int, said: Mapping[str, Any], signed: int) -> None:
        super().reach(seq, said, max(signed, self.begin - 1))

    def compare(self, claim: PruneClaim) -> None:
        if claim.first >= self.begin:
            super().compare(claim)


class NoBodies(BodyCheck):
    """The check of a bundle without bodies, which finds nothing wrong."""

    def take(self, seq: int, record: Mapping[str, Any]) -> None:
        pass

    def skip(self, seq: int) -> None:
        pass


def check_all_records(
    files: BundleContents,
    manifest: Manifest,
    held: Mapping[int, Checkpoint],
    keys: KeySuccession,
    report: ChainReport,
    progress: Progress,
) -> None:
    """Verify the records. `held`: external checkpoints, by number. Raises UnreadableBundle."""
    tombstones = _HalfSeen(files.pruning_records(), report)
    # A bundle may begin in the middle of the chain.
    tombstones.begin = manifest.after + 1
    # Keys whose announcements were pruned are repeated by the pruning records.
    for key in tombstones.keys:
        keys.announce(key)
    # In the middle of the chain, the checkpoint before the first one is not known.
    signatures = Signatures(files.checkpoints(), keys, report, None if manifest.after else 0)
    bodies = (BodyCheck if manifest.bodies else NoBodies)(files.bodies(), report, tombstones)
    walk = Walk(report, signatures, tombstones, progress)
    if manifest.after:
        before = None if manifest.before is None else bytes.fromhex(manifest.before)
        walk.begin_after(manifest.after, before)
        if before is not None:
            signatures.take(manifest.after, before)
    walk.run(_stored(files, manifest, held, report), bodies)
    walk.finish()


def compare_with_anchor(told: RecordLine, held: Mapping[int, Checkpoint], report: ChainReport) -> None:
    """Compare a record with the external checkpoint of it, if there is one."""
    anchor = held.get(told.seq)
    if anchor is None:
        return
    if anchor.hash == told.hash.hex():
        report.anchored_to = told.seq
    else:
        report.add_problem(told.seq, Tampering.REWRITTEN, "an external checkpoint has a different hash for it")


def _stored(
    files: BundleContents, manifest: Manifest, held: Mapping[int, Checkpoint], report: ChainReport
) -> Iterator[StoredRecord]:
    """The records as a store would have them. Those in an impossible place are reported and left out."""
    last, before = manifest.after, None if manifest.before is None else bytes.fromhex(manifest.before)
    for told in files.record_lines():
        if told.seq == last and last > manifest.after:
            report.add_problem(told.seq, Tampering.ADDED, "it is there twice")
            continue
        if told.seq <= last:
            report.add_problem(told.seq, Tampering.REORDERED, f"it comes after record {last}")
            continue
        # Else records could be added after the end, behind a signature that says nothing about them.
        if told.seq > manifest.upto:
            report.add_problem(told.seq, Tampering.ADDED, f"the bundle ends with record {manifest.upto}")
            continue
        if told.raw is None and told.chain != manifest.chain:
            report.add_problem(told.seq, Tampering.REORDERED, "it was pruned from another chain")
        # A line repeats the previous hash. If it differs from that of the line before, one of them was edited.
        if told.seq == last + 1 and told.previous is not None and before is not None and told.previous != before:
            report.add_problem(told.seq, Tampering.EDITED, "it does not follow the record before it")
        compare_with_anchor(told, held, report)
        last, before = told.seq, told.hash
        yield StoredRecord(told.seq, told.hash, told.raw, tuple(map(told.said.get, COLUMNS)))
