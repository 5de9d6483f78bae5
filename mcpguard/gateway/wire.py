"""Turns the guard's refusals and errors into what a client reads.

A refusal says what happened, why, and what to do next, in fixed words. Nothing that a server or an agent said is put
into it, except the names of properties that lead to a wrong argument (`domain.objections`), and the URI of an unknown
resource, as the client itself named it. For a tool it is a result, because models read results; for everything else it
is an error.
"""

from collections.abc import Mapping
from typing import Any

from mcpguard import __version__
from mcpguard.codec import envelope
from mcpguard.codec.refusals import REFUSAL
from mcpguard.domain.calls.objections import Detail
from mcpguard.domain.errors import GuardError
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from mcpguard.policy.budgets import IN_A_MINUTE

US = {"name": "mcpguard", "title": "mcpguard", "version": __version__}
REFUSED = -31010
CANCELLED = -32800
INTERNAL_ERROR = -32603
INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601
RESOURCE_NOT_FOUND = -32002
"""Up to 2025-11-25."""


class RequestRejected(GuardError):
    """A request that is answered with an error. `why` is the fixed word under which it is counted; empty if it is
    recorded.
    """

    def __init__(self, code: int, sentence: str, why: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.why = why
        self.data = data

    @property
    def error(self) -> dict[str, Any]:
        return own_error(self.code, str(self), self.data)


class BudgetSpent(RequestRejected):
    """The caller's budget leaves no room for this now; `wait` is the number of seconds after which it does."""

    def __init__(self, wait: int) -> None:
        reason, detail = Reason.BUDGET_CALLS, Detail(budget=IN_A_MINUTE)
        said = {"reason": reason.value, "message": reason.sentence, "next": reason.next, "detail": detail.fields}
        super().__init__(REFUSED, _text(said), reason.value, {"status": "refused", "executed": "no", **said})
        self.wait = wait


class ServerAnsweredError(GuardError):
    """A server answered with an error, which is passed on."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__("the server answered with an error")
        self.error = error


def refused_result(said: dict[str, Any], *, structured: bool) -> dict[str, Any]:
    """Return a refusal as the result of a tool. `structured` says whether this tool may have any structure
    (`codec.refusals`).
    """
    return refusal_result(_text(said), said, structured=structured)


def refusal_result(text: str, said: dict[str, Any], *, structured: bool) -> dict[str, Any]:
    """Return a refusal as the result of a tool, with the text that a model reads."""
    meta = {**envelope.BY_GUARD, REFUSAL: said}
    result = {"content": [{"type": "text", "text": text}], "isError": True, "_meta": meta}
    return {**result, "structuredContent": said} if structured else result


def refused_error(said: dict[str, Any], era: Era, uri: str | None = None) -> RequestRejected:
    """Return a refusal as an error. `uri` is the client's name for a resource.

    What is unknown, or out of the caller's scope, has the error code of the client's era.
    """
    if said["reason"] != Reason.CAPABILITY_UNKNOWN.value:
        return RequestRejected(REFUSED, _text(said), "", said)
    if uri is None:
        return RequestRejected(INVALID_PARAMS, _text(said), "", said)
    code = INVALID_PARAMS if era is Era.MODERN else RESOURCE_NOT_FOUND
    return RequestRejected(code, _text(said), "", said | {"uri": uri})


def instructions(said: Mapping[str, str], *, merged: bool) -> str:
    """Join the instructions of servers into a greeting; `merged` says that the client sees many servers."""
    if not merged:
        return "\n\n".join(said.values())
    return "\n\n".join(f"Instructions of the server {server}:\n{text}" for server, text in said.items())


def own_error(code: int, sentence: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return an error that is marked as the guard's own."""
    return envelope.as_guard_error({"code": code, "message": sentence, "data": dict(data or {})})


def _text(said: dict[str, Any]) -> str:
    """Return the sentence for a model: what happened, the detail, and what to do next."""
    detail = Detail(**said.get("detail", {})).sentence
    return " ".join(part for part in (said["message"], detail, said["next"]) if part)
