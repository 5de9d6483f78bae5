"""Whether two JSON values are the same: exactly, at the speed of the encoder, up to a number of bytes.

`==` does not tell: to it `1`, `1.0` and `true` are equal. Written out with sorted keys, only the same is the same.
What cannot be paid for any more, or cannot be written (nested too deeply, integers beyond 64 bits), is not known to
be the same; it has to be looked at part by part.
"""

from collections.abc import Sized
from typing import Final

import orjson

_A_CALL: Final = 600
"""What a call costs, in bytes."""
_A_FAILURE: Final = 2 * 1024 * 1024
"""So that a large value with something in it that cannot be written is not tried again and again."""


class Sameness:
    """Compares and keys values until it has written `most` bytes."""

    def __init__(self, most: int) -> None:
        self._left = most

    def known(self, one: Sized, other: Sized) -> bool:
        """Whether two objects, or two lists, are known to be the same."""
        if len(one) != len(other):
            return False
        key = self.key(one)
        return key is not None and key == self.key(other)

    def key(self, value: object) -> bytes | None:
        """Equal for the same values, and for no others; None if it is not to be had."""
        if self._left < 0:
            return None
        try:
            written = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except TypeError:
            self._left -= _A_FAILURE
            return None
        self._left -= len(written) + _A_CALL
        return written
