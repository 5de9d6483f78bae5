"""What is judged: who wants to use which capability, with what they say and give."""

from dataclasses import dataclass

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.decisions import Key
from mcpguard.policy.arguments.call_arguments import Arguments
from mcpguard.policy.intents import Stated


@dataclass(frozen=True, slots=True)
class CallSubject:
    """`pinned` is the capability that covers the one that is meant, if it is another.

    `stated`: what they say they mean to do, None where that is implied. `given`: what the call carries, None where that
    is not known yet. `kept`: nothing is asked of the server, what it said before is used; so it need not be there.
    `session`: in which it is made. `ticket`: that of the held call whose answer this one has used.
    """

    caller: Caller
    capability: Capability
    pinned: Capability | None = None
    stated: Stated | None = None
    given: Arguments | None = None
    kept: bool = False
    session: str = ""
    ticket: str = ""

    @property
    def key(self) -> Key:
        """Under which it stands in the approvals of its server."""
        found = self.pinned or self.capability
        return found.kind, found.name
