"""The text of a resource as JSON, where it is JSON.

Rules kept here:
1. Rewritten text is the same, token for token: only the space between tokens goes. So it means the same to every
   reader, and nothing shows up that was hidden from the scan before.
2. Where JSON parsers disagree, the text stays as it is: duplicate keys, NaN, numbers that a double cannot hold exactly
   as they are written, lone surrogates.
"""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from mcpguard.codec.strict import StrictError, parse
from mcpguard.proxy.annotations import CONTENT_TYPE

JSON: Final = "application/json"
MOST_BYTES: Final = 256 * 1024
"""Of one answer; more text is not looked at, and passed on as it is."""
_SAFE: Final = 2**53
_TOKEN: Final = re.compile(r'("(?:[^"\\]++|\\.)*+")|[ \t\n\r]+', re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_DOUBTFUL: Final = re.compile(r"-?[0-9.]*+[eE][-+0-9]++|-?[0-9.]{16,}+|-0(?![0-9.eE])")
"""Numbers that a double may hold otherwise than they are written. Up to fifteen digits it holds as they are."""


def declare_json(content: Mapping[str, Any], most: int = MOST_BYTES) -> tuple[dict[str, Any], bool]:
    """Return a resource's contents declared as JSON if they are, and whether that is new. Text of more than `most`
    characters is passed on unread.
    """
    resource = {name: said for name, said in content.items() if name != CONTENT_TYPE}
    text, kind = content.get("text"), content.get("mimeType")
    if not isinstance(text, str) or len(text) > most or (isinstance(kind, str) and _essence(kind) == JSON):
        return resource, False
    written = compact_json(text)
    if written is None:
        return resource, False
    resource |= {"mimeType": JSON, "text": written}
    return resource | ({CONTENT_TYPE: kind} if isinstance(kind, str) else {}), True


def compact_json(text: str) -> str | None:
    """Return the same JSON without space between its tokens; None where the text is none, or parsers might
    disagree.
    """
    if len(text) > MOST_BYTES:
        return None
    try:
        parse(text.encode(), max_bytes=MOST_BYTES)
    except (StrictError, UnicodeError):
        return None
    if not all(map(_holds, _DOUBTFUL.findall(_STRING.sub("", text)))):
        return None
    return _TOKEN.sub(lambda token: token[1] or "", text)


def _holds(digits: str) -> bool:
    """Tell whether a double holds this number exactly as it is written, so that no parser reads another."""
    if digits == "-0":
        return False  # some readers take it for 0
    held = float(digits)
    try:
        exact = Decimal(digits) == Decimal(repr(held))
    except InvalidOperation:  # an exponent of more digits than any reader takes
        return False
    return exact and not (held.is_integer() and abs(held) > _SAFE)


def _essence(kind: str) -> str:
    return kind.partition(";")[0].strip().lower()
