"""Answers of the guard face's tools: JSON, as text for models and as structure for programs."""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.codec import envelope
from mcpguard.codec.messages import dumps
from mcpguard.domain.reasons import Reason
from mcpguard.gateway.tools.definitions import DECLARED
from mcpguard.gateway.wire import refusal_result

OWN: Final = "This tool cannot do that."
CORRECT: Final = "Correct the call: see the tool's input schema."


def tool_result(answer: Mapping[str, Any]) -> dict[str, Any]:
    content = [{"type": "text", "text": dumps(answer).decode()}]
    return {"content": content, "structuredContent": dict(answer), "_meta": dict(envelope.BY_GUARD)}


def unusable_arguments(tool: str, sentence: str) -> dict[str, Any]:
    """Refuse unusable arguments of one of our own tools. Nothing was looked up, and there is no record."""
    return _refused(tool, Reason.ARGUMENTS_INVALID, OWN, CORRECT, f"{sentence}.", expected=sentence)


def tool_refusal(tool: str, reason: Reason, where: str = "") -> dict[str, Any]:
    """Refuse what one of our own tools does not do. `where` is a sentence that says who does it, and where."""
    return _refused(tool, reason, reason.sentence, reason.next, where, **({"where": where} if where else {}))


def with_call_id(result: Mapping[str, Any], entry: str) -> dict[str, Any]:
    """Add the call's id in the audit log to a server's answer."""
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
    return refusal_result(text, said, structured=tool not in DECLARED)
