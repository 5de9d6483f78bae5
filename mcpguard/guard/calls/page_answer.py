"""Answers a call for a page of an earlier reply. Nothing is sent for it."""

from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.guard.calls.open_call import CallServices, OpenCall
from mcpguard.guard.calls.request import ReplyPage
from mcpguard.ledger.entries import Entry


async def answer_page(services: CallServices, call: OpenCall, page: ReplyPage, entry: Entry) -> Outcome:
    """Answer with the page, if this caller may still call what the reply came from."""
    objection = services.judging.objection_before_sending(call.asked, call.judged)
    if objection is not None:
        return Outcome.refusal(objection)
    entry.permit()
    call.result = dict(page.result)
    return Outcome.answer(await services.bodies.make_body(call.asked.capability.server, call.result))
