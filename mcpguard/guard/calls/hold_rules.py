"""What a person has to do with a call: whether a setting wants one to allow it, and what they have said of it."""

from dataclasses import dataclass
from typing import Final

from mcpguard.codec.demands import Demand, demand
from mcpguard.domain.calls.holds import HoldState
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.calls.open_holds import Ticket, Tickets, rests
from mcpguard.guard.calls.subject import CallSubject
from mcpguard.policy.demands import demanded
from mcpguard.settings.call_groups import Holds


@dataclass(frozen=True, slots=True)
class HoldView:
    """At one moment. `demand`: the setting that wants a person, empty where none does. `ticket`: of the same call that
    waits or was answered. `crowded`: no more calls of this caller may wait."""

    demand: str = ""
    ticket: Ticket | None = None
    crowded: bool = False

    @property
    def answer(self) -> HoldState | None:
        return self.ticket.state if self.ticket is not None else None

    @property
    def person(self) -> str:
        """Why they answered so."""
        return self.ticket.hold.why if self.ticket is not None else ""


NOBODY: Final = HoldView()


class Demanding:
    """Looks that up."""

    def __init__(self, tickets: Tickets, settings: Holds) -> None:
        self.tickets = tickets
        self._most = settings.per_caller
        self._demands: tuple[Demand, ...] = tuple(map(demand, settings.calls))

    def look(self, subject: CallSubject, upstream: Upstream, pin: Pin | None, effect: Effect | None) -> HoldView:
        """A part of a reply needs nobody: the call that it answers was allowed."""
        if not self._demands or subject.kept or subject.ticket:
            return NOBODY
        wants = demanded(self._demands, subject.caller, subject.capability, effect)
        if not wants or subject.given is None:
            return HoldView(wants)
        ticket = self.tickets.find(self.same(subject, pin), rests(upstream, pin))
        return HoldView(wants, ticket, ticket is None and self.tickets.waiting(subject.caller.id) >= self._most)

    def same(self, subject: CallSubject, pin: Pin | None) -> bytes:
        """What the call has in common with those that are the same one."""
        given, by = subject.given, pin.approved if pin else None
        if given is None:
            raise ValueError("a call that carries nothing yet is the same as none")
        if given.same is None or given.same[0] != by:
            given.same = by, self.tickets.same(subject, given, by)
        return given.same[1]
