"""Signed statements about a chain: "after record `seq` the hash was this"."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import orjson
from cryptography.exceptions import InvalidSignature

from mcpguard.codec.canonical import canonical
from mcpguard.ledger.format import CHECKPOINT_TAG, VERSION
from mcpguard.ledger.keys import SigningKey, public_from


class Why(StrEnum):
    """What occasioned a checkpoint."""

    COUNT = "count"
    TIME = "time"
    START = "start"
    STOP = "stop"


class BadCheckpoint(ValueError):
    """These bytes are no checkpoint that this key signed."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was signed. `previous` is the number of the checkpoint before it, 0 for the first."""

    chain: str
    seq: int
    hash: str
    at: int
    why: Why
    previous: int
    key: str

    def content(self) -> bytes:
        return canonical(
            {
                "v": VERSION,
                "chain": self.chain,
                "seq": self.seq,
                "hash": self.hash,
                "at": self.at,
                "why": self.why.value,
                "previous": self.previous,
                "key": self.key,
            }
        )

    @classmethod
    def verified(cls, content: bytes, signature: bytes) -> Self:
        """What `content` says, once the key that it names is found to have signed exactly these bytes."""
        try:
            said = orjson.loads(content)
            checkpoint = cls(
                str(said["chain"]),
                int(said["seq"]),
                str(said["hash"]),
                int(said["at"]),
                Why(said["why"]),
                int(said["previous"]),
                str(said["key"]),
            )
            public_from(checkpoint.key).verify(signature, CHECKPOINT_TAG + content)
        except InvalidSignature:
            raise BadCheckpoint("the signature does not match") from None
        except (ValueError, KeyError, TypeError) as error:
            raise BadCheckpoint(f"not a checkpoint: {error}") from error
        if checkpoint.content() != content:
            raise BadCheckpoint("not written in the canonical form")
        return checkpoint


def sign(checkpoint: Checkpoint, key: SigningKey) -> bytes:
    return key.sign(CHECKPOINT_TAG + checkpoint.content())
