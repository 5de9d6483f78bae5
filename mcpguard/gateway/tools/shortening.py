"""Replies that are too long to be told at once: what of them is told now, and the text that the rest is read from.

Rules kept here:
1. Only text is cut. Pictures, sounds and other bytes are told whole, for half of one is worth nothing.
2. The text is everything that can be read, in its order, so that nothing is lost: texts and the texts of resources as
   they are, other items as JSON, and the structure at the end, unless the texts say the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.codec.messages import dumps
from mcpguard.codec.strict import StrictError, parse

Json = dict[str, Any]
BETWEEN: Final = "\n"
"""What stands between two items in the text."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """`told` has the first `shown` characters of `text`, and everything that is no text."""

    told: Json
    text: str
    shown: int


def shortened(result: Mapping[str, Any], most: int) -> Shortened | None:
    """None where it is told whole: neither its text nor its structure is longer than `most` characters."""
    items = [item for item in result.get("content", ()) if isinstance(item, dict)]
    structure = dumps(result["structuredContent"]).decode() if "structuredContent" in result else ""
    length = sum(len(text) + len(BETWEEN) for text in map(_text, items) if text is not None)
    if length - len(BETWEEN) <= most and len(structure) <= most:
        return None
    told = {key: value for key, value in result.items() if key != "structuredContent"}
    read = [text for text in map(_text, items) if text is not None]
    if structure and len(structure) <= most:
        told["structuredContent"] = result["structuredContent"]
    elif structure and not _repeats(result["structuredContent"], read):
        read.append(structure)
    text = BETWEEN.join(read)
    told["content"] = list(_first(items, text[:most]))
    return Shortened(told, text, min(most, len(text)))


def _first(items: Iterable[Json], shown: str) -> Iterator[Json]:
    """The items, their texts together no longer than what is shown, which ends with what is in no item."""
    place = 0
    for item in items:
        text = _text(item)
        if text is None:
            yield item
            continue
        if place < len(shown):
            yield item if place + len(text) <= len(shown) else {"type": "text", "text": shown[place:]}
        place += len(text) + len(BETWEEN)
    if place < len(shown):
        yield {"type": "text", "text": shown[place:]}


def _text(item: Json) -> str | None:
    """What of an item can be read; None where that is nothing."""
    match item:
        case {"type": "text", "text": str(text)} | {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"data": str()} | {"resource": {"blob": str()}}:
            return None
        case _:
            return dumps(item).decode()


def _repeats(structure: object, texts: list[str]) -> bool:
    """Whether it says what the texts say: it is what one of them is as JSON, or holds just them under some name."""
    match structure:
        case dict() if len(structure) == 1:
            (only,) = structure.values()
            if texts in (only, [only]):
                return True
    return any(_is(text, structure) for text in texts)


def _is(text: str, structure: object) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        return bool(parse(text.encode(), max_bytes=len(text) * 4 + 1) == structure)
    except (StrictError, UnicodeError):
        return False
