"""Pagination: some entries of a list at a time, with an opaque cursor for the next ones.

Rules kept here:
1. The entries are ordered by one key. A cursor names the last entry that was returned, so that entries that are added
   or removed in the meantime do not cause others to be skipped or returned twice.
2. A cursor only names a place in a list that the client may read anyway; a forged one just begins elsewhere in it.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Annotated, Final, TypeVar

from fastapi import HTTPException, Query

from mcpguard.codec.cursors import LONGEST_KEYED, BadCursor, decode_after, encode_after

MOST: Final = 1000
Limit = Annotated[int, Query(ge=1, le=MOST, description="The largest number of entries to return.")]
Cursor = Annotated[
    str | None, Query(max_length=LONGEST_KEYED, description="Where to continue: the `next` of the previous page.")
]
T = TypeVar("T")


def page(
    entries: Sequence[T], key: Callable[[T], str], limit: int, cursor: str | None
) -> tuple[Sequence[T], str | None]:
    """Return a page of entries, which are sorted by their key, and the cursor of the next page."""
    begin = 0 if cursor is None else bisect_right(entries, read(cursor, decode_after), key=key)
    found = entries[begin : begin + limit]
    return found, encode_after(key(found[-1])) if begin + limit < len(entries) else None


def read(cursor: str, decode: Callable[[str], T]) -> T:
    """Decode a cursor. Raises HTTPException for an invalid one."""
    try:
        return decode(cursor)
    except BadCursor as error:
        raise HTTPException(400, f"{error}; leave it out to start from the beginning") from None
