"""Cuts replies that are too long: the part that is sent now, and the text that the rest is read from.

Rules kept here:
1. Only text is cut. Images, audio and other bytes are sent whole, as half of one is worth nothing.
2. The text is everything that can be read, in order, so that nothing is lost: texts and the texts of resources as they
   are, other items as JSON, and the structure at the end, unless the texts say the same.
3. A server may send something that is no list of items. A reply that was cut always has one.
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
class ShortenedReply:
    """A reply of which `told` has the first `shown` characters of `text`, and everything that is no text."""

    told: Json
    text: str
    shown: int


def shorten(result: Mapping[str, Any], most: int) -> ShortenedReply | None:
    """Return the cut reply; None if neither its text nor its structure is longer than `most` characters."""
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
    return ShortenedReply(told, text, min(most, len(text)))


def _items(content: object) -> Sequence[object]:
    match content:
        case list():
            return content
        case None:
            return ()
        case _:
            return (content,)


def _first(items: Sequence[object], texts: Sequence[str | None], shown: str) -> Iterator[object]:
    """Return the items, cut so that their texts together are no longer than what is shown."""
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
    """Return what can be read of an item; None if that is nothing."""
    match item:
        case {"type": "text", "text": str(text)} | {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"data": str()} | {"resource": {"blob": str()}}:
            return None
        case _:
            return dumps(item).decode()


def _repeats(structure: object, texts: list[str]) -> bool:
    """Tell whether the structure repeats the texts: it is one of them as JSON, or holds just them under some name."""
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
