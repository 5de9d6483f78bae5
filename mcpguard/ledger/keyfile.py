"""The file with the signing key, and its replacement by a new key.

Rules kept here:
1. The new key is on the disk beside the old one before any record says that it takes over, and replaces the old one
   only once that record is stored. So the current signing key exists after a crash at any moment.
2. No copy of the old key is kept, and it signs nothing any more.
"""

from contextlib import suppress
from pathlib import Path

import structlog

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import keys
from mcpguard.ledger.keys import SigningKey
from mcpguard.ledger.rotations import retiring_record, signing_key_of
from mcpguard.store.engine.backend import Connection
from mcpguard.store.files import keyfiles
from mcpguard.store.rows import chains

log = structlog.get_logger("mcpguard.ledger")


class KeyFile:
    """The file of the signing key, and the one beside it in which a new key waits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.next = path.with_name(path.name + ".next")

    def load_at_start(self, connection: Connection) -> tuple[SigningKey, str]:
        """The key that signs, at a start, and the public key that it retires if a rotation was interrupted (else "").
        Raises StoreUnavailable."""
        chain = chains.newest(connection) or ""
        there = self.path.exists()
        key = keys.load_or_make(self.path)
        expected = signing_key_of(connection, chain)
        if self.next.exists():
            following = self._following()
            # The record was stored and the crash came before the move: the log says which key signs, not the file.
            if following is not None and following.public == expected:
                return following, key.public if self.finish() and there else ""
            with suppress(Undecidable):  # it is in nobody's way until the next rotation
                self._drop()
        # An old key from a backup: it would sign what nobody may believe.
        if key.public != expected and (record := retiring_record(connection, chain, key.public)):
            raise StoreUnavailable(
                f"the signing key {self.path} was rotated to another one (record {record} of the audit log) and signs "
                "nothing any more; put the newer key back, or move this one away: then a new key is made, which is "
                "not linked to the earlier ones"
            )
        return key, ""

    def offer(self) -> SigningKey:
        """Write a new key beside the one that signs, and return it. Raises Undecidable."""
        key, content = keys.new_key()
        try:
            # A file that is mounted by itself (a container's secret) cannot be replaced by renaming another.
            alone = self.path.stat().st_dev != self.path.parent.stat().st_dev
            if not alone:
                keyfiles.make(self.next, content)
        except OSError as error:
            raise self._stays(error.strerror or str(error)) from error
        if alone:
            raise self._stays("the file is a mount of its own")
        return key

    def finish(self) -> bool:
        """Replace the old key by the new one. Returns whether that was done; if not, the next start tries again."""
        try:
            keyfiles.replace(self.path, self.next)
        except OSError as error:
            why = f"{self.next} has the key that signs, but cannot be moved to {self.path}: {error.strerror}"
            log.error("ledger.key_not_moved", why=why, next="move it there; it is tried again at each start")
            return False
        return True

    def settle(self, signing: str) -> str:
        """Finish an earlier rotation: a key beside the file replaces it if it is the one that signs, or is removed.
        Returns the public key that was replaced, or "". Raises Undecidable or StoreUnavailable."""
        following = self._following()
        # Offered and never recorded, as a crash came first: it must not be found by the next start.
        if following is None or following.public != signing:
            self._drop()
            return ""
        # The rotation was recorded, and only the move is missing.
        old = keys.load(self.path).public
        if not self.finish():
            raise self._stays(f"it was rotated before, and that key is still in {self.next.name}")
        return old

    def _drop(self) -> None:
        """Remove a key that was offered and did not take over. Raises Undecidable."""
        try:
            keyfiles.remove(self.next)
        except OSError as error:
            raise self._stays(error.strerror or str(error)) from error

    def _stays(self, why: str) -> Undecidable:
        log.warning("ledger.key_stays", file=str(self.path), why=why)
        return Undecidable(
            f"the file with the signing key cannot be replaced: {why}. Rotate it where that file is made, or stop the "
            "guard, move the file to where the guard may replace it, name it in audit.key_file and start the guard"
        )

    def _following(self) -> SigningKey | None:
        """The key beside the file; None if a crash left it half written."""
        try:
            return keys.load(self.next)
        except keys.NoKey:
            return None
