"""Calls that did not end with a plain answer: what is recorded of them, and what their client is told."""

from typing import Final

from mcpguard.codec import envelope
from mcpguard.domain.asks import QuestionDeclined
from mcpguard.domain.calls.objections import NOTHING_MORE, Detail
from mcpguard.domain.calls.outcomes import Outcome, OutcomeKind
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.open_call import CallServices, OpenCall
from mcpguard.guard.calls.request import CallResult
from mcpguard.guard.calls.sandbox_hints import hint_after_end, with_hint_in_error, with_hint_in_result
from mcpguard.ledger.entries import Entry
from mcpguard.upstreams.exchange.endings import Unsent
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.calls_in_flight import Busy, Overdue
from mcpguard.upstreams.supervise.fleet import Unreachable
from mcpguard.upstreams.supervise.succession import Unsettling

UNREPLIED: Final = (Busy, Unsettling, Unreachable, Overdue, TransportEnded, QuestionDeclined)
"""What sending raises where the server did not reply."""


def outcome_after(error: Exception, services: CallServices, call: OpenCall, entry: Entry) -> Outcome:
    """How a call ends whose sending raised `error`, one of `UNREPLIED`."""
    match error:
        case Busy() | Unsettling() | Unreachable():
            return Outcome.refusal(services.judging.objection_while_running(call.asked) or _reason(error))
        case Unsent():
            # The transport is certain that no byte has left, so this may be recorded as not executed.
            entry.mark_unsent()
            return Outcome.refusal(Reason.SERVER_UNREACHABLE)
        case _:
            known = services.servers.find(call.asked.capability.server)
            if known is not None and isinstance(error, TransportEnded):
                call.detail = hint_after_end(str(error), known.declared.launch)
            return Outcome.unknown(_reason(error))


def outcome_when_cut_off(services: CallServices, call: OpenCall, entry: Entry, *, by_caller: bool) -> Outcome:
    """How a call ends that is cut off, because what it calls is no longer approved or its caller was revoked. Once it
    was sent it may have been executed, whatever the server answers now."""
    # With a permit bytes may have left. Then nobody can say any more that nothing was executed.
    if entry.permitted:
        return Outcome.unknown(Reason.CALLER_REVOKED if by_caller else Reason.CAPABILITY_WITHDRAWN)
    why = Reason.CALLER_REVOKED if by_caller else Reason.CAPABILITY_CHANGED
    return Outcome.refusal(services.judging.judge(call.asked).verdict.reason or why)


def tell_failure(services: CallServices, call: OpenCall, opening: Opening, outcome: Outcome) -> CallResult:
    """What the client is told of a call that failed, or was refused, held, withheld or cut off."""
    known = services.servers.find(opening.capability.server)
    if outcome.kind is OutcomeKind.FAILED and outcome.reason is None:
        result, error = call.result, call.error
        if known is not None:
            launch = known.declared.launch
            result = None if result is None else with_hint_in_result(result, launch)
            error = None if error is None else with_hint_in_error(error, launch)
        if result is not None:
            return CallResult(opening.entry, outcome, envelope.with_meta(result, envelope.BY_SERVER))
        return CallResult(opening.entry, outcome, error=None if error is None else envelope.as_server_error(error))
    judged, judging, asked = call.judged, services.judging, call.asked
    detail = judged.detail if outcome.reason is judged.verdict.reason else NOTHING_MORE
    return CallResult(
        opening.entry,
        outcome,
        capability=opening.capability,
        findings=judging.findings_told(asked, outcome.reason),
        unseen=judging.uninspected_server(asked, outcome.reason),
        detail=call.detail or _sandbox_hint(services, opening, outcome) or detail,
    )


def _sandbox_hint(services: CallServices, opening: Opening, outcome: Outcome) -> Detail | None:
    """What in its sandbox may have kept a server from running, where the call ended because it could not be reached."""
    known = services.servers.find(opening.capability.server)
    if known is None or outcome.reason is not Reason.SERVER_UNREACHABLE:
        return None
    return hint_after_end(services.servers.end_of_connection(known), known.declared.launch)


def _reason(error: Exception) -> Reason:
    match error:
        case QuestionDeclined(reason=reason):
            return reason
        case Busy():
            return Reason.SERVER_BUSY
        case Unsettling():
            return Reason.BUDGET_CONNECTIONS
        case Overdue():
            return Reason.REPLY_TIMEOUT
        case TransportEnded():
            return Reason.SERVER_LOST
        case _:
            return Reason.SERVER_UNREACHABLE
