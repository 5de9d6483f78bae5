"""The text of a resource as JSON, where it is JSON.

Rule kept here: what is written anew reads as it read before, to every reader. Where it might not, it stays as it is:
duplicate keys, NaN, numbers that a double cannot hold exactly as they are written, lone surrogates.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from mcpguard.codec.messages import dumps
from mcpguard.codec.strict import StrictError, parse
from mcpguard.proxy.annotations import CONTENT_TYPE

JSON: Final = "application/json"
MOST_BYTES: Final = 64 * 1024 * 1024
_SAFE: Final = 2**53


def objectified(content: Mapping[str, Any]) -> dict[str, Any]:
    """The contents of a resource; where they are the text of JSON and do not say so, they do now."""
    text, kind = content.get("text"), content.get("mimeType")
    if not isinstance(text, str) or (isinstance(kind, str) and _essence(kind) == JSON):
        return dict(content)
    written = rewritten(text)
    if written is None:
        return dict(content)
    said = {**content, "mimeType": JSON, "text": written}
    return {**said, CONTENT_TYPE: kind} if isinstance(kind, str) else said


def rewritten(text: str) -> str | None:
    """The same value in our one way of writing it; None where the text is no JSON, or would lose something."""
    try:
        value = parse(text.encode(), max_bytes=MOST_BYTES)
        json.loads(text, parse_float=_exactly, parse_int=_exactly)
    except (StrictError, UnicodeError, _Loses):
        return None
    return dumps(value).decode()


class _Loses(Exception):
    """A number that readers understand differently."""


def _exactly(digits: str) -> None:
    number = Decimal(digits)
    if (
        digits == "-0"
        or number != Decimal(repr(float(digits)))
        or (number == number.to_integral_value() and abs(number) > _SAFE)
    ):
        raise _Loses


def _essence(kind: str) -> str:
    return kind.partition(";")[0].strip().lower()
