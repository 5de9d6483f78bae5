"""Another signing key takes the place of the one that signs, while the guard runs.

Rules kept here:
1. The old key says which one follows and signs the record of that; whatever comes later is signed by the new one, and
   the old one is kept nowhere.
2. Where the record cannot be stored the old key goes on. Whether it was stored after all is found out before anything
   else is signed.
3. Rotations wait for each other.
"""

from contextlib import suppress
from dataclasses import dataclass

import anyio
import structlog
from anyio import to_thread

from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Decision, Undecidable
from mcpguard.domain.errors import LedgerUnavailable, StoreUnavailable
from mcpguard.guard.people.users import check_why
from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.ledger.keyfile import KeyFile
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.ledger.recordable import recordable
from mcpguard.store.engine.backend import Connection

log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class Rotated:
    """The key that signs from now on, the one that did, and the record of it. `moved`: whether the new one is in its
    file; it lies beside it otherwise."""

    key: str
    previous: str
    record: int
    moved: bool


class Rotating:
    """Rotates the key, and finishes what was begun."""

    def __init__(self, file: KeyFile, ledger: Ledger) -> None:
        self._file = file
        self._ledger = ledger
        self._one = anyio.Lock()

    async def rotate(self, decision: Decision) -> Rotated:
        """Raises Forbidden, Undecidable, Unrecordable or LedgerUnavailable; only after the last may it be done."""
        check_why(decision)
        by = decision.by
        said = {"why": decision.why, "by": by.id, "via": by.via, "process": by.process}
        fields = recordable({name: value for name, value in said.items() if value})
        async with self._one:
            by.check()
            await self._settle()
            previous, key = self._ledger.chain.public_key, await to_thread.run_sync(self._file.offer)

            def rotate(connection: Connection, _: Append) -> int:
                return self._ledger.chain.rotate(connection, key, fields)

            with anyio.CancelScope(shield=True):  # what is stored is finished
                record = await self._ledger.transact(rotate)
                log.warning("ledger.key_rotated", record=record, key=key.public, previous=previous, by=by.id)
                moved = await to_thread.run_sync(self._file.finish)
                await self._sign(previous if moved else "")
        return Rotated(key.public, previous, record, moved)

    async def stop(self) -> None:
        """Before the guard ends: finish what an outage has interrupted. Where that cannot be, the next start does."""
        async with self._one:
            with suppress(LedgerUnavailable, Undecidable, StoreUnavailable):
                await self._settle()

    async def _settle(self) -> None:
        """A key beside the file is left of a rotation of which it was not known whether it was stored. It is known as
        soon as anything else is."""
        if self._file.next.exists():
            await self._ledger.checkpoint(CheckpointCause.ROTATION)
            retired = await to_thread.run_sync(self._file.settle, self._ledger.chain.public_key)
            await self._sign(retired)
        elif self._ledger.outage:
            raise LedgerUnavailable(self._ledger.outage.why)

    async def _sign(self, retired: str) -> None:
        """Have the key that follows sign, and say that the one before is gone, if it is."""
        with suppress(LedgerUnavailable):  # the rotation is stored, and each start says and signs the rest
            if retired:
                await self._ledger.note(RecordKind.RETIRED, {"key": retired})
            await self._ledger.checkpoint(CheckpointCause.ROTATION)
