"""Verifies a bundle: its signature, its files and its records.

The following is checked, as far as the bundle can be read, in this order:
1. the manifest is signed by the key that it names, and that key is one of the given keys;
2. every file in the manifest exists and is the one that was signed, and there are no others;
3. the records, in the jsonl form, are intact: as a chain if all of them are present, otherwise each by itself;
4. they are the records that the manifest describes.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.bundle.all_records import BundleContents, check_all_records
from mcpguard.ledger.bundle.bundle_report import BundleReport, Flaw
from mcpguard.ledger.bundle.lines import RecordLine
from mcpguard.ledger.bundle.manifest import (
    LARGEST,
    MANIFEST,
    SIGNATURE,
    BadManifest,
    BundleFile,
    End,
    Manifest,
    is_signed,
)
from mcpguard.ledger.bundle.selected_records import check_selected_records
from mcpguard.ledger.bundle.source import BundleSource, UnreadableBundle, open_bundle
from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.verify.report import ChainReport, KeyTrust, Tampering
from mcpguard.ledger.verify.succession import KeySuccession
from mcpguard.store.rows.records import StoredRecord

Progress = Callable[[int], None]


def verify(path: Path, anchors: Iterable[Checkpoint], trust: KeyTrust, progress: Progress) -> BundleReport:
    """Verify the bundle at this path. `anchors`: external checkpoints. Raises StoreUnavailable if the path is not a
    bundle, or cannot be read."""
    report = BundleReport(str(path), trust)
    try:
        source = open_bundle(path)
        manifest = _manifest(source, report)
        if manifest is not None:
            report.manifest = manifest
            for kept in manifest.files:
                _file(source, kept, report)
            _others(source, manifest, report)
            _records(BundleContents(source, manifest), manifest, anchors, report, progress)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror or error}") from error
    return report


def _manifest(source: BundleSource, report: BundleReport) -> Manifest | None:
    content = _short(source, MANIFEST)
    try:
        manifest = Manifest.read(content)
    except BadManifest as error:
        report.add_problem(Flaw.MANIFEST, f"{error}: it was changed, or mcpguard did not make it", MANIFEST)
        return None
    if SIGNATURE not in source.sizes:
        report.add_problem(Flaw.SIGNATURE, "it is missing, so nothing vouches for this bundle", SIGNATURE)
    elif not is_signed(content, _short(source, SIGNATURE), manifest.key):
        report.add_problem(Flaw.SIGNATURE, "it does not match the manifest: one of them was changed", SIGNATURE)
    else:
        report.signed = True
    return manifest


def _short(source: BundleSource, name: str) -> bytes:
    """The content of a file that must be short; of a longer one, more than is accepted."""
    found = b""
    for data in source.read(name):
        found += data
        if len(found) > LARGEST:
            break
    return found


def _file(source: BundleSource, kept: BundleFile, report: BundleReport) -> None:
    if kept.name not in source.sizes:
        report.add_problem(Flaw.MISSING, "it is in the manifest, but missing: it was removed", kept.name)
        return
    if source.sizes[kept.name] < kept.bytes:
        report.add_problem(
            Flaw.CUT, f"it has {source.sizes[kept.name]} of its {kept.bytes} bytes: it was truncated", kept.name
        )
        return
    sha, size = hashlib.sha256(), 0
    for data in source.read(kept.name):
        sha.update(data)
        size += len(data)
        if size > kept.bytes:
            break  # it differs already, and a sparse file may have any length
    if (size, sha.hexdigest()) != (kept.bytes, kept.sha256):
        report.add_problem(Flaw.CHANGED, "it is not the file that was signed: its SHA-256 differs", kept.name)


def _others(source: BundleSource, manifest: Manifest, report: BundleReport) -> None:
    named = {MANIFEST, SIGNATURE, *(kept.name for kept in manifest.files)}
    for name in sorted(source.sizes.keys() - named):
        report.add_problem(Flaw.ADDED, "it is not in the manifest: it was added", name)
    for name in source.odd:
        report.add_problem(Flaw.ADDED, "it is not a regular file, and a bundle has no others", name)


def _records(
    files: BundleContents, manifest: Manifest, anchors: Iterable[Checkpoint], report: BundleReport, progress: Progress
) -> None:
    held, chain = _within(anchors, manifest, report), ChainReport(manifest.chain, keys={manifest.key})
    chain.anchor_keys |= {anchor.key for anchor in held.values()}
    try:
        keys = _keys_of(files, manifest, report.trust, chain)
        # Signed correctly, but by whom? A bundle names its own key, and anybody can make one.
        if report.trust.keys and not keys.counts(manifest.key):
            report.add_problem(Flaw.KEY, "the bundle is signed by a different key than the given one", SIGNATURE)
        if (went := keys.retirement_of(manifest.key)) is not None:  # a bundle is made after its last record
            report.add_problem(Flaw.KEY, f"the bundle is signed by a key that was retired by record {went}", SIGNATURE)
        if files.records_file is None:
            if held:
                report.add_problem(Flaw.CHECKPOINT, "the bundle has no jsonl records to check a checkpoint against")
            return
        report.chain = chain
        if manifest.selection:
            report.vouched = check_selected_records(files, manifest, held, keys, chain, progress)
            if held and not chain.anchored_to and chain.whole:
                report.notices.append("the external checkpoints are for records that were not selected")
        else:
            check_all_records(files, manifest, held, keys, chain, progress)
        _compare(files, manifest, chain, report)
    except UnreadableBundle as error:
        report.add_problem(Flaw.UNREADABLE, f"it cannot be read to its end: {error}", error.file)


def _keys_of(files: BundleContents, manifest: Manifest, trust: KeyTrust, report: ChainReport) -> KeySuccession:
    """The keys that may have signed the bundle and its records: the given ones, and those that records in the bundle
    rotate them to. If none was given, the bundle's own key and those that its records announce. Raises
    UnreadableBundle."""
    before = dict[int, bytes | None]()

    def rotated() -> Iterator[StoredRecord]:
        for told in files.rotation_lines():
            before[told.seq - 1] = told.previous
            yield StoredRecord(told.seq, told.hash, told.raw, ())

    keys = KeySuccession(rotated(), before.get, trust, report)
    if not trust.keys:
        keys.announce(manifest.key)
    return keys


def _within(anchors: Iterable[Checkpoint], manifest: Manifest, report: BundleReport) -> Mapping[int, Checkpoint]:
    """The external checkpoints of records that are in the bundle, by number."""
    held, elsewhere, outside = dict[int, Checkpoint](), 0, 0
    for anchor in anchors:
        if anchor.chain != manifest.chain:
            elsewhere += 1
        elif manifest.after < anchor.seq <= manifest.upto:
            held[anchor.seq] = anchor
        else:
            outside += 1
    # An external checkpoint of another chain usually means that this is another guard's bundle.
    if elsewhere and not held and not outside:
        report.add_problem(Flaw.CHECKPOINT, "the external checkpoint is for another chain than this bundle")
    if outside and not held:
        report.notices.append("the external checkpoints are for records outside this bundle")
    return held


def _compare(files: BundleContents, manifest: Manifest, chain: ChainReport, report: BundleReport) -> None:
    """Compare the manifest with the records that were found."""
    last = manifest.last.seq if manifest.last is not None and manifest.selection else manifest.upto
    if chain.last_seq < last and not (manifest.selection and manifest.last is None):
        chain.add_problem(
            last, Tampering.TAIL_CUT, f"it should be the last one, but the file ends with record {chain.last_seq}"
        )
    name = "" if files.records_file is None else files.records_file.name
    if (chain.records, chain.pruned) != (manifest.records, manifest.pruned):
        said = f"{manifest.records} records, {manifest.pruned} of them pruned"
        there = f"{chain.records}, {chain.pruned} of them pruned"
        report.add_problem(Flaw.COUNTS, f"the manifest says {said}, but there are {there}", name)
    if _end(files.last) != manifest.last:
        report.add_problem(Flaw.COUNTS, "its last record is not the one in the manifest", name)
    if _end(next(files.record_lines(), None)) != manifest.first:
        report.add_problem(Flaw.COUNTS, "its first record is not the one in the manifest", name)


def _end(told: RecordLine | None) -> End | None:
    return None if told is None else End(told.seq, told.hash.hex())
