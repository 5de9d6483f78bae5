"""The record that is passed to export forms, and the interface of an export form."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class ExportLine(NamedTuple):
    """One record of a chain. A tuple, because there are millions.

    `raw`: its content as it was hashed; None if it was pruned. `said`: the content parsed; empty if it was pruned or is
    not a JSON object. `previous`: the hash of the previous record; None if that is missing.
    """

    chain: str
    seq: int
    hash: bytes
    raw: bytes | None
    said: Mapping[str, Any]
    previous: bytes | None = None


class ExportForm(Protocol):
    """Writes records in one format. It has no state; its results are written one after the other."""

    word: str
    """Its name on the command line and in the API."""
    suffix: str
    """The suffix of its files, with the dot."""
    media: str
    """Its MIME type."""

    def head(self) -> bytes:
        """The bytes before the first record."""
        ...

    def line(self, record: ExportLine) -> bytes:
        """The bytes of a record, with the end of its line; empty if this form leaves the record out."""
        ...
