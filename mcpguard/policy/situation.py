"""Everything that a verdict rests on, gathered before a rule is asked.

Rules kept here:
1. A rule sees this and nothing else: no clock, no store, no setting.
2. What takes time to find out about arguments is found out when a rule first asks for it: a call that is out of reach
   is refused without anybody having read what it carries.
"""

from dataclasses import dataclass
from typing import Protocol

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.holds import HoldState
from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.policy.intents import Stated


class ArgumentChecks(Protocol):
    """What there is to know about the arguments of a call. Each is worked out once, when it is first asked for."""

    @property
    def too_large(self) -> Detail | None:
        """How they exceed what a call may carry, in bytes or in levels; None if they do not."""

    @property
    def unfit(self) -> Objection | None:
        """Why they are not what the approved definition describes; None if they are."""

    @property
    def secret(self) -> str | None:
        """The rule by which something in them looks like a secret that must not be sent on; None if nothing does."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the rules look at. `standing` and `pin` are None where there is no such thing.

    `pin` is what the capability is judged by: itself, or the template that covers it. `covered`: it lies under a URI
    prefix that a reviewer approved. `blocked`: a person has blocked the very resource, whatever else would cover it.
    `reachable`: whether the server is connected; `starting`: whether it is being connected for the first time, where it
    is not; `in_force`: whether what is known of it is what it lists now.
    `stated`: what the agent says that it means to do; None where that is implied. `arguments`: None where nobody has
    given any yet. `spent`: the budget that is used up, if one is. `demand`: the setting that wants a person to allow
    the call, empty where none does; `answer`: how the same call stands that waits for one, or was answered; `person`:
    why they answered so; `crowded`: no more calls of this caller may wait. `needs_tasks`: it is a tool that can only be
    called as a task.
    """

    caller: Caller
    capability: Capability
    standing: UpstreamStanding | None
    enabled: bool
    reachable: bool
    in_force: bool
    pin: Pin | None
    covered: bool = False
    blocked: bool = False
    stated: Stated | None = None
    arguments: ArgumentChecks | None = None
    spent: str | None = None
    demand: str = ""
    answer: HoldState | None = None
    person: str = ""
    crowded: bool = False
    starting: bool = False
    needs_tasks: bool = False

    @property
    def unconnected(self) -> Reason:
        """Why a call of a server that is not connected cannot be made now."""
        return Reason.SERVER_STARTING if self.starting else Reason.SERVER_UNREACHABLE

    @property
    def effect(self) -> Effect | None:
        """What a person assigned; None where there is nothing that could be called."""
        if self.pin is not None and self.pin.callable:
            return self.pin.effect
        return Effect.READ if self.covered else None
