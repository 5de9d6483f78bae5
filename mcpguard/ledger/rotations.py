"""Key rotations: the statement that both keys sign, and the records about them.

Rules kept here:
1. Both keys sign one statement, so each names the other. Without the signature of the new key, an attacker could make
   their own key look like the predecessor of the guard's.
2. The statement names the chain, the number, the time and the previous hash, so it cannot be replayed elsewhere.
"""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from cryptography.exceptions import InvalidSignature

from mcpguard.codec.canonical import Scalar, canonical_json
from mcpguard.codec.strict import parse
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.errors import Unrecordable
from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.format import KEY_TAG, VERSION
from mcpguard.ledger.keys import SigningKey, public_from
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import checkpoints, records
from mcpguard.store.rows.records import StoredRecord
from mcpguard.store.search import record_search

LONGEST = 65_536
"""The most bytes of a record of this kind."""


class BadRotation(ValueError):
    """This record is not a valid rotation."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """The statement that both keys sign. `after`: the previous hash, as hexadecimal; `at`: the time of the record."""

    chain: str
    seq: int
    at: int
    after: str
    previous: str
    key: str

    def content(self) -> bytes:
        return canonical_json(
            {
                "v": VERSION,
                "chain": self.chain,
                "seq": self.seq,
                "at": self.at,
                "after": self.after,
                "previous": self.previous,
                "key": self.key,
            }
        )

    def fields(self, old: SigningKey, new: SigningKey) -> dict[str, Scalar]:
        """The fields of its record, with both signatures."""
        signed = KEY_TAG + self.content()
        return {
            "at": self.at,
            "after": self.after,
            "previous": self.previous,
            "key": self.key,
            # The old key vouches for the new one, and the new one accepts: see rule 1.
            "proof": base64.b64encode(old.sign(signed)).decode(),
            "accepted": base64.b64encode(new.sign(signed)).decode(),
        }

    @classmethod
    def verify(cls, content: bytes) -> Self:
        """Parse a record after checking that both keys signed it. Raises BadRotation."""
        try:
            said: Any = parse(content, max_bytes=LONGEST)
            words = (str(said[name]) for name in ("after", "previous", "key"))
            rotation = cls(str(said["chain"]), int(said["seq"]), int(said["at"]), *words)
            # A statement of another kind, signed by both, or a key that follows itself, would be no rotation.
            hands_over = said["kind"] == RecordKind.ROTATED and rotation.previous != rotation.key
            signed = KEY_TAG + rotation.content()
            # Both: the old key alone could name a key of somebody who never had a part in it.
            for key, name in ((rotation.previous, "proof"), (rotation.key, "accepted")):
                public_from(key).verify(base64.b64decode(said[name], validate=True), signed)
        except InvalidSignature:
            raise BadRotation("a signature does not match") from None
        except (Unrecordable, ValueError, KeyError, TypeError) as error:
            raise BadRotation("it cannot be parsed") from error
        if not hands_over:
            raise BadRotation("it does not rotate to another key")
        return rotation


def signing_key_of(connection: Connection, chain: str) -> str:
    """The public key that signs what comes next: that of the newest checkpoint or, if that was made for a rotation, the
    new one. Empty if the chain has no checkpoint."""
    newest = checkpoints.last_checkpoint(connection, chain)
    if newest is None:
        return ""
    # The last checkpoint of the old key is of the rotation itself, so the newest may still be the old key's.
    made_for = record_search.record_at(connection, chain, newest.seq)
    for rotated in _rotations([made_for] if made_for else []):
        return rotated.key
    return Checkpoint.read(newest.content).key


def retiring_record(connection: Connection, chain: str, key: str) -> int:
    """The number of the record by which this key was rotated to another; 0 if it was not."""
    found = _rotations(records.records_of_kind(connection, chain, RecordKind.ROTATED))
    return next((each.seq for each in found if each.previous == key), 0)


def _rotations(found: Iterable[StoredRecord]) -> list[Rotation]:
    rotations = []
    for record in found:
        try:
            rotations.append(Rotation.verify(record.content or b""))
        except BadRotation:
            continue  # forged, or of another kind; verifying reports it
    return rotations
