"""Which keys a bundle may be signed with, and what stands in it: those that were given and those that follow them by a
record that is in it. Where none was given, the bundle's own and those that its records announce."""

from mcpguard.ledger.bundle.manifest import Manifest
from mcpguard.ledger.bundle.whole import Files
from mcpguard.ledger.verify.report import ChainReport, Trust
from mcpguard.ledger.verify.succession import Succession
from mcpguard.store.records import StoredRecord


def keys_of(files: Files, manifest: Manifest, trust: Trust, report: ChainReport) -> Succession:
    """Raises Unreadable."""
    rotated, before = list[StoredRecord](), dict[int, bytes | None]()
    for told in files.rotated():
        rotated.append(StoredRecord(told.seq, told.hash, told.raw, ()))
        before[told.seq - 1] = told.previous
    keys = Succession(rotated, before.get, trust, report)
    if not trust.keys:
        keys.announce(manifest.key)
    return keys
