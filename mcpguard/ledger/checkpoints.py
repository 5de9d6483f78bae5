"""Signed statements about a chain: "after record `seq` the hash was this"."""

import base64
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import orjson
from cryptography.exceptions import InvalidSignature

from mcpguard.codec.canonical import canonical_json
from mcpguard.codec.strict import parse
from mcpguard.domain.errors import Unrecordable
from mcpguard.ledger.format import CHECKPOINT_TAG, VERSION
from mcpguard.ledger.keys import SigningKey, public_from

LONGEST = 65_536
"""Bytes of a checkpoint that is read from outside."""


class CheckpointCause(StrEnum):
    """Why a checkpoint was made."""

    COUNT = "count"
    TIME = "time"
    START = "start"
    STOP = "stop"
    EXPORT = "export"
    ROTATION = "rotation"
    PRUNING = "pruning"


class BadCheckpoint(ValueError):
    """These bytes are not a checkpoint, or its key did not sign them."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The statement that is signed. `previous` is the record number of the checkpoint before it, 0 for the first."""

    chain: str
    seq: int
    hash: str
    at: int
    why: CheckpointCause
    previous: int
    key: str

    def content(self) -> bytes:
        return canonical_json(
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
    def verify(cls, content: bytes, signature: bytes) -> Self:
        """Parse `content` after checking that the key it names signed exactly these bytes. Raises BadCheckpoint."""
        checkpoint = cls.read(content)
        try:
            # The tag keeps a signature over anything else from passing for one over a checkpoint.
            public_from(checkpoint.key).verify(signature, CHECKPOINT_TAG + content)
        except InvalidSignature:
            raise BadCheckpoint("the signature does not match") from None
        except ValueError as error:
            raise BadCheckpoint(f"not a checkpoint: {error}") from error
        return checkpoint

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Parse `content` without checking who wrote it. Raises BadCheckpoint."""
        try:
            said = orjson.loads(content)
            checkpoint = cls(
                str(said["chain"]),
                int(said["seq"]),
                str(said["hash"]),
                int(said["at"]),
                CheckpointCause(said["why"]),
                int(said["previous"]),
                str(said["key"]),
            )
            canonical_form = checkpoint.content()
        except (Unrecordable, ValueError, KeyError, TypeError) as error:
            raise BadCheckpoint(f"not a checkpoint: {error}") from error
        if canonical_form != content:  # else two texts could pass for one statement
            raise BadCheckpoint("not written in the canonical form")
        return checkpoint


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint with its signature: the form that is kept outside of the store."""

    statement: Checkpoint
    signature: bytes

    def as_json(self) -> dict[str, str]:
        """The JSON object in which it is kept outside of the store."""
        return checkpoint_json(self.statement.content(), self.signature)

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """Parse and verify an external checkpoint. Raises BadCheckpoint."""
        try:
            said: Any = parse(text, max_bytes=LONGEST)
            content, signature = (base64.b64decode(said[name], validate=True) for name in ("content", "signature"))
        except (ValueError, KeyError, TypeError) as error:
            raise BadCheckpoint(str(error)) from error
        return cls(Checkpoint.verify(content, signature), signature)


def checkpoint_json(content: bytes, signature: bytes) -> dict[str, str]:
    """The JSON object in which a stored checkpoint is kept outside of the store."""
    return {"content": base64.b64encode(content).decode(), "signature": base64.b64encode(signature).decode()}


def sign(checkpoint: Checkpoint, key: SigningKey) -> bytes:
    return key.sign(CHECKPOINT_TAG + checkpoint.content())
