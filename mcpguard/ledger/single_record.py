"""One record held against what it rests on: the hash before it, and the checkpoint that covers it.

That says nothing of the chain between the two, which a verification of the whole walks along.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from mcpguard.codec.canonical import canonical_json
from mcpguard.domain.errors import Unrecordable
from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint
from mcpguard.ledger.format import GENESIS, link


def follows(content: Mapping[str, Any], seq: int, previous: str | None, hash_: str) -> bool | None:
    """Whether the hash of a record is the one that its content and the hash before it give; None where that is gone."""
    before = GENESIS.hex() if seq == 1 else previous
    if before is None:
        return None
    try:
        return link(bytes.fromhex(before), canonical_json(content)).hex() == hash_
    except (Unrecordable, ValueError):
        return False


def signed(content: Mapping[str, Any], signature: str) -> Checkpoint | None:
    """The checkpoint, if the key that it names has signed it."""
    try:
        return Checkpoint.verified(canonical_json(content), base64.b64decode(signature, validate=True))
    except (BadCheckpoint, Unrecordable, binascii.Error, ValueError):
        return None
