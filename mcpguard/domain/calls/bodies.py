"""The stored form of a call's arguments or reply: the masked bytes, or only their size and a keyed digest."""

import re
from dataclasses import dataclass, field

from mcpguard.domain.errors import InvalidName

KEYED = re.compile(r"hmac-sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class KeptBody:
    """Bytes that are stored beside the record. Every secret in them is masked before a `KeptBody` is made.

    `keyed`: the HMAC of the unmasked bytes, by which two bodies can be compared; empty where it was not computed.
    `clear`: nothing was masked, because a search of the bytes showed at once that no secret can be in them.
    """

    masked: bytes
    keyed: str = ""
    clear: bool = field(default=False, compare=False)

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
        if not KEYED.fullmatch(self.digest):
            raise InvalidName("a keyed digest is hmac-sha256: and 64 lower-case hexadecimal digits")


Body = KeptBody | DigestedBody
