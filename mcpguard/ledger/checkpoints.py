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
"""Bytes of a checkpoint that somebody kept."""


class Why(StrEnum):
    """What occasioned a checkpoint."""

    COUNT = "count"
    TIME = "time"
    START = "start"
    STOP = "stop"
    EXPORT = "export"
    ROTATION = "rotation"
    PRUNING = "pruning"


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
    def verified(cls, content: bytes, signature: bytes) -> Self:
        """What `content` says, once the key that it names is found to have signed exactly these bytes."""
        checkpoint = cls.read(content)
        try:
            public_from(checkpoint.key).verify(signature, CHECKPOINT_TAG + content)
        except InvalidSignature:
            raise BadCheckpoint("the signature does not match") from None
        except ValueError as error:
            raise BadCheckpoint(f"not a checkpoint: {error}") from error
        return checkpoint

    @classmethod
    def read(cls, content: bytes) -> Self:
        """What `content` says, whoever wrote it. Raises BadCheckpoint."""
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
            canonical_form = checkpoint.content()
        except (Unrecordable, ValueError, KeyError, TypeError) as error:
            raise BadCheckpoint(f"not a checkpoint: {error}") from error
        if canonical_form != content:
            raise BadCheckpoint("not written in the canonical form")
        return checkpoint


@dataclass(frozen=True, slots=True)
class Signed:
    """A checkpoint with its signature: what is kept elsewhere."""

    statement: Checkpoint
    signature: bytes

    def kept(self) -> dict[str, str]:
        """As it is kept: a JSON object."""
        return kept(self.statement.content(), self.signature)

    @classmethod
    def taken(cls, text: bytes) -> Self:
        """What somebody has kept. Raises BadCheckpoint."""
        try:
            said: Any = parse(text, max_bytes=LONGEST)
            content, signature = (base64.b64decode(said[name], validate=True) for name in ("content", "signature"))
        except (ValueError, KeyError, TypeError) as error:
            raise BadCheckpoint(str(error)) from error
        return cls(Checkpoint.verified(content, signature), signature)


def kept(content: bytes, signature: bytes) -> dict[str, str]:
    """A checkpoint as it lies in the store, as it is kept elsewhere."""
    return {"content": base64.b64encode(content).decode(), "signature": base64.b64encode(signature).decode()}


def sign(checkpoint: Checkpoint, key: SigningKey) -> bytes:
    return key.sign(CHECKPOINT_TAG + checkpoint.content())
