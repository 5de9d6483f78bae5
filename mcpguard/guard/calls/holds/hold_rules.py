"""The settings that hold calls for approval, and the existing hold of the same call."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mcpguard.codec.demands import Demand, demand
from mcpguard.domain.calls.holds import HoldState
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.calls.holds.open_allowances import OpenAllowance, OpenAllowances
from mcpguard.guard.calls.holds.open_holds import Ticket, Tickets, rests
from mcpguard.policy.demands import matching_demand
from mcpguard.settings.call_groups import Holds

if TYPE_CHECKING:
    from mcpguard.guard.calls.request import CallSubject


@dataclass(frozen=True, slots=True)
class HoldView:
    """What the hold rules say of a call at one moment. `demand`: the phrase of the setting that holds it, empty where
    none does; `ticket`: the hold of the same call, if there is one; `crowded`: no more calls of this caller may wait;
    `allowance`: the one that covers the call, which has no ticket then."""

    demand: str = ""
    ticket: Ticket | None = None
    crowded: bool = False
    allowance: OpenAllowance | None = None

    @property
    def answer(self) -> HoldState | None:
        if self.allowance is not None:
            return HoldState.ALLOWED
        return self.ticket.state if self.ticket is not None else None

    @property
    def person(self) -> str:
        """The reason that the reviewer gave."""
        return self.ticket.hold.why if self.ticket is not None else ""


NO_HOLD: Final = HoldView()
UNNAMED: Final = "script"
"""Stands in place of the phrase of a setting where a script calls what it was not approved for."""


class HoldRules:
    """Looks up which calls need approval, and whether there is a hold for the same call, or an allowance for it."""

    def __init__(self, tickets: Tickets, allowances: OpenAllowances, settings: Holds) -> None:
        self.tickets = tickets
        self.allowances = allowances
        self._most = settings.per_caller
        self.demands: tuple[Demand, ...] = tuple(map(demand, settings.calls))

    def look(self, subject: "CallSubject", upstream: Upstream, pin: Pin | None, effect: Effect | None) -> HoldView:
        """Look up what holds a call. A page of a reply is never held: the call that it answers was allowed.

        A call of a script is held exactly if the script was not approved for that version of the tool.
        """
        if subject.page is not None or subject.ticket:
            return NO_HOLD
        if subject.script_tools is None:
            wants = matching_demand(self.demands, subject.caller, subject.capability, effect)
        else:
            version = subject.script_tools.get((subject.capability.server, subject.capability.name))
            wants = "" if pin is not None and pin.callable and pin.approved == version else UNNAMED
        if not wants or subject.given is None:
            return HoldView(wants)
        basis = rests(upstream, pin)
        ticket = self.tickets.find(self.same_call(subject, pin), basis)
        # A hold of the very same call comes first: one that was denied stays denied.
        if ticket is None and subject.script_tools is None and effect is not Effect.DESTRUCTIVE:
            allowance = self.allowances.find(subject, pin, basis)
            if allowance is not None:
                return HoldView(wants, allowance=allowance)
        return HoldView(wants, ticket, ticket is None and self.tickets.waiting(subject.caller.id) >= self._most)

    def same_call(self, subject: "CallSubject", pin: Pin | None) -> bytes:
        """A digest that is the same for every repetition of the same call."""
        given, by = subject.given, pin.approved if pin else None
        if given is None:
            raise ValueError("a call that carries nothing yet is the same as none")
        # Under another approved definition the same arguments are another call.
        if given.same is None or given.same[0] != by:
            given.same = by, self.tickets.same_call(subject, given, by)
        return given.same[1]
