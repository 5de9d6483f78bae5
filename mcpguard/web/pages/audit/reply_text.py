"""The text of a response as people read it: its text blocks, or the message of an error."""

from typing import Any, Final

import orjson

LONGEST_LINE: Final = 200
"""Characters of an error that a row shows."""


def reply_text(reply: str) -> str:
    """Return the texts of a response; "" if it has none or is not understood."""
    said = _parsed(reply)
    if not isinstance(said, dict):
        return ""
    blocks = said.get("content", said.get("contents"))
    texts = [text for block in blocks if (text := _text(block))] if isinstance(blocks, list) else []
    message = said.get("message")
    return "\n\n".join(texts) or (message if isinstance(message, str) else "")


def error_line(reply: str) -> str:
    """Return the beginning of the text of a response, on one line."""
    return " ".join(reply_text(reply)[: 2 * LONGEST_LINE].split())[:LONGEST_LINE]


def _text(block: object) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else ""


def _parsed(reply: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return orjson.loads(reply)
    except ValueError:
        return None
