"""Answers of the guard face's tools: JSON, as text for models and as structure for programs."""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.codec import envelope
from mcpguard.codec.messages import dumps
from mcpguard.domain.reasons import Reason
from mcpguard.gateway.tools.definitions import DECLARED
from mcpguard.gateway.wire import refusal_told

OWN: Final = "This tool cannot do that."
CORRECT: Final = "Correct the call; the tool's own schema says what it takes."


def told(answer: Mapping[str, Any]) -> dict[str, Any]:
    content = [{"type": "text", "text": dumps(answer).decode()}]
    return {"content": content, "structuredContent": dict(answer), "_meta": dict(envelope.BY_GUARD)}


def unusable(tool: str, sentence: str) -> dict[str, Any]:
    """What was given to one of our own tools cannot be used; nothing was looked up, and there is no record."""
    return _refused(tool, Reason.ARGUMENTS_INVALID, OWN, CORRECT, f"{sentence}.", expected=sentence)


def refused(tool: str, reason: Reason, where: str = "") -> dict[str, Any]:
    """One of our own tools does not do it. `where`: a sentence that says who does, and where."""
    return _refused(tool, reason, reason.sentence, reason.next, where, **({"where": where} if where else {}))


def of_call(result: Mapping[str, Any], entry: str) -> dict[str, Any]:
    """A server's answer, with the entry that stands for it in the audit log."""
    return envelope.with_meta(result, {"mcpguard/call": entry})


def _refused(tool: str, reason: Reason, message: str, following: str, sentence: str, **more: str) -> dict[str, Any]:
    said = {
        "status": "refused",
        "executed": "no",
        "reason": reason.value,
        "message": message,
        "next": following,
        **more,
    }
    text = " ".join(part for part in (message, sentence, following) if part)
    return refusal_told(text, said, structured=tool not in DECLARED)
