"""Cursors of lists, in base64: how many entries have been seen, `{"offset": n}`, or which was seen last,
`{"after": key}` where entries come and go. Nothing else is one.
"""

import base64
import binascii
import json

from mcpguard.codec.strict import StrictError, parse

LONGEST = 64
LONGEST_KEYED = 512
MOST = 2**31


class BadCursor(ValueError):
    """This is not a cursor that we gave out."""


def encode(offset: int) -> str:
    return base64.b64encode(b'{"offset":%d}' % offset).decode()


def decode(cursor: str) -> int:
    """The offset; refuses what is negative, huge, or anything else than a number."""
    match _said(cursor, LONGEST):
        case {"offset": int(offset), **rest} if not rest and type(offset) is int and 0 <= offset < MOST:
            return offset
        case _:
            raise BadCursor("the cursor does not name an offset")


def encode_after(key: str) -> str:
    said = json.dumps({"after": key}, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(said.encode()).decode()


def decode_after(cursor: str) -> str:
    """The key, of which nothing is known but that it is a short text."""
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
