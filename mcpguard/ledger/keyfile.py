"""The file with the signing key, and how another key comes to be in it.

Rules kept here:
1. The new key is on the disk beside the old one before any record says that it follows, and in the place of the old one
   only when that record is stored. So whatever moment a crash chooses, the key that signs from then on is there.
2. The old key is kept nowhere. One that was followed by another signs nothing any more.
"""

from contextlib import suppress
from pathlib import Path

import structlog

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import keys
from mcpguard.ledger.keys import SigningKey
from mcpguard.ledger.rotations import retired, signing
from mcpguard.store.engine.backend import Connection
from mcpguard.store.files import keyfiles
from mcpguard.store.rows import chains

log = structlog.get_logger("mcpguard.ledger")


class KeyFile:
    """Where the signing key lies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.next = path.with_name(path.name + ".next")

    def begun(self, connection: Connection) -> tuple[SigningKey, str]:
        """At a start: the key that signs, and the public key that an interrupted rotation retires now, if one does.
        Raises StoreUnavailable."""
        chain = chains.newest(connection) or ""
        there = self.path.exists()
        key = keys.load_or_make(self.path)
        expected = signing(connection, chain)
        if self.next.exists():
            following = self._following()
            if following is not None and following.public == expected:
                return following, key.public if self.finish() and there else ""
            with suppress(Undecidable):  # it is in nobody's way until the next rotation
                self._drop()
        if key.public != expected and (record := retired(connection, chain, key.public)):
            raise StoreUnavailable(
                f"the signing key {self.path} was replaced by another one (record {record} of the audit log) and signs "
                "nothing any more; put the newer one back, or move this one away: a new one is made then, which "
                "nothing joins to those before"
            )
        return key, ""

    def offer(self) -> SigningKey:
        """A new key, beside the one that signs. Raises Undecidable."""
        key, content = keys.made()
        try:
            alone = self.path.stat().st_dev != self.path.parent.stat().st_dev
            if not alone:
                keyfiles.make(self.next, content)
        except OSError as error:
            raise self._stays(error.strerror or str(error)) from error
        if alone:
            raise self._stays("it is mounted by itself")
        return key

    def finish(self) -> bool:
        """Put the new key in the place of the old one. Whether that was done: where not, the next start tries again."""
        try:
            keyfiles.replace(self.path, self.next)
        except OSError as error:
            why = f"{self.next} has the key that signs, and cannot be moved to {self.path}: {error.strerror}"
            log.error("ledger.key_not_moved", why=why, next="move it there; it is tried again at each start")
            return False
        return True

    def settle(self, signing: str) -> str:
        """Where a key lies beside the file: have it follow if it is the one that signs, else remove it. The public key
        that is gone by that, if one is. Raises Undecidable or StoreUnavailable."""
        following = self._following()
        if following is None or following.public != signing:
            self._drop()
            return ""
        old = keys.load(self.path).public
        if not self.finish():
            raise self._stays(f"it was rotated before, and that key is still in {self.next.name}")
        return old

    def _drop(self) -> None:
        """Remove a key that was offered and has not followed. Raises Undecidable."""
        try:
            keyfiles.remove(self.next)
        except OSError as error:
            raise self._stays(error.strerror or str(error)) from error

    def _stays(self, why: str) -> Undecidable:
        log.warning("ledger.key_stays", file=str(self.path), why=why)
        return Undecidable(
            f"the file with the signing key cannot be replaced: {why}. Rotate it where that file is made: stop the "
            "guard, put the file where the guard may replace it, name it in audit.key_file and start the guard again"
        )

    def _following(self) -> SigningKey | None:
        """None for what a crash has left half written."""
        try:
            return keys.load(self.next)
        except keys.NoKey:
            return None
