"""Cursors of lists: how many entries have been seen. Base64 of `{"offset": n}`, and nothing else is one."""

import base64
import binascii

from mcpguard.codec.strict import StrictError, parse

LONGEST = 64
MOST = 2**31


class BadCursor(ValueError):
    """This is not a cursor that we gave out."""


def encode(offset: int) -> str:
    return base64.b64encode(b'{"offset":%d}' % offset).decode()


def decode(cursor: str) -> int:
    """The offset; refuses what is negative, huge, or anything else than a number."""
    if len(cursor) > LONGEST:
        raise BadCursor("the cursor is too long")
    try:
        said = parse(base64.b64decode(cursor, validate=True), max_bytes=LONGEST)
    except (StrictError, binascii.Error, ValueError):
        raise BadCursor("the cursor cannot be read") from None
    match said:
        case {"offset": int(offset), **rest} if not rest and type(offset) is int and 0 <= offset < MOST:
            return offset
        case _:
            raise BadCursor("the cursor does not name an offset")
