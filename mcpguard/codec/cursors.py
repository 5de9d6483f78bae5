"""Encodes and decodes list cursors in base64.

A cursor is the number of preceding entries, `{"offset": n}`, or the last entry where entries come and go, `{"after":
key}`. Anything else is refused.
"""

import base64
import binascii
import json

from mcpguard.codec.strict import StrictError, parse

LONGEST = 64
LONGEST_KEYED = 512
MOST = 2**31


class BadCursor(ValueError):
    """The text is no cursor that we issued."""


def encode(offset: int) -> str:
    """Return the cursor of an offset."""
    return base64.b64encode(b'{"offset":%d}' % offset).decode()


def decode(cursor: str) -> int:
    """Return the offset in a cursor. Raises BadCursor for one that is negative, huge, or no number."""
    match _said(cursor, LONGEST):
        case {"offset": int(offset), **rest} if not rest and type(offset) is int and 0 <= offset < MOST:
            return offset
        case _:
            raise BadCursor("the cursor does not name an offset")


def encode_after(key: str) -> str:
    """Return the cursor of the entry that was seen last."""
    text = json.dumps({"after": key}, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(text.encode()).decode()


def decode_after(cursor: str) -> str:
    """Return the key in a cursor: a short text, of which nothing else is known. Raises BadCursor."""
    match _said(cursor, LONGEST_KEYED):
        case {"after": str(key), **rest} if not rest and key:
            return key
        case _:
            raise BadCursor("the cursor does not name an entry")


def _said(cursor: str, longest: int) -> object:
    if len(cursor) > longest:
        raise BadCursor("the cursor is too long")
    try:
        return parse(base64.b64decode(cursor, validate=True), max_bytes=longest)
    except (StrictError, binascii.Error, ValueError):
        raise BadCursor("the cursor cannot be read") from None
