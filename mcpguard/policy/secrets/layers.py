"""The texts in which a secret may be: what arguments say, and what is encoded in that.

Rules kept here:
1. Strings are read as they are meant, not as JSON writes them, each with the name that stands before it.
2. Base64 and percent-encoding are decoded, one inside the other too, up to `MOST_LAYERS`. Each layer is no larger than
   the one before, so that all of it takes time in proportion to the arguments.
"""

import binascii
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes

from mcpguard.text.linear import compiled

MOST_LAYERS: Final = 3
_RUN: Final = compiled("[A-Za-z0-9+/_-]{24,}")
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_ESCAPES: Final = ((b"\\n", b"\n"), (b"\\r", b"\n"), (b"\\t", b"\n"), (b'\\"', b'"'))


def layers(value: object) -> Iterator[bytes]:
    """The text of a value, and what is encoded in it."""
    text = written(value)
    yield text
    for _ in range(MOST_LAYERS):
        inner = b"\n".join(_decoded(text))[: len(text)]
        if not inner:
            return
        yield inner
        text = inner


def written(value: object) -> bytes:
    """All names and texts in a value."""
    parts: list[str] = []
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        name, each = waiting.pop()
        if isinstance(each, str):
            parts.append(f'{name}="{each}"')
        elif isinstance(each, dict):
            waiting.extend(each.items())
        elif isinstance(each, list):
            waiting.extend((name, one) for one in each)
        else:
            parts.append(name)
    return "\n".join(parts).encode(errors="replace")


def _decoded(text: bytes) -> Iterator[bytes]:
    if b"\\" in text:
        plain = text
        for escape, meant in _ESCAPES:
            plain = plain.replace(escape, meant)
        if plain != text:
            yield plain
    if b"%" in text and (plain := unquote_to_bytes(text)) != text:
        yield plain
    for found in _RUN.finditer(text):
        yield _from_base64(found[0])


def _from_base64(run: bytes) -> bytes:
    """What it is, if it is base64; an odd character at its end belongs to something else."""
    whole = run[: len(run) - (len(run) % 4 == 1)].translate(_STANDARD)
    return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))
