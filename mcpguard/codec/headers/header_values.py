"""The form of values that are repeated in HTTP headers from revision 2026-07-28 on, so that proxies can route by them.

A value that would not survive in a header is sent as base64 in `=?base64?…?=`. What is not in the form that this module
writes is no value at all, so that nobody reads another one from it.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

NAMED_BY: Final[Mapping[str, str]] = MappingProxyType(
    {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
)
"""The parameter of each method that is repeated in the header `Mcp-Name`."""
_PLAIN: Final = re.compile(r"[\x20-\x7e]*")
_BASE64: Final = re.compile(r"=\?base64\?(.*)\?=")


def encode_header(value: str) -> str:
    """Return a value in the form in which it is sent in a header."""
    if _PLAIN.fullmatch(value) and value == value.strip() and not _BASE64.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def decode_header(value: str | None) -> str | None:
    """Return the value that a header has; None where there is no header, or none that `encode_header` would write."""
    found = _BASE64.fullmatch(value) if value is not None else None
    if found is None:
        return value
    try:
        data = base64.b64decode(found[1], validate=True)
        return data.decode() if base64.b64encode(data).decode() == found[1] else None
    except (binascii.Error, ValueError):
        return None
