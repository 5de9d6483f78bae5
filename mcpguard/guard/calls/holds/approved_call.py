"""A call that needs approval, from its stored opening until it may be sent.

Rules kept here:
1. A call that was approved is judged again, and the new verdict uses up the approval in one transaction.
2. An approval is not lost where the client disconnects between the answer and the verdict.
"""

from functools import partial

from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.errors import Overtaken
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.holds.waiting_call import CallPart, HoldPart
from mcpguard.guard.calls.open_call import MOST_TRIES, CallServices, OpenCall
from mcpguard.guard.traffic.events import CallStage
from mcpguard.ledger.entries import Entry, unconditionally


async def wait_for_approval(services: CallServices, call: OpenCall, part: CallPart, entry: Entry) -> Outcome | None:
    """Wait for approval, if it is needed. Returns how the call ends without it; None if it may be sent."""
    part.begin()
    if call.judged.verdict.reason is None or not isinstance(part, HoldPart):
        return None
    call.course.enter(CallStage.PERSON)
    ended = await part.wait_for_answer(call.client)
    call.course.enter(CallStage.JUDGING)
    if ended is not None:
        outcome, call.detail = ended
        return outcome
    try:
        return await _release_hold(services, call, part, entry)
    finally:
        # Also where the client hangs up between the answer and the verdict: the approval is not lost.
        part.give_back()


async def _release_hold(services: CallServices, call: OpenCall, part: HoldPart, entry: Entry) -> Outcome | None:
    """Judge a call that was approved again, and use the approval up together with that verdict."""
    for _ in range(MOST_TRIES):
        call.judged = judged = await services.judge_again(call)
        call.course.enter(CallStage.RECORDING)
        if judged.verdict.reason is not None:
            await entry.release(judged.verdict, unconditionally)
            return Outcome.refusal(judged.verdict.reason)
        try:
            await entry.release(judged.verdict, partial(services.still_holds, judged, call.asked.caller, part.use_up))
        except Overtaken:
            await services.catch_up(call.asked.capability.server)
        else:
            part.mark_used()
            return None
    await entry.release(Deny(Reason.CAPABILITY_CHANGED), unconditionally)  # it changes faster than it can be judged
    return Outcome.refusal(Reason.CAPABILITY_CHANGED)
