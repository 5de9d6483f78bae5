"""One call on its way: what was asked, what was judged, and how far it has come."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.records import Opening
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.calls.holds.waiting_call import CallPart
from mcpguard.guard.calls.judgement import CallJudge, JudgedCall
from mcpguard.guard.calls.kept_bodies import KeptBodies
from mcpguard.guard.calls.request import CallRequest
from mcpguard.guard.calls.screening import Screener
from mcpguard.guard.servers.running_calls import RunningCalls
from mcpguard.guard.servers.servers import Servers
from mcpguard.guard.traffic.events import CallCourse, CallEvents, CallStage
from mcpguard.ledger.entries import Still
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import generations
from mcpguard.upstreams.supervise.fleet import Fleet

if TYPE_CHECKING:
    from mcpguard.domain.calls.objections import Detail
    from mcpguard.guard.calls.client_questions import ClientQuestions

MOST_TRIES = 3
"""How often a call is judged again, or waits for a listing again, before it is refused."""


@dataclass(frozen=True, slots=True)
class CallServices:
    """The parts of the guard that every call works with."""

    servers: Servers
    callers: Callers
    judging: CallJudge
    fleet: Fleet
    running_calls: RunningCalls
    bodies: KeptBodies
    screener: Screener
    events: CallEvents

    async def catch_up(self, server: str) -> None:
        """Read this server and the callers from the store, which was found to be ahead of memory."""
        await self.servers.catch_up(server)
        await self.callers.catch_up()

    def still_holds(self, judged: JudgedCall, caller: Caller, keep: Still | None, connection: Connection) -> bool:
        """Tell whether the store has what a verdict on a call of this caller rests on, in the transaction that stores
        the verdict. `keep` stores there what becomes of a hold, and tells whether it still may.
        """
        upstream, pin = judged.upstream, judged.pin
        are_current = generations.are_current(
            connection,
            None if upstream is None else (upstream.id, upstream.generation),
            None if pin is None else (pin.id, pin.generation),
            None if caller.id in self.callers.unstored else caller.id,
        )
        return are_current and (keep is None or keep(connection))

    async def judge_again(self, call: "OpenCall") -> JudgedCall:
        """Judge a call once more, as soon as it is known whether its server still offers what was approved."""
        judged = await self.judging.judge_confirmed(call.asked, None, call.course.enter_listing)
        call.course.enter(CallStage.JUDGING)
        return judged


class OpenCall:
    """One call on its way. `part` is its part in a hold or an allowance, if it has one; the server asks the client
    through `client`.

    When the work has ended there is the server's `result`, or its `error`, or a `detail` to be told beside a reason.
    """

    judged: JudgedCall
    client: "ClientQuestions"

    def __init__(self, asked: CallRequest, course: CallCourse) -> None:
        self.asked = asked
        self.course = course
        self.part: CallPart | None = None
        self.result: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.detail: Detail | None = None

    def take_part(self, part: CallPart, opening: Opening) -> Opening:
        """Take part in a hold or an allowance: from here on the call is judged as one that a reviewer was asked about.
        Returns the opening with the id of that."""
        self.part, self.asked = part, replace(self.asked, ticket=part.id)
        return part.named_in(opening)

    def leave_hold(self) -> None:
        """Take no part in a hold, as the call is judged anew."""
        self.part, self.asked = None, replace(self.asked, ticket="")
