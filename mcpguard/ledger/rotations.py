"""One signing key follows another: what both say of it, and what the log has of it.

Rules kept here:
1. Both keys sign one statement: the old one says which key follows, the new one which key it follows. Without the
   second signature anybody could make a key of theirs look like the one that came before ours.
2. The statement names the chain, the number, the time and the hash before, so it is worth nothing anywhere else.
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
from mcpguard.store.rows import checkpoints, records, searching
from mcpguard.store.rows.records import StoredRecord

LONGEST = 65_536
"""Bytes of a record of this kind."""


class BadRotation(ValueError):
    """This record hands over to no key."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """What both keys sign. `after`: the hash of the record before, as hexadecimal; `at`: as in the record."""

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
        """What the record says of it."""
        signed = KEY_TAG + self.content()
        return {
            "at": self.at,
            "after": self.after,
            "previous": self.previous,
            "key": self.key,
            "proof": base64.b64encode(old.sign(signed)).decode(),
            "accepted": base64.b64encode(new.sign(signed)).decode(),
        }

    @classmethod
    def verified(cls, content: bytes) -> Self:
        """What a record says, once both keys are found to have signed it. Raises BadRotation."""
        try:
            said: Any = parse(content, max_bytes=LONGEST)
            words = (str(said[name]) for name in ("after", "previous", "key"))
            rotation = cls(str(said["chain"]), int(said["seq"]), int(said["at"]), *words)
            hands_over = said["kind"] == RecordKind.ROTATED and rotation.previous != rotation.key
            signed = KEY_TAG + rotation.content()
            for key, name in ((rotation.previous, "proof"), (rotation.key, "accepted")):
                public_from(key).verify(base64.b64decode(said[name], validate=True), signed)
        except InvalidSignature:
            raise BadRotation("a signature does not match") from None
        except (Unrecordable, ValueError, KeyError, TypeError) as error:
            raise BadRotation("it cannot be understood") from error
        if not hands_over:
            raise BadRotation("nothing follows by it")
        return rotation


def signing(connection: Connection, chain: str) -> str:
    """The key that signs a chain after all that is stored: the newest checkpoint's, or the one that the record which
    it was made for hands over to. Empty for a chain that nobody has signed."""
    newest = checkpoints.last(connection, chain)
    if newest is None:
        return ""
    made_for = searching.numbered(connection, chain, newest.seq)
    for rotated in _rotations([made_for] if made_for else []):
        return rotated.key
    return Checkpoint.read(newest.content).key


def retired(connection: Connection, chain: str, key: str) -> int:
    """The number of the record by which this key handed over to another; 0 where it has not."""
    found = _rotations(records.of_kind(connection, chain, RecordKind.ROTATED))
    return next((each.seq for each in found if each.previous == key), 0)


def _rotations(found: Iterable[StoredRecord]) -> list[Rotation]:
    rotations = []
    for record in found:
        try:
            rotations.append(Rotation.verified(record.content or b""))
        except BadRotation:
            continue  # an enemy's, or another kind; verifying says so
    return rotations
