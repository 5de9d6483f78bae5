"""Tells whether two JSON values are identical, at the speed of the encoder, up to a limit of bytes.

`==` cannot tell: it treats `1`, `1.0` and `true` as equal. Encoded with sorted keys, only identical values are equal.
Values that exceed the limit or cannot be encoded (nested too deeply, integers beyond 64 bits) are not known to be
identical and must be compared part by part.
"""

from collections.abc import Sized
from typing import Final

import orjson

_A_CALL: Final = 600
"""Bytes that each call costs beside what it encodes."""
_A_FAILURE: Final = 2 * 1024 * 1024
"""Bytes that a failure costs, so that a large value that cannot be encoded is not tried again and again."""


class Sameness:
    """Compares values, until it has encoded `most` bytes."""

    def __init__(self, most: int) -> None:
        self._left = most

    def are_same(self, one: Sized, other: Sized) -> bool:
        """Tell whether two objects, or two lists, are known to be the same."""
        if len(one) != len(other):
            return False
        key = self.key(one)
        return key is not None and key == self.key(other)

    def key(self, value: object) -> bytes | None:
        """Return a key that is equal for the same values only; None if there is none to be had."""
        if self._left < 0:
            return None
        try:
            written = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except TypeError:
            self._left -= _A_FAILURE
            return None
        self._left -= len(written) + _A_CALL
        return written
