"""The subject of a judgement: caller, requested capability, intent and arguments."""

from dataclasses import dataclass

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.guard.servers.argument_checks import Arguments
from mcpguard.policy.intents import StatedIntent


@dataclass(frozen=True, slots=True)
class CallSubject:
    """A request as the rules see it. `pinned` is the template or capability that covers this one, if it is another.

    `stated`: the declared intent, None where it is implied. `given`: the arguments, None where they are not known yet.
    `kept`: the answer comes from a kept reply, so the server need not be connected. `session`: the session of the call.
    `ticket`: of the hold whose approval this call has used.
    """

    caller: Caller
    capability: Capability
    pinned: Capability | None = None
    stated: StatedIntent | None = None
    given: Arguments | None = None
    kept: bool = False
    session: str = ""
    ticket: str = ""

    @property
    def key(self) -> CapabilityKey:
        """The kind and name under which its server's approvals have it."""
        found = self.pinned or self.capability
        return found.kind, found.name
