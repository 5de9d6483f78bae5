"""How what the guard says becomes what a client reads.

A refusal says what happened, why, and what to do next, in constants of ours; nothing that an upstream or an agent said
is ever put into it. For a tool it is a result, because models read results; for everything else it is an error.
"""

from typing import Any

from mcpguard import __version__
from mcpguard.domain.errors import GuardError
from mcpguard.domain.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.reasons import Reason

US = {"name": "mcpguard", "title": "mcpguard", "version": __version__}
REFUSED = -31010
CANCELLED = -32800
INTERNAL_ERROR = -32603
INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601


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


def refusal(outcome: Outcome, call: str) -> dict[str, Any]:
    """What a client is told of a call that was not simply answered."""
    reason = outcome.reason or Reason.GUARD_ERROR
    return {
        "status": _status(outcome),
        "executed": outcome.executed.value,
        "reason": reason.value,
        "message": reason.sentence,
        "next": reason.next,
        "call_id": call,
    }


def refused_result(said: dict[str, Any]) -> dict[str, Any]:
    """A refusal as the result of a tool."""
    text = f"{said['message']} {said['next']}"
    return {"content": [{"type": "text", "text": text}], "isError": True, "structuredContent": said}


def refused_error(said: dict[str, Any]) -> Rejected:
    """A refusal as an error."""
    return Rejected(REFUSED, f"{said['message']} {said['next']}", "", said)


def _status(outcome: Outcome) -> str:
    if outcome.kind is OutcomeKind.HELD:
        return "held"
    return "refused" if outcome.executed is Executed.NO else "withheld"
