"""Bundles of a small ledger, and changing them behind everybody's back."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mcpguard.ledger import keys
from mcpguard.ledger.bundle import tar
from mcpguard.ledger.bundle.bundle_report import BundleReport
from mcpguard.ledger.bundle.make_bundle import Maker, WantedBundle, make
from mcpguard.ledger.bundle.manifest import MANIFEST, SIGNATURE, Manifest, sign
from mcpguard.ledger.bundle.verify_bundle import verify
from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.export.export import ExportSpan
from mcpguard.ledger.export.selection import EVERYTHING, Fitting
from mcpguard.ledger.keys import SigningKey
from mcpguard.ledger.verify.report import LOG_ONLY, KeySource, KeyTrust
from mcpguard.store.engine.offline import open_offline
from mcpguard.store.rows import chains, records

ALL = WantedBundle(("jsonl", "csv"), bodies=True)
STRANGER = SigningKey(Ed25519PrivateKey.generate())


def key_of(ledger: Path) -> SigningKey:
    return keys.load(ledger.parent / "audit.key")


def bundle(
    folder: Path,
    ledger: Path,
    wanted: WantedBundle = ALL,
    *,
    after: int = 0,
    selection: Fitting = EVERYTHING,
    key: SigningKey | None = None,
) -> Manifest:
    """A bundle in a new folder, signed by the guard of the ledger."""
    folder.mkdir()
    with open_offline(ledger) as connect, connect() as connection:
        chain = chains.newest(connection)
        assert chain is not None
        last = records.last_record(connection, chain)
        assert last is not None
        span = ExportSpan(chain, after, last[0], selection)
        return make(folder, connection, span, wanted, Maker(key or key_of(ledger), 1, "test"), lambda _: None)


def checked(path: Path, key: str | None = None, *anchors: Checkpoint) -> BundleReport:
    trust = LOG_ONLY if key is None else KeyTrust(frozenset({key}), KeySource.GIVEN)
    return verify(path, anchors, trust, lambda _: None)


def said(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
    return found


def signed_anew(folder: Path, key: SigningKey, change: Callable[[dict[str, Any]], object] = lambda _: None) -> None:
    """What somebody with a key does after a change: let the manifest say what is there now, and sign it."""
    manifest = said(folder)
    for each in manifest["files"]:
        file = folder / each["name"]
        if file.exists():
            content = file.read_bytes()
            each |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            each["plain"] = max(each["plain"], len(content))
    manifest["key"] = key.public
    change(manifest)
    content = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    (folder / MANIFEST).write_bytes(content)
    (folder / SIGNATURE).write_bytes(sign(content, key))


def tarred(folder: Path, path: Path) -> Path:
    path.write_bytes(
        b"".join(tar.tar_chunks(folder, [MANIFEST, SIGNATURE, *(each["name"] for each in said(folder)["files"])]))
    )
    return path


def kept_elsewhere(folder: Path, at: int = -1) -> tuple[Checkpoint, bytes]:
    """One of the checkpoints in a bundle, as somebody keeps it."""
    line = (folder / "checkpoints.jsonl").read_bytes().splitlines()[at]
    kept = json.loads(line)
    content, signature = (base64.b64decode(kept[name]) for name in ("content", "signature"))
    return Checkpoint.verify(content, signature), line
