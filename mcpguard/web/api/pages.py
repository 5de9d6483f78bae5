"""Lists in pages: some entries at a time, by a cursor that means nothing to whoever gets it.

Rules kept here:
1. The order is that of one key, and does not change by itself. A cursor names the last entry that was given, so that
   whatever comes or goes meanwhile, no other entry is left out or given twice.
2. A cursor gives nothing but a place in a list that its sender may read anyway; a forged one begins elsewhere in it.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Annotated, Final, TypeVar

from fastapi import HTTPException, Query

from mcpguard.codec.cursors import LONGEST_KEYED, BadCursor, decode_after, encode_after

MOST: Final = 1000
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
Cursor = Annotated[
    str | None, Query(max_length=LONGEST_KEYED, description="Where to go on: `next` of the page before.")
]
T = TypeVar("T")


def page(
    entries: Sequence[T], key: Callable[[T], str], limit: int, cursor: str | None
) -> tuple[Sequence[T], str | None]:
    """Some of the entries, which are sorted by their key, and the cursor with which the others are asked for."""
    begin = 0 if cursor is None else bisect_right(entries, read(cursor, decode_after), key=key)
    found = entries[begin : begin + limit]
    return found, encode_after(key(found[-1])) if begin + limit < len(entries) else None


def read(cursor: str, decode: Callable[[str], T]) -> T:
    """Raises HTTPException for what is no cursor."""
    try:
        return decode(cursor)
    except BadCursor as error:
        raise HTTPException(400, f"{error}; ask without one for the beginning") from None
