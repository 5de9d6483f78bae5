"""A record as an export sees it, and what a form has to know."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class ExportLine(NamedTuple):
    """One record of a chain. A tuple, because there are millions.

    `raw`: its content as it was hashed; None where it was pruned. `said`: the same, read; empty where it was pruned or
    is none of ours. `previous`: the hash of the record before it; None where that is not there.
    """

    chain: str
    seq: int
    hash: bytes
    raw: bytes | None
    said: Mapping[str, Any]
    previous: bytes | None = None


class ExportForm(Protocol):
    """How records are written for somebody. What it gives is written one after the other; it remembers nothing."""

    word: str
    """What it is called at the command line and over the API."""
    suffix: str
    """Of its files, with the dot."""
    media: str
    """Its MIME type."""

    def head(self) -> bytes:
        """What comes before the first record."""
        ...

    def line(self, record: ExportLine) -> bytes:
        """A record, with the end of its line; nothing where the form has nothing to say of it."""
        ...
