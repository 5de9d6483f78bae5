"""Which keys a bundle may be signed with, and what stands in it: those that were given and those that follow them by a
record that is in it. Where none was given, the bundle's own and those that its records announce."""

from collections.abc import Iterator

from mcpguard.ledger.bundle.manifest import Manifest
from mcpguard.ledger.bundle.whole import Files
from mcpguard.ledger.verify.report import ChainReport, KeyTrust
from mcpguard.ledger.verify.succession import KeySuccession
from mcpguard.store.rows.records import StoredRecord


def keys_of(files: Files, manifest: Manifest, trust: KeyTrust, report: ChainReport) -> KeySuccession:
    """Raises Unreadable."""
    before = dict[int, bytes | None]()

    def rotated() -> Iterator[StoredRecord]:
        for told in files.rotated():
            before[told.seq - 1] = told.previous
            yield StoredRecord(told.seq, told.hash, told.raw, ())

    keys = KeySuccession(rotated(), before.get, trust, report)
    if not trust.keys:
        keys.announce(manifest.key)
    return keys
