"""Converts JSON with comments and trailing commas, as editors write it, to plain JSON with unchanged offsets."""

import re
from typing import Final

_PIECE: Final = re.compile(
    r'(?P<text>"(?:[^"\\\n]++|\\.)*+"?)|(?P<line>//[^\n]*+)|(?P<block>/\*(?s:.*?)\*/)', re.DOTALL
)
_STRING_OR_COMMA: Final = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|,(?=\s*+[\]}])', re.DOTALL)
_SEEN: Final = re.compile(r"[^\r\n]")
BOM: Final = b"\xef\xbb\xbf"


def plain(data: bytes) -> bytes:
    """Return the data with blanks in place of comments and trailing commas. It need not be valid JSON."""
    text = data.removeprefix(BOM).decode(errors="surrogateescape")
    return without_commas(without_comments(text)).encode(errors="surrogateescape")


def without_comments(text: str) -> str:
    return _PIECE.sub(lambda found: found[0] if found["text"] is not None else _SEEN.sub(" ", found[0]), text)


def without_commas(text: str) -> str:
    """Return the text without trailing commas."""
    return _STRING_OR_COMMA.sub(lambda found: " " if found[0] == "," else found[0], text)
