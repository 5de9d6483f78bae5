"""From a call to a verdict: what is known at this moment is gathered, and judged without anything happening between.

Rules kept here:
1. A verdict names what it rests on, by generation. It counts only if the store has the same when it is stored, and
   memory when the call is sent.
2. A call that only waits for its definition to be confirmed waits; every other one is refused at once.
"""

from dataclasses import dataclass

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.decisions import Key
from mcpguard.domain.pins import Pin
from mcpguard.domain.reasons import Reason
from mcpguard.domain.upstreams import Upstream
from mcpguard.domain.verdicts import Allow, Deny, Hold, Verdict
from mcpguard.guard.servers import Servers
from mcpguard.policy.judge import Situation, judge
from mcpguard.policy.prefixes import under
from mcpguard.store import generations
from mcpguard.store.backend import Connection


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: who wants to use which capability. `pinned` is the one that covers it, if it is another."""

    caller: Caller
    capability: Capability
    pinned: Capability | None = None

    @property
    def key(self) -> Key:
        """Under which it stands in the approvals of its server."""
        found = self.pinned or self.capability
        return found.kind, found.name


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with everything that it rests on."""

    verdict: Verdict
    rules: tuple[str, ...]
    effect: Effect | None
    upstream: Upstream | None
    pin: Pin | None

    @property
    def reason(self) -> Reason | None:
        """Why not; None for an allowed call."""
        match self.verdict:
            case Allow():
                return None
            case Deny(reason) | Hold(reason):
                return reason

    def still(self, connection: Connection) -> bool:
        """Whether the store has what this rests on."""
        if self.upstream is None:
            return True
        pin = (self.pin.id, self.pin.generation) if self.pin else None
        return generations.are(connection, (self.upstream.id, self.upstream.generation), pin)

    def rests_on_the_same(self, other: "Judged") -> bool:
        return _generations(self) == _generations(other)


class Judging:
    """Judges calls."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    def now(self, subject: Subject) -> Judged:
        """The verdict at this moment."""
        known = self._servers.find(subject.capability.server)
        pin = known.pins.get(subject.key) if known else None
        effect: Effect | None = None
        if known is None:
            situation = Situation(
                subject.caller, subject.capability, None, enabled=False, reachable=False, in_force=False, pin=None
            )
        else:
            own = known.pins.get((subject.capability.kind, subject.capability.name))
            is_resource = subject.capability.kind is CapabilityKind.RESOURCE
            situation = Situation(
                subject.caller,
                subject.capability,
                known.upstream.standing,
                enabled=known.enabled,
                reachable=self._servers.reachable(known),
                in_force=self._servers.in_force(known),
                pin=pin,
                covered=is_resource and under(known.upstream.prefixes, subject.capability.name),
                blocked=own is not None and own.is_blocked,
            )
            effect = situation.effect
        judgement = judge(situation)
        return Judged(judgement.verdict, judgement.rules, effect, known.upstream if known else None, pin)

    async def confirmed(self, subject: Subject) -> Judged:
        """The verdict, as soon as it is known whether the server still offers what was approved."""
        judged = self.now(subject)
        known = self._servers.find(subject.capability.server)
        if judged.reason is not Reason.CAPABILITY_UNCONFIRMED or known is None:
            return judged
        await self._servers.confirmed(known)
        return self.now(subject)

    def once_more(self, subject: Subject, judged: Judged) -> Reason | None:
        """Why a call that was allowed must not be sent now."""
        now = self.now(subject)
        if now.reason is not None:
            return now.reason
        return None if now.rests_on_the_same(judged) else Reason.CAPABILITY_CHANGED

    def meanwhile(self, subject: Subject) -> Reason | None:
        """Why a call that was sent must not go on. Whether its definition is confirmed matters to the next one."""
        reason = self.now(subject).reason
        waits = reason in (Reason.CAPABILITY_UNCONFIRMED, Reason.SERVER_UNREACHABLE)
        return None if waits else reason


def _generations(judged: Judged) -> tuple[tuple[str, int] | None, ...]:
    return tuple((each.id, each.generation) if each else None for each in (judged.upstream, judged.pin))
