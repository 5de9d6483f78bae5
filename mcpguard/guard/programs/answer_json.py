"""What is told as JSON of how a program ended."""

from typing import Any, Final

from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.engines.code_run import FailureCode, RunFailure
from mcpguard.guard.programs.run_request import RunAnswer

_WAITS: Final = RunFailure(
    FailureCode.HOLD_WAITING,
    "A call waits for the approval of a person. Send the same program again once it is approved: it goes on where it "
    "is.",
)


def run_json(answer: RunAnswer) -> dict[str, Any]:
    """Return how a run ended, as its agent is told.

    Of calls that were answered only the number: a model would pay for each of them, and the audit log has them all.
    """
    failure = _WAITS if answer.waits else answer.failure
    said: dict[str, Any] = {"ok": failure is None}
    said |= {"value": answer.value} if failure is None else {"error": failure_json(failure)}
    said["logs"] = [*answer.logs]
    others = [call for call in answer.calls if call.status != OutcomeKind.ANSWERED]
    said["answered"] = len(answer.calls) - len(others)
    said["calls"] = [
        {"name": call.name, "status": call.status, "reason": call.reason, "call_id": call.call} for call in others
    ]
    return said | ({"run_id": answer.entry} if answer.entry else {})


def failure_json(failure: RunFailure) -> dict[str, Any]:
    """Return the code of a failure, its message, and the line at fault if one is."""
    said = {"code": failure.code.value, "message": failure.message}
    return said if failure.line is None else said | {"line": failure.line}
