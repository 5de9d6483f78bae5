"""Writes what a program hands out as JSON, within limits that hold before anything is written.

A part of the worker, which the guard does not import.
"""

import json
import math
from typing import Final

MOST_DEPTH: Final = 64
"""Levels of a value; the guard reads a few more, for the message around it."""
MOST_BITS: Final = 14_000
"""Of an integer: Python reads numbers of up to 4300 digits."""


class NotPlain(ValueError):
    """A value that JSON does not have. The message is a clause that begins with a verb."""

    code = "SERIALIZATION_ERROR"


class OversizedValue(NotPlain):
    """A value that would take more bytes than it may."""

    code = "LIMIT_EXCEEDED"


def plain_json(value: object, most: int) -> bytes:
    """Return the value as JSON of at most so many bytes. Raises NotPlain."""
    # Before it is written: a list that holds itself twice, thirty times over, is small here and a gigabyte in JSON.
    if _left(value, most, 0) < 0:
        raise OversizedValue(f"has more than {most} bytes")
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise NotPlain("has half a character (a lone surrogate)") from None
    if len(written) > most:
        raise OversizedValue(f"has more than {most} bytes")
    return written


def _left(value: object, left: int, depth: int) -> int:
    """Return how many of the bytes are left at most once the value is written; negative if it does not fit."""
    match value:
        case None | bool():
            return left - 4
        case str():
            return left - 2 - len(value)
        case int():
            if value.bit_length() > MOST_BITS:
                raise NotPlain("has a number of thousands of digits")
            return left - max(1, value.bit_length() // 4)
        case float():
            if not math.isfinite(value):
                raise NotPlain(f"has {value}, which JSON does not have")
            return left - 3
        case list() | tuple() | dict():
            return _left_of_members(value, left - 2, depth + 1)
        case _:
            raise NotPlain(f"has a value of type {_named(value)}, which JSON does not have")


def _left_of_members(value: list[object] | tuple[object, ...] | dict[object, object], left: int, depth: int) -> int:
    if depth > MOST_DEPTH:
        raise NotPlain(f"is nested deeper than {MOST_DEPTH} levels")
    for each in value:
        if isinstance(value, dict):
            if not isinstance(each, str):
                raise NotPlain(f"has a key of type {_named(each)}; keys are strings in JSON")
            left = _left(value[each], left - 3 - len(each), depth)
        else:
            left = _left(each, left, depth)
        if left < 0:
            return left
    return left


def _named(value: object) -> str:
    return str(getattr(value, "name", "")) or type(value).__name__
