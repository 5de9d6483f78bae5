"""Checks one record by itself: its hash against the previous one, and the checkpoint that covers it.

This does not cover the chain between the record and the checkpoint; only a full verification checks that.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from mcpguard.codec.canonical import canonical_json
from mcpguard.domain.errors import Unrecordable
from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint
from mcpguard.ledger.format import GENESIS, link


def hash_matches(content: Mapping[str, Any], seq: int, previous: str | None, hash_: str) -> bool | None:
    """Tell whether a record has the hash that its content and the previous hash give; None if that is missing."""
    # The first record follows nothing: its previous hash is zeros.
    before = GENESIS.hex() if seq == 1 else previous
    if before is None:
        return None
    try:
        return link(bytes.fromhex(before), canonical_json(content)).hex() == hash_
    except (Unrecordable, ValueError):
        return False


def verified_checkpoint(content: Mapping[str, Any], signature: str) -> Checkpoint | None:
    """The checkpoint, if the key that it names signed it; otherwise None."""
    try:
        return Checkpoint.verify(canonical_json(content), base64.b64decode(signature, validate=True))
    except (BadCheckpoint, Unrecordable, binascii.Error, ValueError):
        return None
