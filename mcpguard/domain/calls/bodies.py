"""The stored form of a call's arguments or reply: the masked bytes, or only their size and a keyed digest."""

import re
from dataclasses import dataclass

from mcpguard.domain.errors import InvalidName

KEYED = re.compile(r"hmac-sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class KeptBody:
    """Bytes that are stored beside the record. Every secret in them is masked before a `KeptBody` is made.

    `keyed`: the HMAC of the unmasked bytes, by which two bodies can be compared; empty where it was not computed.
    """

    masked: bytes
    keyed: str = ""

    def __post_init__(self) -> None:
        if self.keyed:
            _check(self.keyed)

    @property
    def size(self) -> int:
        return len(self.masked)


@dataclass(frozen=True, slots=True)
class DigestedBody:
    """A body that is not kept: its size, and an HMAC under a key that is not in the database.

    `too_large`: it is not kept because of its size; otherwise the settings say that no body is kept.
    """

    size: int
    digest: str
    too_large: bool = False

    def __post_init__(self) -> None:
        _check(self.digest)


def _check(digest: str) -> None:
    if not KEYED.fullmatch(digest):
        raise InvalidName("a keyed digest is hmac-sha256: and 64 lower-case hexadecimal digits")


Body = KeptBody | DigestedBody
