"""From a call to a verdict: what is known at this moment is gathered, and judged without anything happening between.

Rules kept here:
1. A verdict names what it rests on, by generation. It counts only if the store has the same when it is stored, and
   memory when the call is sent.
2. Whoever was revoked, or whose time is over, is refused before anything is looked at.
3. A call waits for the first connection to its server, and for its definition to be confirmed; every other one is
   refused at once.
4. Budgets are asked about when a call comes, and not again: it is then one of those that count.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.objections import NOTHING_MORE, Detail
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold, Verdict
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.findings import Finding, weight
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.calls.hold_rules import NOBODY, Demanding, HoldView
from mcpguard.guard.calls.subject import CallSubject
from mcpguard.guard.calls.unseen_server import Uninspected, uninspected
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.servers import Servers
from mcpguard.policy.judge import Situation, judge
from mcpguard.policy.prefixes import under
from mcpguard.policy.scopes import within
from mcpguard.policy.shares import Crowded
from mcpguard.policy.tasks import needs_tasks
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import generations

Spent = Callable[[Caller, Capability], str | None]
"""Which budget is used up."""
PASSING: Final = frozenset({Reason.CAPABILITY_UNCONFIRMED, Reason.SERVER_STARTING, Reason.SERVER_UNREACHABLE})
"""What may be over soon without anybody doing anything."""
_BECAUSE: Final = {Reason.SERVER_QUARANTINED, Reason.CAPABILITY_PENDING, Reason.CAPABILITY_CHANGED}
"""What waits for a person, who may have been told the same."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with everything that it rests on. `look`: what a person has to do with the call."""

    verdict: Verdict
    rules: tuple[str, ...]
    effect: Effect | None
    upstream: Upstream | None
    pin: Pin | None
    detail: Detail = NOTHING_MORE
    look: HoldView = NOBODY

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

    def __init__(
        self, servers: Servers, demanding: Demanding, holds: Callable[[Caller], bool] = lambda _: True
    ) -> None:
        """`holds`: whether whoever calls is a caller still."""
        self._servers = servers
        self._demanding = demanding
        self._holds = holds

    def now(self, subject: CallSubject, spent: str | None = None) -> Judged:
        """The verdict at this moment."""
        if not self._holds(subject.caller):
            return Judged(Deny(Reason.CALLER_REVOKED), ("caller.holds",), None, None, None)
        known = self._servers.find(subject.capability.server)
        pin = known.pins.get(subject.key) if known else None
        effect: Effect | None = None
        look = NOBODY
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
                reachable=subject.kept or self._servers.reachable(known),
                starting=self._servers.starting(known),
                in_force=subject.kept or self._servers.in_force(known),
                pin=pin,
                covered=is_resource and under(known.upstream.prefixes, subject.capability.name),
                blocked=own is not None and own.is_blocked,
                stated=subject.stated,
                arguments=self._servers.checking.look(subject.given, known, pin) if subject.given else None,
                spent=spent,
                needs_tasks=_needs_tasks(known, pin),
            )
            effect = situation.effect
            look = self._demanding.look(subject, known.upstream, pin, effect)
            if look.demand:
                situation = replace(
                    situation, demand=look.demand, answer=look.answer, person=look.person, crowded=look.crowded
                )
        judgement = judge(situation)
        upstream = known.upstream if known else None
        return Judged(judgement.verdict, judgement.rules, effect, upstream, pin, judgement.detail, look)

    async def confirmed(
        self, subject: CallSubject, spent: Spent = lambda *_: None, waits: Callable[[], None] = lambda: None
    ) -> Judged:
        """The verdict, as soon as it is known whether the server still offers what was approved.

        `waits` hears where that has to be waited for.
        """
        judged = self.now(subject, spent(subject.caller, subject.capability))
        known = self._servers.find(subject.capability.server)
        if known is not None and judged.reason is Reason.SERVER_STARTING:
            waits()
            try:
                await self._servers.started(known, subject.caller)
            except Crowded:
                return replace(judged, verdict=Deny(Reason.SERVER_BUSY))
            judged = self.now(subject, spent(subject.caller, subject.capability))
        if known is not None and judged.reason is Reason.CAPABILITY_UNCONFIRMED:
            waits()
            await self._servers.confirmed(known)
            judged = self.now(subject, spent(subject.caller, subject.capability))
        return judged

    def found(self, subject: CallSubject, reason: Reason | None) -> tuple[Finding, ...]:
        """What a caller who is refused for this reason may be told was found, in what lies within their reach."""
        known = self._servers.find(subject.capability.server)
        if known is None or reason not in _BECAUSE or not within(subject.caller.scope, subject.capability):
            return ()
        server = known.told.findings if reason is Reason.SERVER_QUARANTINED else ()
        return tuple(sorted((*known.inspected(subject.key).findings, *server), key=weight, reverse=True))

    def unseen(self, subject: CallSubject, reason: Reason | None) -> Uninspected | None:
        """What a caller who is refused for this reason may be told of the server, where nobody has inspected it."""
        known = self._servers.find(subject.capability.server)
        waits = reason is Reason.SERVER_QUARANTINED  # which nobody is told of what they do not reach
        return uninspected(known, subject.caller) if waits and known is not None else None

    def once_more(self, subject: CallSubject, judged: Judged) -> Reason | None:
        """Why a call that was allowed must not be sent now."""
        now = self.now(subject)
        if now.reason is not None:
            return now.reason
        return None if now.rests_on_the_same(judged) else Reason.CAPABILITY_CHANGED

    def meanwhile(self, subject: CallSubject) -> Reason | None:
        """Why a call that was sent must not go on. Whether its definition is confirmed matters to the next one."""
        reason = self.now(subject).reason
        return None if reason in PASSING else reason


def _needs_tasks(known: ServerState, pin: Pin | None) -> bool:
    """By the definition that its server listed last."""
    if pin is None or pin.kind is not CapabilityKind.TOOL:
        return False
    definition = known.definition(pin.kind, pin.name)
    return definition is not None and needs_tasks(definition)


def _generations(judged: Judged) -> tuple[tuple[str, int] | None, ...]:
    return tuple((each.id, each.generation) if each else None for each in (judged.upstream, judged.pin))
