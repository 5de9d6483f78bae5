"""What is kept of a call's arguments or reply: the masked bytes themselves, or only their size and a keyed digest."""

import re
from dataclasses import dataclass

from mcpguard.domain.errors import InvalidName

KEYED = re.compile(r"hmac-sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class KeptBody:
    """Bytes to be stored beside the record. Whoever makes one has masked every secret in it.

    `keyed`: the HMAC of what it was before that, by which it can be told from others; empty where nobody has it.
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

    `too_large`: that is why; otherwise none of its kind is kept.
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
