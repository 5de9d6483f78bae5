"""For spreadsheets: the fields that people look for, and the whole record as JSON in the last column. RFC 4180.

Rules kept here:
1. A spreadsheet must not compute what an agent or a server wrote: text that does not begin with a letter or a digit, or
   as names, paths and JSON do, gets an apostrophe before it. Nothing else has one there that was not written by us, so
   whoever takes the first apostrophe away has what was recorded.
2. Numbers of ours are numbers, all else is in quotation marks.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from operator import itemgetter
from string import ascii_letters, digits
from typing import Any, Final

import orjson

from mcpguard.ledger.export.line import Line

FIELDS: Final = (
    "at", "kind", "entry", "caller", "caller_label", "client", "server", "capability", "name", "effect", "verdict",
    "reason", "outcome", "executed", "took_us", "by", "via", "why",
)  # fmt: skip
"""The fields of a record that have a column of their own."""
COLUMNS: Final = ("seq", "time", *FIELDS, "pruned", "chain", "hash", "record")
HARMLESS: Final = frozenset(ascii_letters + digits + '{[(</._#:*$%&!?~"')
"""What text may begin with, besides letters and digits of any script: no spreadsheet computes it or leaves it out."""
_NOTHING: Final = dict.fromkeys(FIELDS)
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - a time without a zone is written without one
_values: Callable[[dict[str, Any]], tuple[Any, ...]] = itemgetter(*FIELDS)


class Csv:
    """Comma-separated values."""

    word = "csv"
    suffix = ".csv"
    media = "text/csv"

    def head(self) -> bytes:
        return (",".join(COLUMNS) + "\r\n").encode()

    def line(self, record: Line) -> bytes:
        said = record.said
        cells = map(cell, _values({**_NOTHING, **said}))
        whole = cell((record.raw or b"").decode(errors="replace"))
        pruned = '"true"' if record.raw is None else ""
        ours = f'{pruned},{cell(record.chain)},"{record.hash.hex()}"'
        return f"{record.seq},{_time(said.get('at'))},{','.join(cells)},{ours},{whole}\r\n".encode()


def cell(value: object) -> str:
    """A value as it stands between two commas."""
    if value is None or value == "":
        return ""
    if type(value) is int:
        return str(value)
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    if text[0] not in HARMLESS and not text[0].isalnum():
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if '"' in text else f'"{text}"'


def _time(at: object) -> str:
    """As everybody reads it, in UTC; nothing for what is no time."""
    if type(at) is not int:
        return ""
    try:
        return f'"{(_EPOCH + timedelta(microseconds=at)).isoformat(timespec="microseconds")}Z"'
    except OverflowError:
        return ""
