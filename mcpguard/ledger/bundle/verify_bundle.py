"""The whole question: is this bundle what was signed, and do its records hold by themselves?

In this order, and all of it, as far as it can be read:
1. the manifest is signed by the key that it names, and that is one that was given;
2. every file that it names is there and is the one that was signed, and nothing else is;
3. the records, in our own form, hold: as a whole chain where all of them are there, else each by itself;
4. they are those that the manifest speaks of.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.bundle import selected, whole
from mcpguard.ledger.bundle.bundle_keys import keys_of
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
from mcpguard.ledger.bundle.source import BundleSource, UnreadableBundle, opened
from mcpguard.ledger.bundle.whole import Files
from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.verify.report import ChainReport, KeyTrust, Tampering

Progress = Callable[[int], None]


def verify(path: Path, anchors: Iterable[Checkpoint], trust: KeyTrust, progress: Progress) -> BundleReport:
    """`anchors`: checkpoints that were kept elsewhere. Never writes. Raises StoreUnavailable where there is no bundle,
    or it cannot be read."""
    report = BundleReport(str(path), trust)
    try:
        source = opened(path)
        manifest = _manifest(source, report)
        if manifest is not None:
            report.manifest = manifest
            for kept in manifest.files:
                _file(source, kept, report)
            _others(source, manifest, report)
            _records(Files(source, manifest), manifest, anchors, report, progress)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror or error}") from error
    return report


def _manifest(source: BundleSource, report: BundleReport) -> Manifest | None:
    content = _short(source, MANIFEST)
    try:
        manifest = Manifest.read(content)
    except BadManifest as error:
        report.found(Flaw.MANIFEST, f"{error}: it was changed, or is none of ours", MANIFEST)
        return None
    if SIGNATURE not in source.sizes:
        report.found(Flaw.SIGNATURE, "it is missing, so nobody vouches for this bundle", SIGNATURE)
    elif not is_signed(content, _short(source, SIGNATURE), manifest.key):
        report.found(Flaw.SIGNATURE, "it is not that of this manifest: one of them was changed", SIGNATURE)
    else:
        report.signed = True
    return manifest


def _short(source: BundleSource, name: str) -> bytes:
    """What is in a file that must be short; what is too long is cut, and so is none of ours."""
    found = b""
    for data in source.read(name):
        found += data
        if len(found) > LARGEST:
            break
    return found


def _file(source: BundleSource, kept: BundleFile, report: BundleReport) -> None:
    if kept.name not in source.sizes:
        report.found(Flaw.MISSING, "the manifest names it, and it is not there: it was removed", kept.name)
        return
    if source.sizes[kept.name] < kept.bytes:
        report.found(Flaw.CUT, f"it has {source.sizes[kept.name]} of its {kept.bytes} bytes: it was cut", kept.name)
        return
    sha, size = hashlib.sha256(), 0
    for data in source.read(kept.name):
        sha.update(data)
        size += len(data)
        if size > kept.bytes:
            break  # it is another one already, and a file with holes in it may be as long as somebody likes
    if (size, sha.hexdigest()) != (kept.bytes, kept.sha256):
        report.found(Flaw.CHANGED, "it is not the file that was signed: its SHA-256 is another", kept.name)


def _others(source: BundleSource, manifest: Manifest, report: BundleReport) -> None:
    named = {MANIFEST, SIGNATURE, *(kept.name for kept in manifest.files)}
    for name in sorted(source.sizes.keys() - named):
        report.found(Flaw.ADDED, "the manifest does not name it: it was added", name)
    for name in source.odd:
        report.found(Flaw.ADDED, "it is no plain file, and no bundle has such", name)


def _records(
    files: Files, manifest: Manifest, anchors: Iterable[Checkpoint], report: BundleReport, progress: Progress
) -> None:
    held, chain = _within(anchors, manifest, report), ChainReport(manifest.chain, keys={manifest.key})
    chain.anchor_keys |= {anchor.key for anchor in held.values()}
    try:
        keys = keys_of(files, manifest, report.trust, chain)
        if report.trust.keys and not keys.counts(manifest.key):
            report.found(Flaw.KEY, "the bundle is signed by another key than the one that was given", SIGNATURE)
        if (went := keys.retired(manifest.key)) is not None:  # it was made after the last record that is in it
            report.found(Flaw.KEY, f"the bundle is signed by a key that was retired with record {went}", SIGNATURE)
        if files.records is None:
            if held:
                report.found(Flaw.CHECKPOINT, "there are no records in our own form to hold a checkpoint against")
            return
        report.chain = chain
        if manifest.selection:
            report.vouched = selected.check(files, manifest, held, keys, chain, progress)
            if held and not chain.anchored_to and chain.whole:
                report.notices.append("the checkpoints kept elsewhere are of records that were not chosen")
        else:
            whole.check(files, manifest, held, keys, chain, progress)
        _compare(files, manifest, chain, report)
    except UnreadableBundle as error:
        report.found(Flaw.UNREADABLE, f"it cannot be read to its end: {error}", error.file)


def _within(anchors: Iterable[Checkpoint], manifest: Manifest, report: BundleReport) -> Mapping[int, Checkpoint]:
    """Those of the checkpoints kept elsewhere that are of what the bundle has, by number."""
    held, elsewhere, outside = dict[int, Checkpoint](), 0, 0
    for anchor in anchors:
        if anchor.chain != manifest.chain:
            elsewhere += 1
        elif manifest.after < anchor.seq <= manifest.upto:
            held[anchor.seq] = anchor
        else:
            outside += 1
    if elsewhere and not held and not outside:
        report.found(Flaw.CHECKPOINT, "the checkpoint kept elsewhere is of another chain than this bundle")
    if outside and not held:
        report.notices.append("the checkpoints kept elsewhere are of records that this bundle does not reach")
    return held


def _compare(files: Files, manifest: Manifest, chain: ChainReport, report: BundleReport) -> None:
    """What the manifest says of the records, and what there is."""
    last = manifest.last.seq if manifest.last is not None and manifest.selection else manifest.upto
    if chain.last_seq < last and not (manifest.selection and manifest.last is None):
        chain.found(last, Tampering.TAIL_CUT, f"it was the last one, and the file ends with record {chain.last_seq}")
    name = "" if files.records is None else files.records.name
    if (chain.records, chain.pruned) != (manifest.records, manifest.pruned):
        said = f"{manifest.records} records, {manifest.pruned} of them pruned"
        there = f"{chain.records}, {chain.pruned} of them pruned"
        report.found(Flaw.COUNTS, f"the manifest speaks of {said}, and there are {there}", name)
    if _end(files.last) != manifest.last:
        report.found(Flaw.COUNTS, "its last record is not the one that the manifest names", name)
    if _end(next(files.told(), None)) != manifest.first:
        report.found(Flaw.COUNTS, "its first record is not the one that the manifest names", name)


def _end(told: RecordLine | None) -> End | None:
    return None if told is None else End(told.seq, told.hash.hex())
