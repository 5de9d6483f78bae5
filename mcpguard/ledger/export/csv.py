"""The form `csv` (RFC 4180), for spreadsheets: the usual fields, and the whole record as JSON in the last column.

Rules kept here:
1. A spreadsheet must not evaluate text from an agent or a server as a formula (formula injection), wherever that text
   may begin a cell: at commas or, where a comma is the decimal sign, at semicolons, tabs or line ends in a text. So a
   sign that begins a formula only follows a letter or a digit.
2. Text that has such a sign elsewhere, or that begins with a character that a spreadsheet would drop, is written as a
   JSON string with the signs escaped. No other cell begins with a quotation mark, so parsing such a cell as JSON gives
   the recorded text.
3. The guard's own numbers are written as numbers; everything else is quoted.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from operator import itemgetter
from string import ascii_letters, digits
from typing import Any, Final

import orjson

from mcpguard.ledger.export.line import ExportLine

FIELDS: Final = (
    "at", "kind", "entry", "caller", "caller_label", "client", "server", "capability", "name", "effect", "verdict",
    "reason", "outcome", "executed", "took_us", "by", "via", "why",
)  # fmt: skip
"""The fields of a record that have a column of their own."""
LATER: Final = ("parent", "address", "certificate")
"""Fields that got a column after the first version, and so after all others."""
COLUMNS: Final = ("seq", "time", *FIELDS, "pruned", "chain", "hash", "record", *LATER)
HARMLESS: Final = frozenset(ascii_letters + digits + "{[(</._#:*$%&!?~")
"""What text may begin with, besides letters and digits: no spreadsheet computes or drops it."""
SIGNS: Final = "=+@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212-"
"""The signs that begin a formula: `=`, `+`, `@` and `-`, also in full width and small."""
LONGEST: Final = 32_767
"""Characters that a cell of Excel holds. Excel begins another cell with the rest, at whatever character is there."""
_BEGINNING: Final = re.compile(rf"[{SIGNS}](?<![^\W_].)", re.DOTALL)  # four times as fast as with the lookbehind first
_ANYWHERE: Final = re.compile(rf"[{SIGNS}]")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_NOTHING: Final = dict.fromkeys(FIELDS)
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - a time without a zone is written without one
_values: Callable[[dict[str, Any]], tuple[Any, ...]] = itemgetter(*FIELDS)


class Csv:
    """The form for spreadsheets: comma-separated values."""

    word = "csv"
    suffix = ".csv"
    media = "text/csv"

    def head(self) -> bytes:
        return (",".join(COLUMNS) + "\r\n").encode()

    def line(self, record: ExportLine) -> bytes:
        said = record.said
        cells = map(cell, _values({**_NOTHING, **said}))
        raw = (record.raw or b"").decode(errors="replace")
        whole = _quoted(_escaped(raw)) if said else cell(raw)
        pruned = '"true"' if record.raw is None else ""
        later = ",".join(cell(said.get(name)) for name in LATER)
        ours = f'{pruned},{cell(record.chain)},"{record.hash.hex()}",{whole},{later}'
        return f"{record.seq},{_time(said.get('at'))},{','.join(cells)},{ours}\r\n".encode()


def cell(value: object) -> str:
    """A value as it is written between two commas."""
    if value is None or value == "":
        return ""
    if type(value) is int:
        return str(value)
    if not isinstance(value, str):
        return _quoted(_escaped(orjson.dumps(value).decode()))
    # Both must hold: a cell that begins well may still be cut apart at a semicolon.
    begins_well = value[0] in HARMLESS or value[0].isalnum()
    return _quoted(value if begins_well and not _signs(value).search(value) else _escaped(_string(value)))


def _string(text: str) -> str:
    return orjson.dumps(text).decode()


def _escaped(content: str) -> str:
    """The same JSON, with the signs escaped that could begin a formula."""
    signs = _signs(content)
    if not signs.search(content):
        return content
    return _STRING.sub(lambda found: signs.sub(lambda sign: f"\\u{ord(sign[0]):04x}", found[0]), content)


def _signs(text: str) -> re.Pattern[str]:
    return _BEGINNING if len(text) < LONGEST else _ANYWHERE


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if '"' in text else f'"{text}"'


def _time(at: object) -> str:
    """The time in UTC, as ISO 8601; empty for what is not a time."""
    if type(at) is not int:
        return ""
    try:
        return f'"{(_EPOCH + timedelta(microseconds=at)).isoformat(timespec="microseconds")}Z"'
    except OverflowError:
        return ""
