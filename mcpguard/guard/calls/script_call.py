"""Runs an approved script where one is called. Nothing is sent to a server for it but the calls that it makes."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcpguard.domain.calls.counterpart import CallingClient
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Permit
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.open_call import CallServices, OpenCall
from mcpguard.guard.calls.request import CallRequest
from mcpguard.guard.traffic.events import CallStage
from mcpguard.ledger.entries import Entry

RunScript = Callable[[CallRequest, Effect, Permit, CallingClient], Awaitable[dict[str, Any]]]
"""Runs the script that is called, with its approved effect."""


async def run_script(services: CallServices, call: OpenCall, entry: Entry, run: RunScript | None) -> Outcome | None:
    """Have the script run. Returns None where there is a result, which is to be screened; else how the call ended."""
    objection = services.judging.objection_before_sending(call.asked, call.judged)
    if objection is not None:
        return Outcome.refusal(objection)
    effect = call.judged.effect
    if run is None or effect is None:
        return Outcome.refusal(Reason.SERVER_UNREACHABLE)  # programs are switched off
    call.course.enter(CallStage.SERVER)
    call.result = await run(call.asked, effect, entry.permit(), call.client)
    call.client.is_over = True
    call.course.enter(CallStage.SCREENING)
    return None
