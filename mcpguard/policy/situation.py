"""Everything that a verdict depends on, gathered before any rule runs.

Rules kept here:
1. A rule sees the situation and nothing else: no clock, no store, no setting.
2. Slow checks of arguments run when a rule first needs them: a call that is out of scope is refused without checking
   its arguments.
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
from mcpguard.policy.intents import StatedIntent


class ArgumentChecks(Protocol):
    """Checks of the arguments of a call. Each runs once, when its result is first needed."""

    @property
    def too_large(self) -> Detail | None:
        """How the arguments exceed the limits of size or depth; None if they do not."""

    @property
    def unfit(self) -> Objection | None:
        """How the arguments differ from the approved definition; None if they do not."""

    @property
    def secret(self) -> str | None:
        """The rule that found a secret that must not be sent on; None if there is none."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that the rules check. `standing` is None for an unknown server, `pin` for an unknown capability.

    `pin`: the pin by which the capability is judged, its own or that of the template that covers it. `effect`: the one
    that a reviewer assigned; None if nothing could be called. `covered`: the URI
    is below a prefix that a reviewer approved. `blocked`: a reviewer has blocked this very resource, whatever else
    covers it. `reachable`: the server is connected; `starting`: it is not, and connects for the first time; `in_force`:
    the known definitions are those that it lists now. `stated`: the declared intent, None where it is implied.
    `arguments`: None if there are none yet. `spent`: the budget that is used up, if any. `demand`: the phrase of the
    setting that holds the call, empty if none does; `answer`: the status of the held call that is the same;
    `person`: the reviewer's reason; `crowded`: no more calls of this caller may be held. `needs_tasks`: the tool can
    only be called as a task.
    """

    caller: Caller
    capability: Capability
    standing: UpstreamStanding | None
    enabled: bool
    reachable: bool
    in_force: bool
    pin: Pin | None
    effect: Effect | None = None
    covered: bool = False
    blocked: bool = False
    stated: StatedIntent | None = None
    arguments: ArgumentChecks | None = None
    spent: str | None = None
    demand: str = ""
    answer: HoldState | None = None
    person: str = ""
    crowded: bool = False
    starting: bool = False
    needs_tasks: bool = False

    @property
    def connection_reason(self) -> Reason:
        """The reason for refusing a call while the server is not connected."""
        return Reason.SERVER_STARTING if self.starting else Reason.SERVER_UNREACHABLE
