"""The records of a bundle that has all of them, from one number to another: the chain is walked as in a store."""

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


class Files:
    """The files of a bundle by what they hold. Whatever they give raises UnreadableBundle, with the file's name."""

    def __init__(self, source: BundleSource, manifest: Manifest) -> None:
        there = [each for each in manifest.files if each.name in source.sizes]
        self.records = next((each for each in there if each.form == OWN.word), None)
        """Those from which something can be proven."""
        self.last: RecordLine | None = None
        """The last of them that was read."""
        self._source = source
        self._kept = {each.what: each for each in there}

    def told(self) -> Iterator[RecordLine]:
        """Every record."""
        return self._read(self.records, self._told)

    def pruned(self) -> Iterator[StoredRecord]:
        """What accounts for something that was pruned. It comes later than that, so it is looked for first."""
        return (StoredRecord(told.seq, told.hash, told.raw, ()) for told in self._of_kind("pruned"))

    def rotated(self) -> Iterator[RecordLine]:
        """What says that another key follows. Who is believed is known before the first record is looked at."""
        return self._of_kind("rotated")

    def checkpoints(self) -> Iterator[StoredCheckpoint]:
        return self._read(self._kept.get("checkpoints"), lines.checkpoints)

    def bodies(self) -> Iterator[StoredBody]:
        return self._read(self._kept.get("bodies"), lines.bodies)

    def _of_kind(self, kind: str) -> Iterator[RecordLine]:
        holding = f'"kind":"{kind}"'.encode()
        some = self._read(self.records, partial(lines.records, holding=holding))
        return (told for told in some if told.said.get("kind") == kind)

    def _told(self, source: BundleSource, kept: BundleFile) -> Iterator[RecordLine]:
        for self.last in lines.records(source, kept):
            yield self.last

    def _read(self, kept: BundleFile | None, how: Callable[[BundleSource, BundleFile], Iterator[T]]) -> Iterator[T]:
        if kept is None:
            return
        try:
            yield from how(self._source, kept)
        except UnreadableBundle as error:
            error.file = kept.name
            raise


class _HalfSeen(Tombstones):
    """Of what was pruned before the bundle begins, the hashes are not in it, and maybe not the checkpoints."""

    begin = 1

    def reach(self, seq: int, said: Mapping[str, Any], signed: int) -> None:
        super().reach(seq, said, max(signed, self.begin - 1))

    def compare(self, claim: PruneClaim) -> None:
        if claim.first >= self.begin:
            super().compare(claim)


class NoBodies(BodyCheck):
    """Those of a bundle without bodies."""

    def take(self, seq: int, record: Mapping[str, Any]) -> None:
        pass

    def skip(self, seq: int) -> None:
        pass


def check(
    files: Files,
    manifest: Manifest,
    held: Mapping[int, Checkpoint],
    keys: KeySuccession,
    report: ChainReport,
    progress: Progress,
) -> None:
    """Walk them. `held`: checkpoints that were kept elsewhere. Raises UnreadableBundle."""
    tombstones = _HalfSeen(files.pruned(), report)
    tombstones.begin = manifest.after + 1
    for key in tombstones.keys:
        keys.announce(key)
    signatures = Signatures(files.checkpoints(), keys, report, None if manifest.after else 0)
    bodies = (BodyCheck if manifest.bodies else NoBodies)(files.bodies(), report, tombstones)
    walk = Walk(report, signatures, bodies, tombstones, progress)
    if manifest.after:
        before = None if manifest.before is None else bytes.fromhex(manifest.before)
        walk.begin_after(manifest.after, before)
        if before is not None:
            signatures.take(manifest.after, before)
    walk.over(_stored(files, manifest, held, report))


def hold(told: RecordLine, held: Mapping[int, Checkpoint], report: ChainReport) -> None:
    """Compare a record with the checkpoint that was kept elsewhere of it, if one was."""
    anchor = held.get(told.seq)
    if anchor is None:
        return
    if anchor.hash == told.hash.hex():
        report.anchored_to = told.seq
    else:
        report.found(told.seq, Tampering.REWRITTEN, "a checkpoint kept elsewhere names another hash")


def _stored(
    files: Files, manifest: Manifest, held: Mapping[int, Checkpoint], report: ChainReport
) -> Iterator[StoredRecord]:
    """Each as it would lie in a store; what stands in a place that it cannot have is told, and left out."""
    last, before = manifest.after, None if manifest.before is None else bytes.fromhex(manifest.before)
    for told in files.told():
        if told.seq == last and last > manifest.after:
            report.found(told.seq, Tampering.ADDED, "it is there a second time")
            continue
        if told.seq <= last:
            report.found(told.seq, Tampering.REORDERED, f"it stands behind record {last}")
            continue
        if told.seq > manifest.upto:
            report.found(told.seq, Tampering.ADDED, f"the bundle ends with record {manifest.upto}")
            continue
        if told.raw is None and told.chain != manifest.chain:
            report.found(told.seq, Tampering.REORDERED, "it was pruned from another chain")
        if told.seq == last + 1 and told.previous is not None and before is not None and told.previous != before:
            report.found(told.seq, Tampering.EDITED, "it does not follow the record before it")
        hold(told, held, report)
        last, before = told.seq, told.hash
        yield StoredRecord(told.seq, told.hash, told.raw, tuple(map(told.said.get, COLUMNS)))
