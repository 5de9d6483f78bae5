"""Parses strict JSON: a document has one meaning, or it is refused.

An attacker can exploit two readers that understand one document differently (the last duplicate key wins in one, the
first in the other), so every ambiguity is refused: duplicate keys, NaN and Infinity, numbers that overflow into
infinity, lone surrogates, a byte order mark and anything but UTF-8. Size, nesting and, where a limit is given, the
number of values are checked before the parser runs, so a document can exhaust neither memory nor the stack.

orjson reads short documents: one that it would write in the same way, except for white space, has one meaning for
Python's parser too, which reads the others, at several times the cost.

A refusal never repeats a value of the document; it names a duplicate key, because the reader has to find it. This
module does not repair, and it has no lenient mode.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Final, NoReturn

import orjson

MOST_DEPTH: Final = 256
"""The parser recurses once a level; beyond this Python's own limit would come into play."""

_WHITE: Final = b" \t\r\n"
_SHORT: Final = 64 * 1024
"""Bytes of a document that may be written anew to read it."""
_STRING: Final = r'"(?:[^"\\]++|\\.)*+"'
_TOKEN: Final = re.compile(rf'{_STRING}|[{{}}\[\]:,]|[^\s{{}}\[\]:,"]++', re.DOTALL)
_NEXT_BRACKET: Final = re.compile(rf'(?:[^"\[\]{{}}]++|{_STRING})*+([\[\]{{}}"]|\Z)', re.DOTALL)
_NEXT_VALUE: Final = re.compile(rf'(?:[^",\[{{]++|{_STRING}|[\[{{]\s*+[\]}}])*+([",\[{{]|\Z)', re.DOTALL)
"""Finds what stands before a further value: a comma, or the opening bracket of something that is not empty."""
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_CONSTANTS: Final = frozenset({"NaN", "Infinity", "-Infinity"})


class StrictError(ValueError):
    """A document was refused. `line` and `column` count from 1 and are None where no single place is at fault."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class _Refused(Exception):
    """The parser met something that Python accepts as JSON and we do not."""


def parse(data: bytes | bytearray, *, max_bytes: int, max_depth: int = 64, max_values: int | None = None) -> object:
    """Return the value of a document. Raises StrictError. Without `max_values` it may have any number of values."""
    if max_depth > MOST_DEPTH:
        raise ValueError(f"max_depth is at most {MOST_DEPTH}")
    if len(data) > max_bytes:
        raise StrictError(f"larger than {max_bytes} bytes")
    # Before a parser runs: its memory and its stack are what an attacker would exhaust.
    opened = data.count(b"[") + data.count(b"{")
    may_have_many = max_values is not None and opened + data.count(b",") >= max_values
    if len(data) <= _SHORT and opened <= max_depth and not may_have_many:
        try:
            plain: object = orjson.loads(data)
            written = orjson.dumps(plain)
            # The same but for white space: no key was there twice, and no number or character was changed.
            if written == data or written.translate(None, _WHITE) == data.translate(None, _WHITE):
                return plain
        except (ValueError, TypeError):
            pass  # the parser below knows why
    return _parse_with_care(data, max_depth, max_values)


def _parse_with_care(data: bytes | bytearray, max_depth: int, max_values: int | None) -> object:
    """Return the value of any document, or say what is wrong with it and where."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise StrictError("starts with a byte order mark; save it as UTF-8 without one", 1, 1)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        readable = data[: error.start].decode()
        raise _at(readable, len(readable), "not UTF-8") from None
    opened = text.count("[") + text.count("{")
    if max_values is not None and opened + text.count(",") >= max_values:
        refuse_values(text, max_values)
    if opened > max_depth:
        _refuse_depth(text, max_depth)
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _at(text, error.pos, error.msg[0].lower() + error.msg[1:]) from None
    except (_Refused, ValueError):  # ValueError: Python refuses to convert integers of thousands of digits
        raise _offence(text) or StrictError("not strict JSON") from None
    if "\\u" in text and _SURROGATE_ESCAPE.search(text) and (offence := _offence(text)):
        raise offence
    return value


def refuse_values(text: str, most: int) -> None:
    """Refuse many small values, which take up to a hundred times the memory of the text, and as much time."""
    if text.count(",") + text.count("[") + text.count("{") < most:
        return
    values = 1
    for match in _NEXT_VALUE.finditer(text):
        if match[1] in ('"', ""):  # a string that never ends, where the parser stops too, or the end
            return
        values += 1
        if values > most:
            raise StrictError(f"more than {most} values")


def _refuse_depth(text: str, max_depth: int) -> None:
    depth = 0
    for bracket in _NEXT_BRACKET.finditer(text):
        match bracket[1]:
            case "[" | "{":
                depth += 1
                if depth > max_depth:
                    raise _at(text, bracket.start(1), f"nested deeper than {max_depth} levels")
            case "]" | "}":
                depth -= 1
            case _:  # the end, or a string that never ends: the parser stops there too
                return


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Refused
    return members


def _constant(_name: str) -> NoReturn:
    raise _Refused


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Refused
    return number


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite)


def _offence(text: str) -> StrictError | None:
    """Find the first thing in well-formed JSON that strict JSON refuses. Slow; runs only when there may be one."""
    for token, in_keys, start in _tokens(text):
        if token.startswith('"'):
            text_value = json.loads(token)
            if not _encodable(text_value):
                return _at(text, start, "a lone surrogate stands for no character")
            if in_keys is not None and text_value in in_keys:
                return _at(text, start, f"duplicate key {_quoted(text_value)}")
            if in_keys is not None:
                in_keys.add(text_value)
        elif token in _CONSTANTS:
            return _at(text, start, f"{token} is not JSON")
        elif token[0] in "-0123456789" and not _representable(token):
            return _at(text, start, "a number too large to read")
    return None


def _tokens(text: str) -> Iterator[tuple[str, set[str] | None, int]]:
    """Yield each scalar with its place and, where it is a member's key, the keys of that object so far."""
    open_: list[set[str] | None] = []
    key_next = False
    for match in _TOKEN.finditer(text):
        match match[0]:
            case "{":
                open_.append(set())
                key_next = True
            case "[":
                open_.append(None)
                key_next = False
            case "}" | "]":
                open_.pop()
                key_next = False
            case ",":
                key_next = open_[-1] is not None
            case ":":
                key_next = False
            case token:
                yield token, open_[-1] if key_next and open_ else None, match.start()


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _representable(number: str) -> bool:
    if re.search("[.eE]", number):
        return not math.isinf(float(number))
    try:
        int(number)
    except ValueError:
        return False
    return True


def _quoted(key: str) -> str:
    return json.dumps(key if len(key) <= 60 else key[:60] + "…", ensure_ascii=not key.isprintable())


def _at(text: str, position: int, message: str) -> StrictError:
    line = text.count("\n", 0, position) + 1
    return StrictError(message, line, position - text.rfind("\n", 0, position))
