"""Replies that are too long to be told at once: what of them is told now, and the text that the rest is read from.

Rules kept here:
1. Only text is cut. Pictures, sounds and other bytes are told whole, for half of one is worth nothing.
2. The text is everything that can be read, in its order, so that nothing is lost: texts and the texts of resources as
   they are, other items as JSON, and the structure at the end, unless the texts say the same.
3. A server may send what is no list of items. What is told of a reply that was cut is one, whatever came.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.codec.messages import dumps
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.json import Json

LONGEST_READ: Final = 256 * 1024
"""Characters of a text that is read as JSON; a longer one is taken for something else than the structure."""
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
    items = _items(result.get("content"))
    texts = [_text(item) for item in items]
    read = [text for text in texts if text is not None]
    structure = dumps(result["structuredContent"]).decode() if "structuredContent" in result else ""
    if sum(map(len, read)) + len(BETWEEN) * (len(read) - 1) <= most and len(structure) <= most:
        return None
    told = {key: value for key, value in result.items() if key != "structuredContent"}
    if structure and len(structure) <= most:
        told["structuredContent"] = result["structuredContent"]
    elif structure and not _repeats(result["structuredContent"], read):
        read.append(structure)
    text = BETWEEN.join(read)
    told["content"] = list(_first(items, texts, text[:most]))
    return Shortened(told, text, min(most, len(text)))


def _items(content: object) -> Sequence[object]:
    match content:
        case list():
            return content
        case None:
            return ()
        case _:
            return (content,)


def _first(items: Sequence[object], texts: Sequence[str | None], shown: str) -> Iterator[object]:
    """The items, their texts together no longer than what is shown, which ends with what is in no item."""
    place = 0
    for item, text in zip(items, texts, strict=True):
        if text is None:
            yield item
            continue
        end = place + len(text)
        if place < len(shown):
            is_whole = end <= len(shown) and isinstance(item, dict)
            yield item if is_whole else {"type": "text", "text": shown[place:end]}
        place = end + len(BETWEEN)
    if place < len(shown):
        yield {"type": "text", "text": shown[place:]}


def _text(item: object) -> str | None:
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
    if len(text) > LONGEST_READ or not text.lstrip().startswith(("{", "[")):
        return False
    try:
        return bool(parse(text.encode(), max_bytes=len(text) * 4 + 1) == structure)
    except (StrictError, UnicodeError):
        return False
