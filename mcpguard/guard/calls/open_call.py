"""The work of one call while its entry in the ledger is open: a person's answer, the way to the server and back.

Rules kept here:
1. What the verdict rests on is compared in the transaction that stores it, and once more with nothing awaited before
   the first byte.
2. What was cut off was not sent, or may have been executed, whatever is answered later.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mcpguard.domain.asks import Declined
from mcpguard.domain.calls.bodies import Body
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.errors import Overtaken
from mcpguard.domain.reasons import Reason
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.calls.client_questions import ClientQuestions
from mcpguard.guard.calls.judgement import Judged, Judging
from mcpguard.guard.calls.kept_bodies import KeptBodies
from mcpguard.guard.calls.request import CallRequest, ReplyPage
from mcpguard.guard.calls.sandbox_hints import beside_end
from mcpguard.guard.calls.screening import Screener
from mcpguard.guard.calls.subject import CallSubject
from mcpguard.guard.calls.waiting_call import HoldPart
from mcpguard.guard.servers.running_calls import Cutting
from mcpguard.guard.servers.servers import Servers
from mcpguard.guard.traffic.events import CallStage, Course, Events
from mcpguard.ledger.entries import Entry, unconditionally
from mcpguard.store.engine.backend import Connection
from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.exchange.endings import Unsent
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.call_slots import Busy
from mcpguard.upstreams.protocol.calls_in_flight import Overdue
from mcpguard.upstreams.supervise.fleet import Fleet, Placed, Turn, Unreachable
from mcpguard.upstreams.supervise.succession import Unsettling

if TYPE_CHECKING:
    from mcpguard.domain.calls.objections import Detail

MOST_TRIES = 3
"""How often a call is judged anew, or sent back to wait for a listing, before it is refused."""


@dataclass(frozen=True, slots=True)
class With:
    """What every call works with."""

    servers: Servers
    callers: Callers
    judging: Judging
    fleet: Fleet
    cutting: Cutting
    bodies: KeptBodies
    screener: Screener
    events: Events

    async def catch_up(self, server: str) -> None:
        """Until memory knows what the store has found to be otherwise."""
        await self.servers.catch_up(server)
        await self.callers.catch_up()


class Making:
    """One call, judged. `client` is asked through it; `part`: what it has to do with a person's answer.

    When the work has ended: either the upstream's `result`, or its `error`; or `detail`, to be told beside a reason.
    """

    def __init__(
        self,
        with_: With,
        asked: CallRequest,
        subject: CallSubject,
        judged: Judged,
        client: ClientQuestions,
        part: HoldPart | None,
        course: Course,
    ) -> None:
        self.result: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.detail: Detail | None = None
        self._with = with_
        self._asked = asked
        self._subject = subject
        self._judged = judged
        self._client = client
        self._part = part
        self._course = course

    def still(self, connection: Connection) -> bool:
        """Asked when the opening is stored: whether the verdict holds. What that does to a held call is stored too."""
        return self._rests(self._judged, connection) and (self._part is None or self._part.store(connection))

    async def work(self, entry: Entry) -> Outcome:
        """From the stored verdict to how the call ended."""
        self._course.enter(CallStage.JUDGING)
        try:
            return await self._worked(entry)
        finally:
            self._course.enter(CallStage.RECORDING)

    async def _worked(self, entry: Entry) -> Outcome:
        asked, subject = self._asked, self._subject
        with self._with.cutting.call(asked.capability.server, subject.key, asked.caller.id) as call:
            if asked.page is not None:
                return await self._from_kept(entry, asked.page)
            if self._part is not None:
                ended = await self._answered(entry, self._part)
                if ended is not None:
                    return ended
            return await self._screened(await self._sent(entry))
        return self._cut_off(entry, by_caller=call.by_caller)

    async def _screened(self, outcome: Outcome) -> Outcome:
        """What the server said becomes what is passed on, or is withheld."""
        asked, pin, noticed = self._asked, self._judged.pin, self._client.noticed
        return await self._with.screener.reply(asked.capability.server, asked.method, pin, outcome, self, noticed)

    def _rests(self, judged: Judged, connection: Connection) -> bool:
        return judged.still(connection) and self._with.callers.still(connection, self._asked.caller)

    async def _answered(self, entry: Entry, part: HoldPart) -> Outcome | None:
        """Wait for the person, if it is not allowed yet. How the call ends without one; None if it may be sent."""
        part.begin()
        if self._judged.reason is None:
            return None
        self._course.enter(CallStage.PERSON)
        ended = await part.answered(self._client)
        self._course.enter(CallStage.JUDGING)
        if ended is not None:
            outcome, self.detail = ended
            return outcome
        try:
            return await self._released(entry, part)
        finally:
            part.give_back()

    async def _released(self, entry: Entry, part: HoldPart) -> Outcome | None:
        """A person allows it: it is judged again, and their answer is used up together with that verdict."""
        for _ in range(MOST_TRIES):
            self._judged = judged = await self._confirmed()
            self._course.enter(CallStage.RECORDING)
            if judged.reason is not None:
                await entry.release(judged.verdict, unconditionally)
                return Outcome.refused(judged.reason)
            try:
                await entry.release(judged.verdict, partial(self._uses_up, judged, part))
            except Overtaken:
                await self._with.catch_up(self._asked.capability.server)
            else:
                part.used()
                return None
        await entry.release(Deny(Reason.CAPABILITY_CHANGED), unconditionally)  # it does not stand still
        return Outcome.refused(Reason.CAPABILITY_CHANGED)

    async def _confirmed(self) -> Judged:
        judged = await self._with.judging.confirmed(self._subject, waits=self._course.listing)
        self._course.enter(CallStage.JUDGING)
        return judged

    def _uses_up(self, judged: Judged, part: HoldPart, connection: Connection) -> bool:
        return self._rests(judged, connection) and part.use_up(connection)

    async def _sent(self, entry: Entry) -> Outcome:
        judging, subject, server = self._with.judging, self._subject, self._asked.capability.server
        client = self._client if self._asked.watcher is None else None
        self._course.enter(CallStage.SERVER)  # waiting for a place there is the server's time too
        try:
            reason = Reason.CAPABILITY_UNCONFIRMED
            for _ in range(MOST_TRIES):
                async with self._with.fleet.turn(server, Placed(subject.key, subject.caller.id, client)) as turn:
                    turn.reachable()
                    objection = judging.once_more(subject, self._judged)
                    if objection is None:
                        return await self._told(turn, entry)
                    reason = objection
                if reason is not Reason.CAPABILITY_UNCONFIRMED:
                    break
                await self._confirmed()
                self._course.enter(CallStage.SERVER)
        except (Busy, Unsettling, Unreachable) as error:
            return Outcome.refused(judging.meanwhile(subject) or _reason(error))
        finally:
            self._client.end()
        return Outcome.refused(reason)

    async def _told(self, turn: Turn, entry: Entry) -> Outcome:
        """What the server makes of it. Nothing is waited for between the comparison before this and the permit."""
        try:
            self.result = await self._answer(turn, entry)
        except Unsent:
            entry.mark_unsent()
            return Outcome.refused(Reason.SERVER_UNREACHABLE)
        except (Overdue, TransportEnded, Declined) as error:
            known = self._with.servers.find(self._asked.capability.server)
            if known is not None and isinstance(error, TransportEnded):
                self.detail = beside_end(str(error), known.declared.launch)
            return Outcome.unknown(_reason(error))
        except ServerError as failed:
            self.error = failed.error
            return Outcome.failed(await self._kept(failed.error))
        reply = await self._kept(self.result)
        return Outcome.failed(reply) if self.result.get("isError") is True else Outcome.answered(reply)

    async def _answer(self, turn: Turn, entry: Entry) -> dict[str, Any]:
        asked = self._asked
        try:
            if asked.watcher is None:
                return await turn.send(entry.permit(), asked.method, asked.params, self._client)
            await turn.watch(entry.permit(), asked.params["uri"], asked.watcher)
            return {}
        finally:
            self._course.enter(CallStage.SCREENING)

    async def _from_kept(self, entry: Entry, page: ReplyPage) -> Outcome:
        """A part of what the server said before, which this caller may still use."""
        objection = self._with.judging.once_more(self._subject, self._judged)
        if objection is not None:
            return Outcome.refused(objection)
        entry.permit()
        self.result = dict(page.result)
        return Outcome.answered(await self._kept(self.result))

    async def _kept(self, said: dict[str, Any]) -> Body:
        return await self._with.bodies.of(self._asked.capability.server, said)

    def _cut_off(self, entry: Entry, *, by_caller: bool) -> Outcome:
        """What it is about has left `approved`, or whoever made it was revoked. What was sent may have been executed,
        whatever it answers now."""
        if entry.permitted:
            return Outcome.unknown(Reason.CALLER_REVOKED if by_caller else Reason.CAPABILITY_WITHDRAWN)
        why = Reason.CALLER_REVOKED if by_caller else Reason.CAPABILITY_CHANGED
        return Outcome.refused(self._with.judging.now(self._subject).reason or why)


def _reason(error: Exception) -> Reason:
    match error:
        case Declined(reason=reason):
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
