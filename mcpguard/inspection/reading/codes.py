"""Text encodings: how a run of each is found and decoded.

Patterns are possessive and match regardless of what follows, so each takes linear time. A run that does not decode to
readable text (a digest, an image, an id) is ignored.
"""

import base64
import binascii
import codecs
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from mcpguard.text.linear import compile_pattern

_READABLE: Final = 0.9
_LEAST: Final = 6
_LONGEST_TURNED: Final = 4_000
_BETWEEN: Final = frozenset("/.,:;-_'\"!?|&$~()<>{}=*@#%+\\[]")


def _from_base64(run: str) -> str | None:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    if len(body) % 4 == 1:
        body = body[:-1]
    try:
        return _text(base64.b64decode(body + "=" * (-len(body) % 4)))
    except binascii.Error:
        return None


def _from_turned_base64(run: str) -> str | None:
    """Decode base64 that is reversed or in rot13."""
    if len(run) > _LONGEST_TURNED:
        return None
    bare = run.strip("=")
    return _from_base64(bare[::-1]) or _from_base64(codecs.encode(bare, "rot13"))


def _from_base32(run: str) -> str | None:
    body = run.rstrip("=").upper()
    try:
        return _text(base64.b32decode(body + "=" * (-len(body) % 8)))
    except binascii.Error:
        return None


def _from_ascii85(run: str) -> str | None:
    try:
        return _text(base64.a85decode(run.removeprefix("<~").removesuffix("~>")))
    except ValueError:
        return _from_base85(run)


def _from_base85(run: str) -> str | None:
    try:
        return _text(base64.b85decode(run))
    except ValueError:
        return None


def _from_hex(run: str) -> str | None:
    return _text(bytes.fromhex(run))


def _from_hexes(run: str) -> str | None:
    return _numbers(run.replace("0x", "").replace(":", " ").replace("-", " "), 16)


def _from_decimals(run: str) -> str | None:
    return _numbers(run, 10)


def _numbers(run: str, base: int) -> str | None:
    codes = [int(each, base) for each in run.replace(",", " ").split()]
    return _text(bytes(codes)) if all(code < 256 for code in codes) else None


def _from_binary(run: str) -> str | None:
    bits = run.replace(" ", "").replace(",", "")
    return _text(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)))


_ESCAPE: Final = re.compile(
    r"(?:\\x|=)([0-9a-fA-F]{2})|(?:\\u|%u|[uU]\+)(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4,6}))|\\([0-7]{3})"
)


def _from_escapes(run: str) -> str | None:
    codes = [
        int(each[1] or each[2] or each[3], 16) if not each[4] else int(each[4], 8) for each in _ESCAPE.finditer(run)
    ]
    if max(codes, default=0) > sys.maxunicode:
        return None
    plain = "".join(map(chr, codes))
    return plain if _readable(plain) else None


def _from_spaced(run: str) -> str:
    """Join letters that are set apart by one character; more than one of them parts two words."""
    marks = {char for char in run if not char.isalnum() and char != " "}
    apart = r"[ .·_*-]{2,3}| +" if marks and " " in run else r"[ .·_*-]{2,3}"
    words = re.split(apart, run)
    return " ".join("".join(char for char in word if char.isalnum()) for word in words)


_MORSE_LETTERS: Final = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)
_MORSE: Final = dict(zip(_MORSE_LETTERS.split(), "abcdefghijklmnopqrstuvwxyz", strict=True)) | {"/": " ", "|": " "}


def _from_morse(run: str) -> str | None:
    dots = run.replace("·", ".").replace("•", ".").replace("−", "-").replace("–", "-").replace("   ", " / ").split()
    known = [_MORSE[each] for each in dots if each in _MORSE]
    plain = "".join(known)
    return plain if len(known) >= _READABLE * len(dots) and _readable(plain) else None


def _from_joined(run: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", run)


def _from_tags(run: str) -> str:
    return "".join(chr(ord(char) - 0xE0000) for char in run)


def _from_selectors(run: str) -> str | None:
    codes = (ord(char) - 0xFE00 if ord(char) < 0xFE10 else ord(char) - 0xE0100 + 16 for char in run)
    return _text(bytes(codes))


def _text(data: bytes) -> str | None:
    for encoding in ("utf-8", "utf-16-le"):
        try:
            plain = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _readable(plain) and (encoding == "utf-8" or plain.isascii()):
            return plain
    return None


def _readable(plain: str) -> bool:
    """Tell whether a text is letters, digits, blanks and punctuation, and not one long word."""
    if len(plain) < _LEAST:
        return False
    usual = sum(char.isalnum() or char.isspace() or char in _BETWEEN for char in plain)
    return usual >= _READABLE * len(plain) and (not plain.isascii() or any(char in " /:.-=" for char in plain))


_LONG: Final = 16
"""Characters of a long word. Runs without a blank are searched for in long words, of which a text has few."""


class Code(NamedTuple):
    """An encoding: its name, the pattern of its runs, and its decoder, which returns None for what is no text.

    A text has no run unless it is `size` characters long, has `unbroken` of them without a blank, and one of `marks`.
    It has none either without the `trace`, a pattern; those of all encodings are searched for at once.
    """

    name: str
    run: re.Pattern[str]
    decode: Callable[[str], str | None]
    size: int
    unbroken: int = 1
    marks: frozenset[str] = frozenset()
    beyond_ascii: bool = False
    trace: str = ""


_DIGITS: Final = frozenset("0123456789")
"""Every letter and blank of ASCII has one in its hexadecimal form."""
CODES: Final = (
    Code("base64", re.compile(r"[A-Za-z0-9+/_-]{16,}+={0,2}"), _from_base64, 16, 16),
    Code("turned base64", re.compile(r"={0,2}[A-Za-z0-9+/]{24,}+={0,2}"), _from_turned_base64, 24, 24),
    Code("base32", re.compile(r"\b(?:[A-Z2-7]{24,}+|[a-z2-7]{40,}+)={0,6}"), _from_base32, 24, 24),
    Code("ascii85", re.compile(r"[!-~]{25,}+"), _from_ascii85, 25, 25),
    Code(
        "morse",
        re.compile(r"(?<![\w.·•\-−–])[.·•\-−–]{1,6}(?: {1,3}[.·•\-−–/|]{1,6}){7,}+"),
        _from_morse,
        15,
        trace=r"[.·•\-−–](?: {1,3}[.·•\-−–/|]{1,6}){7}",
    ),
    Code("hex", re.compile(r"(?:[0-9a-fA-F]{2}){8,}+"), _from_hex, 16, 16, _DIGITS),
    Code(
        "hex",
        re.compile(r"\b(?:0x)?[0-9a-fA-F]{2}(?:[ :,-]{1,2}(?:0x)?[0-9a-fA-F]{2}\b){7,}+"),
        _from_hexes,
        23,
        marks=_DIGITS,
        trace=r"[0-9a-fA-F]{2}(?:[ :,-]{1,2}(?:0x)?[0-9a-fA-F]{2}){7}",
    ),
    Code(
        "escapes",
        re.compile(
            r"(?:(?:\\x[0-9a-fA-F]{2}|=[0-9A-F]{2}|(?:\\u|%u|[uU]\+)(?:\{[0-9a-fA-F]{1,6}\}|[0-9a-fA-F]{4,6})"
            r"|\\[0-7]{3})[ ,]?){4,}+"
        ),
        _from_escapes,
        12,
        marks=frozenset("\\=%+"),
        trace=r"(?:\\x[0-9a-fA-F]{2}|=[0-9A-F]{2}|\\u|%u|[uU]\+|\\[0-7]{3})",
    ),
    Code(
        "decimal",
        re.compile(r"\b[0-9]{2,3}(?:[ ,]{1,2}[0-9]{2,3}\b){7,}+"),
        _from_decimals,
        23,
        marks=_DIGITS,
        trace=r"[0-9](?:[ ,]{1,2}[0-9]{2,3}){7}",
    ),
    Code(
        "binary",
        re.compile(r"(?:[01]{8}[ ,]?){6,}+"),
        _from_binary,
        48,
        8,
        marks=frozenset("01"),
        trace=r"(?:[01]{8}[ ,]?){6}",
    ),
    Code(
        "spaced letters",
        re.compile(r"\b[^\W_](?:[ .·_*-]{1,3}[^\W_]\b){7,}+"),
        _from_spaced,
        15,
        trace=r"[^ .·_*-](?:[ .·_*-]{1,3}[^ .·_*-]){7}",
    ),
    Code(
        "joined words",
        re.compile(r"\b(?:[A-Z][a-z]{1,15}){4,12}\b"),
        _from_joined,
        8,
        8,
        trace="(?:[A-Z][a-z]{1,15}){4}",
    ),
    Code("tag characters", re.compile("[\U000e0020-\U000e007e]{2,}+"), _from_tags, 2, beyond_ascii=True),
    Code(
        "variation selectors",
        re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}+"),
        _from_selectors,
        4,
        beyond_ascii=True,
    ),
)


_WITHOUT_TRACE: Final = tuple(each for each in CODES if not each.trace)
_TRACES: Final = compile_pattern("|".join(each.trace for each in CODES if each.trace))


def runs_in(text: str) -> Iterator[tuple[Code, re.Match[str], int]]:
    """Yield every run of each encoding, and where in the text the characters begin that it was searched in."""
    unbroken = max(map(len, text.split()), default=0)
    words = _long_words(text) if unbroken >= _LONG else []
    for code in _possible_codes(text, unbroken):
        for word, start in words if code.unbroken >= _LONG else [(text, 0)]:
            yield from ((code, run, start) for run in code.run.finditer(word))


def _long_words(text: str) -> list[tuple[str, int]]:
    """Return the long words of a text, and where each begins."""
    found, at = list[tuple[str, int]](), 0
    for word in text.split():
        if len(word) >= _LONG:
            at = text.index(word, at)
            found.append((word, at))
            at += len(word)
    return found


def _possible_codes(text: str, unbroken: int) -> Sequence[Code]:
    """Return the encodings of which the text may have a run; `unbroken`: the length of its longest word."""
    size, ascii_only = len(text), text.isascii()
    traced = _TRACES.search(text.encode(errors="replace")) is not None
    if ascii_only and not traced and unbroken < _LONG:
        return ()
    return [
        each
        for each in (CODES if traced else _WITHOUT_TRACE)
        if size >= each.size
        and unbroken >= each.unbroken
        and not (each.beyond_ascii and ascii_only)
        and not (each.marks and each.marks.isdisjoint(text))
    ]
