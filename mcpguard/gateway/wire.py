"""How what the guard says becomes what a client reads.

A refusal says what happened, why, and what to do next, in constants of ours; nothing that an upstream or an agent said
is ever put into it, but for the names of properties that lead to a wrong argument (`domain.objections`). For a tool it
is a result, because models read results; for everything else it is an error.
"""

from typing import Any

from mcpguard import __version__
from mcpguard.codec.findings import titles
from mcpguard.domain.errors import GuardError
from mcpguard.domain.objections import Detail
from mcpguard.domain.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.reasons import Reason
from mcpguard.guard.asked import Told

US = {"name": "mcpguard", "title": "mcpguard", "version": __version__}
REFUSED = -31010
CANCELLED = -32800
INTERNAL_ERROR = -32603
INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601
MOST_FINDINGS = 10


class Rejected(GuardError):
    """A request that is answered with an error. `why` is a word of ours, for counting; empty for what is recorded."""

    def __init__(self, code: int, sentence: str, why: str, data: object = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.why = why
        self.data = data

    @property
    def error(self) -> dict[str, Any]:
        said: dict[str, Any] = {"code": self.code, "message": str(self)}
        return said if self.data is None else said | {"data": self.data}


class Passed(GuardError):
    """An upstream answered with an error, which is passed on as it is."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__("the server answered with an error")
        self.error = error


def refusal(told: Told) -> dict[str, Any]:
    """What a client is told of a call that was not simply answered. Of findings it is told our titles alone."""
    outcome, found = told.outcome, titles(told.findings, MOST_FINDINGS)
    reason = outcome.reason or Reason.GUARD_ERROR
    said = {
        "status": _status(outcome),
        "executed": outcome.executed.value,
        "reason": reason.value,
        "message": reason.sentence,
        "next": reason.next,
        "call_id": told.call,
    }
    more = {"detail": told.detail.said, "findings": found}
    return said | {name: value for name, value in more.items() if value}


def refused_result(said: dict[str, Any]) -> dict[str, Any]:
    """A refusal as the result of a tool."""
    return {"content": [{"type": "text", "text": _text(said)}], "isError": True, "structuredContent": said}


def refused_error(said: dict[str, Any]) -> Rejected:
    """A refusal as an error."""
    return Rejected(REFUSED, _text(said), "", said)


def _text(said: dict[str, Any]) -> str:
    """For a model: what happened, what exactly, and what to do next."""
    detail = Detail(**said.get("detail", {})).sentence
    return " ".join(part for part in (said["message"], detail, said["next"]) if part)


def _status(outcome: Outcome) -> str:
    if outcome.kind is OutcomeKind.HELD:
        return "held"
    return "refused" if outcome.executed is Executed.NO else "withheld"
