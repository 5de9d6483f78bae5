"""Answers of the guard face's tools: JSON, as text for models and as structure for programs."""

from collections.abc import Mapping
from typing import Any

from mcpguard.codec.messages import dumps
from mcpguard.domain.reasons import Reason


def told(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": dumps(answer).decode()}], "structuredContent": dict(answer)}


def unusable(sentence: str) -> dict[str, Any]:
    """What was given to one of our own tools does not have its form; nothing was looked up, and there is no record."""
    reason = Reason.ARGUMENTS_INVALID
    said = {
        "status": "refused",
        "executed": "no",
        "reason": reason.value,
        "message": reason.sentence,
        "next": reason.next,
        "expected": sentence,
    }
    text = f"{reason.sentence} {sentence}. {reason.next}"
    return {"content": [{"type": "text", "text": text}], "isError": True, "structuredContent": said}
