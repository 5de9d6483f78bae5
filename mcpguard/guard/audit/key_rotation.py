"""Replaces the key that signs the audit log while the guard runs.

Rules kept here:
1. The old key names its successor and signs the record of that. The new key signs everything later, and no copy of the
   old one is kept.
2. If the record cannot be stored, the old key stays in use. Whether it was stored after all is determined before
   anything else is signed.
3. Rotations run one at a time.
"""

from contextlib import suppress
from dataclasses import dataclass

import anyio
import structlog
from anyio import to_thread

from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Decision, Undecidable
from mcpguard.domain.errors import LedgerUnavailable, StoreUnavailable
from mcpguard.guard.people.users import check_reason
from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.ledger.format import recordable
from mcpguard.ledger.keyfile import KeyFile
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.store.engine.backend import Connection

log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class KeyRotation:
    """A finished rotation: the new key, the previous one, and the record of it. `moved`: whether the new key is in the
    key file already; otherwise it lies beside it."""

    key: str
    previous: str
    record: int
    moved: bool


class KeyRotator:
    """Rotates the signing key, and finishes rotations that were interrupted."""

    def __init__(self, file: KeyFile, ledger: Ledger) -> None:
        self._file = file
        self._ledger = ledger
        self._one = anyio.Lock()

    async def rotate(self, decision: Decision) -> KeyRotation:
        """Rotate the key. Raises Forbidden, Undecidable, Unrecordable or LedgerUnavailable; only after the last it may
        have happened."""
        check_reason(decision)
        by = decision.by
        said = {"why": decision.why, "by": by.id, "via": by.via, "process": by.process}
        fields = recordable({name: value for name, value in said.items() if value})
        async with self._one:
            by.check()
            # An earlier rotation first: its key beside the file may be the one that signs, and must not be overwritten.
            await self._settle()
            previous, key = self._ledger.chain.public_key, await to_thread.run_sync(self._file.offer)

            def rotate(connection: Connection, _: Append) -> int:
                return self._ledger.chain.rotate(connection, key, fields)

            with anyio.CancelScope(shield=True):  # what is stored is finished
                record = await self._ledger.transact(rotate)
                log.warning("ledger.key_rotated", record=record, key=key.public, previous=previous, by=by.id)
                moved = await to_thread.run_sync(self._file.finish)
                await self._sign(previous if moved else "")
        return KeyRotation(key.public, previous, record, moved)

    async def stop(self) -> None:
        """Finish a rotation that an outage interrupted, before the guard ends. Otherwise the next start does."""
        async with self._one:
            with suppress(LedgerUnavailable, Undecidable, StoreUnavailable):
                await self._settle()

    async def _settle(self) -> None:
        """Finish an earlier rotation. A key beside the key file is left of one that may have been stored or not; that
        is known as soon as anything else is stored."""
        if self._file.next.exists():
            await self._ledger.checkpoint(CheckpointCause.ROTATION)
            retired = await to_thread.run_sync(self._file.settle, self._ledger.chain.public_key)
            await self._sign(retired)
        elif self._ledger.outage:
            raise LedgerUnavailable(self._ledger.outage.why)

    async def _sign(self, retired: str) -> None:
        """Sign with the new key, and record that the old one is deleted, if it is."""
        with suppress(LedgerUnavailable):  # the rotation is stored, and each start says and signs the rest
            if retired:
                await self._ledger.note(RecordKind.RETIRED, {"key": retired})
            await self._ledger.checkpoint(CheckpointCause.ROTATION)
