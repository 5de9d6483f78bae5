"""Exports of the audit log: each is recorded first, then read in portions at the speed of its client.

Rules kept here:
1. No record, no export: the record of who gets what, and a signature over the chain that covers it, are stored before
   the first byte is read. The export ends at that signature, so it contains its own record.
2. Two threads serve all exports, each stream in short turns. Nothing is read ahead of the client, nor for a client that
   has disconnected or lost its rights.
3. A bundle lies in the data directory only while it is sent, readable by the guard's own account alone. The next start
   removes what a crash left there.
"""

import secrets
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from anyio import CancelScope, from_thread, to_thread

from mcpguard import __version__
from mcpguard.codec.canonical import Scalar
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor, Unknown
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.bundle import tar
from mcpguard.ledger.bundle.make_bundle import Maker, WantedBundle, make
from mcpguard.ledger.bundle.manifest import MANIFEST, SIGNATURE
from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.ledger.export.export import ExportSpan, Tape, next_batch
from mcpguard.ledger.export.formats import form
from mcpguard.ledger.export.selection import EVERYTHING, Selection
from mcpguard.ledger.ledger import Ledger
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.files import datadir
from mcpguard.store.rows import chains, records

FOLDER: Final = "exports"
"""The folder in the data directory for bundles that are being handed over."""
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class AuditExportRequest:
    """What is to be exported. `upto` None: everything; `chain` empty: the chain that is written now."""

    forms: tuple[str, ...]
    selection: Selection = EVERYTHING
    after: int = 0
    upto: int | None = None
    packed: bool = False
    bundle: bool = False
    bodies: bool = False
    chain: str = ""


@dataclass(frozen=True, slots=True)
class BegunExport:
    """An export that was recorded: the record of it, and the span of records that it contains."""

    chain: str
    seq: int
    span: ExportSpan
    by: Actor


class AuditExports:
    """Exports records, after recording who gets which."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock, data_dir: Path) -> None:
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._folder = data_dir / FOLDER

    def sweep(self) -> None:
        """Remove bundles that a crash left behind."""
        if self._folder.is_dir() and not self._folder.is_symlink():
            shutil.rmtree(self._folder)

    async def begin(self, wanted: AuditExportRequest, by: Actor) -> BegunExport:
        """Record the export. Raises Unknown, Lapsed, LedgerUnavailable or StoreUnavailable; then nothing may be
        exported."""
        by.check()
        own = self._ledger.chain.id
        chain = wanted.chain or own
        if chain != own and chain not in await self._store.exports.run(chains.list_chains):
            raise Unknown("there is no such hash chain")
        fields = _fact(wanted, by, "" if chain == own else chain)
        # Before the first byte is read: an export that leaves no record does not happen.
        seq = await self._ledger.transact(lambda _, append: append(RecordKind.EXPORTED, fields))
        # Signed up to that record, so that the export contains and proves the record of itself.
        end = (await self._ledger.checkpoint(CheckpointCause.EXPORT)).statement.seq
        if chain != own:
            last = await self._store.exports.run(lambda connection: records.last_record(connection, chain))
            end = last[0] if last else 0
        upto = end if wanted.upto is None else min(end, wanted.upto)
        log.info("export.begun", chain=chain, record=seq, by=by.id, forms=[*wanted.forms], bundle=wanted.bundle)
        return BegunExport(own, seq, ExportSpan(chain, wanted.after, max(upto, wanted.after), wanted.selection), by)

    async def stream(self, begun: BegunExport, wanted: AuditExportRequest) -> AsyncIterator[bytes]:
        """Stream the records in the first requested form. Raises Lapsed or StoreUnavailable, and then ends in the
        middle."""
        tape, span = Tape(form(wanted.forms[0]), packed=wanted.packed), begun.span
        yield tape.begin()
        while True:
            begun.by.check()
            after, data = await self._store.exports.run(partial(_step, tape, span))
            yield data
            if after is None:
                return
            span = replace(span, after=after)

    async def bundle(self, begun: BegunExport, wanted: AuditExportRequest) -> AsyncIterator[bytes]:
        """Stream a bundle as a tar. It is made completely first, which takes time and ends when the client goes."""
        folder = self._folder / f"{begun.seq}-{secrets.token_hex(8)}"
        try:
            names = await self._store.exports.run(partial(self._make, folder, begun, wanted))
            parts = tar.tar_chunks(folder, names)
            while data := await to_thread.run_sync(next, parts, b""):
                begun.by.check()
                yield data
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))

    def _make(self, folder: Path, begun: BegunExport, wanted: AuditExportRequest, connection: Connection) -> list[str]:
        maker = Maker(self._ledger.chain.key, self._clock.now(), __version__, (begun.chain, begun.seq))
        kept = WantedBundle(wanted.forms, wanted.packed, wanted.bodies)
        try:
            datadir.prepare(self._folder)
            folder.mkdir(mode=0o700)
            manifest = make(folder, connection, begun.span, kept, maker, lambda _: from_thread.check_cancelled())
        except OSError as error:
            raise StoreUnavailable(f"the bundle cannot be written: {error.strerror or error}") from error
        return [MANIFEST, SIGNATURE, *(file.name for file in manifest.files)]


def _step(tape: Tape, span: ExportSpan, connection: Connection) -> tuple[int | None, bytes]:
    """The next bytes, and the number after which to go on; None at the end."""
    some = next_batch(connection, span)
    return (some[-1].seq, tape.take(some)) if some else (None, tape.mark())


def _fact(wanted: AuditExportRequest, by: Actor, of: str) -> dict[str, Scalar]:
    fields: dict[str, Scalar] = {
        "form": " ".join(wanted.forms),
        "selection": wanted.selection.text,
        "after": wanted.after,
        "upto": wanted.upto,
        "of": of,
        "bundle": wanted.bundle,
        "bodies": wanted.bodies,
        "compressed": wanted.packed,
        "by": by.id,
        "via": by.via,
        "process": by.process,
    }
    return {name: value for name, value in fields.items() if value is not None and value != ""}
