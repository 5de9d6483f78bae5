"""Writes any JSON value as exact canonical JSON: different values never have the same bytes.

Rules kept here:
1. The form is RFC 8785, except for numbers. RFC 8785 treats every number as a double, so it writes 1.0 as 1 and cannot
   hold 2^53 + 1. Many readers do not: Python, Java and Go tell 1.0 from 1, and 2^53 from 2^53 + 1. Values that only
   some readers can tell apart are kept apart here; otherwise an attacker could give one of them a definition that was
   never approved.
2. So an integer is written with all its digits, whatever its size, and a float as RFC 8785 writes it, followed by `.0`
   where it would look like an integer: 1.0, -0.0, 100000000000000000000.0. The result is JSON that reads back as
   exactly the value that was written.
3. A value that has no such form is refused (`Unreadable`): NaN and infinities, lone surrogates, keys that are not
   strings, nesting beyond MOST_DEPTH, anything that is not a JSON value. Nothing here recurses.
4. Values come from `codec/strict.py`. The spelling of a number in the document (1.10, 1e1) is lost by then, for every
   reader behind the guard too: they get the same value, written anew.

orjson writes the values for which it produces this very form, at a tenth of the cost; a property test keeps both ways
consistent.
"""

import json
import math
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import orjson

from mcpguard.domain.errors import Unreadable

MOST_DEPTH: Final = 128
"""Levels of nesting: more than a message from a server may have, less than orjson can write."""

_JSON: Final = frozenset({dict, list, str, int, float, bool, type(None)})
_LARGEST: Final = 2**63 - 1
_CONSTANTS: Final = {None: b"null", True: b"true", False: b"false"}


def exact_json(value: object) -> bytes:
    """Return the one way to write a value. Raises Unreadable."""
    ordinary = _surveyed(value)
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS) if ordinary else _written(value)
    except (UnicodeEncodeError, orjson.JSONEncodeError):
        raise Unreadable("a lone surrogate stands for no character") from None
    except ValueError:  # Python refuses to write integers of thousands of digits
        raise Unreadable("a number too large to write") from None


def read_back(written: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return the value that `exact_json` wrote. Not every parser does: to orjson 2^64 is a float, 10^400 an error."""
    return json.loads(written.decode())


def _surveyed(value: object) -> bool:
    """Tell whether orjson writes the value as we do, level by level, which runs in C. Raises Unreadable."""
    ordinary, level = True, [value]
    for _ in range(MOST_DEPTH + 1):
        kinds = set(map(type, level))
        if not kinds <= _JSON:
            raise Unreadable("contains a value that JSON does not have")
        if float in kinds:
            ordinary = _floats_are_short([each for each in level if type(each) is float]) and ordinary
        if int in kinds:
            ordinary = ordinary and all(-_LARGEST <= each <= _LARGEST for each in level if type(each) is int)
        objects = [each for each in level if type(each) is dict] if dict in kinds else []
        ordinary = _keys_are_ascii(objects) and ordinary
        lists = [each for each in level if type(each) is list] if list in kinds else []
        level = list(chain(*map(dict.values, objects), *lists))
        if not objects and not lists:
            return ordinary
    raise Unreadable(f"nested deeper than {MOST_DEPTH} levels")


def _floats_are_short(floats: Sequence[float]) -> bool:
    """Tell whether no float gets an exponent, which orjson writes in another way."""
    if not all(map(math.isfinite, floats)):
        raise Unreadable("NaN and infinity are not JSON")
    return all(1e-4 <= abs(each) < 1e15 or each == 0 for each in floats)


def _keys_are_ascii(objects: Sequence[dict[object, object]]) -> bool:
    """Tell whether all keys are ASCII; beyond it, orjson does not always sort by UTF-16 as RFC 8785 asks."""
    plain = True
    for each in objects:
        for key in each:
            if type(key) is not str:
                raise Unreadable("a key is not a string")
            plain = plain and key.isascii()
    return plain


def _written(value: object) -> bytes:
    """Write any surveyed value. Bytes on the stack are ours: punctuation and keys."""
    pieces: list[bytes] = []
    left: list[Any] = [value]
    while left:
        each = left.pop()
        kind = type(each)
        if kind is bytes:
            pieces.append(each)
        elif kind is dict:
            pieces.append(b"{")
            left.append(b"}")
            for at, key in enumerate(sorted(each, key=_utf_16, reverse=True), 1 - len(each)):
                left += (each[key], (b"," if at else b"") + orjson.dumps(key) + b":")
        elif kind is list:
            pieces.append(b"[")
            left.append(b"]")
            for at, item in enumerate(reversed(each), 1 - len(each)):
                left += (item, b",") if at else (item,)
        else:
            pieces.append(_scalar(each))
    return b"".join(pieces)


def _utf_16(key: str) -> bytes:
    return key.encode("utf-16-be")


def _scalar(value: str | float | None) -> bytes:
    if value is None or isinstance(value, bool):
        return _CONSTANTS[value]
    if isinstance(value, str):
        return orjson.dumps(value)
    return b"%d" % value if isinstance(value, int) else _float(value).encode()


def _float(value: float) -> str:
    """Write a number like ECMAScript, and never like an integer. Python finds the same shortest digits."""
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return text
    whole, _, part = mantissa.removeprefix("-").partition(".")
    digits, sign = whole + part, "-" if value < 0 else ""
    before = len(whole) + int(exponent)  # how many digits stand before the point
    if len(digits) <= before <= 21:
        return f"{sign}{digits.ljust(before, '0')}.0"
    if -6 < before <= 0:
        return f"{sign}0.{'0' * -before}{digits}"
    behind = f".{part}" if part else ""
    return f"{sign}{whole}{behind}e{before - 1:+d}"
