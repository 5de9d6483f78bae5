"""Makes a bundle: writes its files into a folder, with the manifest and the signature last.

Rules kept here:
1. Memory does not grow with the chain: everything is written as it is read.
2. Nothing is overwritten, and only the account that makes the bundle can read it.
"""

import base64
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import orjson

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.bundle.manifest import CHECKPOINTS, MANIFEST, README, SIGNATURE, BundleFile, End, Manifest, sign
from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint
from mcpguard.ledger.export.export import ExportSpan, Tape, batches
from mcpguard.ledger.export.formats import form
from mcpguard.ledger.export.line import ExportForm, ExportLine
from mcpguard.ledger.format import GENESIS
from mcpguard.ledger.keys import SigningKey
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import checkpoints, records
from mcpguard.store.rows.checkpoints import StoredCheckpoint

BODIES_TOGETHER: Final = 10
"""Bodies that are read at once: each may have 16 MiB."""
Progress = Callable[[int], None]
_TEXT: Final = """\
This folder is an export of the audit log of mcpguard. manifest.json says what is in it, and manifest.sig is the guard's
signature over that.

To check it, on any machine, with nothing but this folder and the guard's public key (`mcpguard audit key`):

    mcpguard audit verify FOLDER --key KEY

It says what is verified and what is not. The format, in enough detail to write another verifier, is in docs/export.md
of mcpguard.
"""


@dataclass(frozen=True, slots=True)
class WantedBundle:
    """What a bundle should contain."""

    forms: tuple[str, ...]
    packed: bool = False
    bodies: bool = False


@dataclass(frozen=True, slots=True)
class Maker:
    """Who makes a bundle: the key, the time, the version, and the chain and number of the record about the export."""

    key: SigningKey
    now: int
    version: str
    exported: tuple[str, int] | None = None


class _File:
    """A new file of a bundle, and its entry in the manifest."""

    def __init__(
        self, folder: Path, name: str, what: str, form: ExportForm | None = None, *, packed: bool = False
    ) -> None:
        self._named = (name, what, "" if form is None else form.word, packed)
        self._tape = Tape(form or _Plain(), packed=packed)
        self._sha = hashlib.sha256()
        self._bytes = 0
        # O_EXCL: nothing that somebody put there is followed or overwritten.
        self._out = os.fdopen(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")

    def __enter__(self) -> Self:
        self._write(self._tape.begin())
        return self

    def __exit__(self, *_: object) -> None:
        self._out.close()

    def take(self, some: Sequence[ExportLine]) -> None:
        self._write(self._tape.take(some))

    def add(self, plain: bytes) -> None:
        self._write(self._tape.add(plain))

    def finish(self) -> BundleFile:
        """Write everything to the disk. Returns the entry for the manifest."""
        self._write(self._tape.mark())
        self._out.flush()
        os.fsync(self._out.fileno())
        return BundleFile(*self._named, self._bytes, self._tape.plain, self._sha.hexdigest())

    def _write(self, data: bytes) -> None:
        self._bytes += len(data)
        self._sha.update(data)
        self._out.write(data)


class _Plain:
    """The form of files that do not hold records."""

    word = suffix = media = ""

    def head(self) -> bytes:
        return b""

    def line(self, record: ExportLine) -> bytes:
        raise NotImplementedError(record)


def make(
    folder: Path, connection: Connection, span: ExportSpan, wanted: WantedBundle, maker: Maker, progress: Progress
) -> Manifest:
    """Write a bundle into an empty folder. Raises OSError and StoreUnavailable; the folder is not a bundle then."""
    counted, files = _records(folder, connection, span, wanted, progress)
    files.append(_checkpoints(folder, connection, span, maker.key.public))
    with _File(folder, README, "readme") as readme:
        readme.add(_TEXT.encode())
        files.append(readme.finish())
    # Pruned between two pages: the pruning record would lie after the end of the bundle.
    if counted.pruned:
        _refuse_pruned_meanwhile(connection, span)
    # The first record of a bundle is verified against the hash before it.
    before = records.hash_of(connection, span.chain, span.after) if span.after else GENESIS
    manifest = Manifest(
        chain=span.chain,
        after=span.after,
        upto=span.upto,
        before=None if before is None else before.hex(),
        first=counted.first,
        last=counted.last,
        records=counted.records,
        pruned=counted.pruned,
        selection=span.selection.text,
        bodies=wanted.bodies,
        exported=maker.exported,
        made_at=maker.now,
        version=maker.version,
        key=maker.key.public,
        files=tuple(files),
    )
    content = manifest.content()
    # Last, so that an interrupted bundle has no manifest and passes for none.
    for name, said in ((MANIFEST, content), (SIGNATURE, sign(content, maker.key))):
        with _File(folder, name, "") as file:
            file.add(said)
            file.finish()
    return manifest


@dataclass(slots=True)
class _Counted:
    first: End | None = None
    last: End | None = None
    records: int = 0
    pruned: int = 0

    def take(self, some: Sequence[ExportLine]) -> None:
        self.first = self.first or End(some[0].seq, some[0].hash.hex())
        self.last = End(some[-1].seq, some[-1].hash.hex())
        self.records += len(some)
        self.pruned += sum(line.raw is None for line in some)


def _records(
    folder: Path, connection: Connection, span: ExportSpan, wanted: WantedBundle, progress: Progress
) -> tuple[_Counted, list[BundleFile]]:
    counted = _Counted()
    end = ".gz" if wanted.packed else ""
    named = [(f"records{form(word).suffix}{end}", "records", form(word)) for word in wanted.forms]
    beside = [(f"bodies.jsonl{end}", "bodies", None)] if wanted.bodies else []
    with ExitStack() as open_:
        files = [open_.enter_context(_File(folder, *each, packed=wanted.packed)) for each in named]
        bodies = [open_.enter_context(_File(folder, *each, packed=wanted.packed)) for each in beside]
        for some in batches(connection, span):
            for file in files:
                file.take(some)
            for file in bodies:
                for line in _bodies(connection, span.chain, some):
                    file.add(line)
            counted.take(some)
            progress(some[-1].seq)
        return counted, [file.finish() for file in (*files, *bodies)]


def _bodies(connection: Connection, chain: str, some: Sequence[ExportLine]) -> Iterator[bytes]:
    """The lines of the bodies of these records, in order, as far as they exist."""
    kept = [line.seq for line in some if line.said.get("body_kept") is True]
    for begin in range(0, len(kept), BODIES_TOGETHER):
        for body in records.bodies_of(connection, chain, kept[begin : begin + BODIES_TOGETHER]):
            if body.salt is None or body.content is None:
                said: dict[str, object] = {"pruned": True}
            else:
                said = {"content": _base64(body.content), "salt": _base64(body.salt)}
            yield orjson.dumps({**said, "seq": body.seq}, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def _checkpoints(folder: Path, connection: Connection, span: ExportSpan, key: str) -> BundleFile:
    """Write the checkpoints, from that of the record before the first one on. Of selected records, only those that the
    bundle's key signed: the records about rotations may not be selected."""
    with _File(folder, CHECKPOINTS, "checkpoints") as file:
        for each in checkpoints.walk(connection, span.chain, span.upto):
            if each.seq >= span.after and (not span.selection.text or _signed_by(each, key)):
                said = {"content": _base64(each.content), "signature": _base64(each.signature)}
                file.add(orjson.dumps(said, option=orjson.OPT_APPEND_NEWLINE))
        return file.finish()


def _signed_by(checkpoint: StoredCheckpoint, key: str) -> bool:
    try:
        return Checkpoint.read(checkpoint.content).key == key
    except BadCheckpoint:  # it was tampered with; verifying the bundle reports it
        return True


def _refuse_pruned_meanwhile(connection: Connection, span: ExportSpan) -> None:
    """Raise StoreUnavailable if records were pruned meanwhile: the bundle would look tampered with."""
    if records.last_of_kind(connection, span.chain, "pruned") > span.upto:
        raise StoreUnavailable("records were pruned during the export; export again")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
