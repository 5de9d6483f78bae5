"""Writes flat records as canonical JSON (RFC 8785).

Rules kept here:
1. Keys are ASCII; values are strings, integers within ±(2^53 - 1), booleans or null. Sorted compact JSON then *is* RFC
   8785 (a property test compares the two), at a small part of its cost.
2. A value that has no canonical form is refused (`Unrecordable`): a float, a nested value, a lone surrogate.
"""

from collections.abc import Mapping

import orjson

from mcpguard.domain.errors import Unrecordable

Scalar = str | int | bool | None

LARGEST = 2**53 - 1
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER


def canonical_json(record: Mapping[str, Scalar]) -> bytes:
    """Return the one way to write a record. Raises Unrecordable."""
    for key, value in record.items():
        if not key.isascii():
            raise Unrecordable(f"the key {key!r} is not ASCII")
        if value is not None and type(value) not in (str, int, bool):
            raise Unrecordable(f"{key} is a {type(value).__name__}, not a string, integer, boolean or null")
    return encode(record)


def encode(record: Mapping[str, Scalar]) -> bytes:
    """Write a record like `canonical_json`, for values that were checked before."""
    try:
        return orjson.dumps(record, option=_OPTIONS)
    except TypeError as error:
        raise Unrecordable(f"a value has no canonical form: {error}") from error
