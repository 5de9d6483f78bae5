"""From a call to a verdict: gathers and judges the state of this moment, with no await in between.

Rules kept here:
1. A verdict names what it rests on, by generation. It counts only if the store has the same generations when the
   verdict is stored, and memory has them when the call is sent.
2. A caller whose token was revoked or has expired is refused before anything is looked up.
3. Judgement waits only for the first connection to the server and for the confirmation of the definition; any other
   objection is returned at once.
4. Budgets are checked when a call arrives, and not again: from then on the call itself counts against them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.objections import NOTHING_MORE, Detail
from mcpguard.domain.calls.verdicts import Deny, Verdict
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.findings import Finding, finding_weight
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.calls.holds.hold_rules import NO_HOLD, HoldRules, HoldView
from mcpguard.guard.calls.request import CallSubject
from mcpguard.guard.calls.uninspected_server import UninspectedServer, describe_uninspected
from mcpguard.guard.servers.servers import Servers
from mcpguard.policy.judge import Situation, judge
from mcpguard.policy.prefixes import is_under_prefix
from mcpguard.policy.scopes import is_in_scope
from mcpguard.policy.shares import Crowded

ExhaustedBudget = Callable[[Caller, Capability], str | None]
"""Names the budget of a caller that leaves no room for one more call, if one does."""
PASSING: Final = frozenset({Reason.CAPABILITY_UNCONFIRMED, Reason.SERVER_STARTING, Reason.SERVER_UNREACHABLE})
"""Reasons that may pass soon, without anybody doing anything."""
MAY_WAIT: Final = frozenset({Reason.SERVER_STARTING, Reason.CAPABILITY_UNCONFIRMED})
"""Reasons that `judge_confirmed` waits for."""
_BECAUSE: Final = {Reason.SERVER_QUARANTINED, Reason.CAPABILITY_PENDING, Reason.CAPABILITY_CHANGED}
"""Reasons for which the findings are told: the reviewer who has to act is shown the same."""


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A verdict with everything that it rests on. `hold`: what the hold rules say of the call."""

    verdict: Verdict
    rules: tuple[str, ...]
    effect: Effect | None
    upstream: Upstream | None
    pin: Pin | None
    detail: Detail = NOTHING_MORE
    hold: HoldView = NO_HOLD

    def rests_on_the_same(self, other: "JudgedCall") -> bool:
        """Tell whether another verdict rests on the same server and approval, in the same generations."""
        (one, its), (two, others) = (self.upstream, self.pin), (other.upstream, other.pin)
        return _is_same(one, two) and _is_same(its, others)


class CallJudge:
    """Judges calls, each at the moment at which it is asked about."""

    def __init__(self, servers: Servers, hold_rules: HoldRules, is_caller: Callable[[Caller], bool]) -> None:
        """`is_caller` says whether somebody may still call: their token was not revoked, and has not expired."""
        self._servers = servers
        self._hold_rules = hold_rules
        self._is_caller = is_caller

    def judge(self, subject: CallSubject, exhausted_budget: ExhaustedBudget | None = None) -> JudgedCall:
        """The verdict at this moment. `exhausted_budget` is not asked of a call that counted already, or that is only
        explained."""
        # A revoked token learns nothing, not even whether the server exists: so this comes before any lookup.
        if not self._is_caller(subject.caller):
            return JudgedCall(Deny(Reason.CALLER_REVOKED), ("caller.holds",), None, None, None)
        capability, named = subject.capability, subject.pinned or subject.capability
        known = self._servers.find(capability.server)
        pin = known.pins.get((named.kind, named.name)) if known else None
        effect: Effect | None = None
        look = NO_HOLD
        if known is None:
            situation = Situation(
                subject.caller, capability, None, enabled=False, reachable=False, in_force=False, pin=None
            )
        else:
            is_kept = subject.page is not None
            # A resource may be covered by an approved template and yet be blocked by itself: then the block wins.
            own = pin if subject.pinned is None else known.pins.get((capability.kind, capability.name))
            connected, listing = (
                (True, known.listing) if is_kept else self._servers.connection_and_listing(capability.server)
            )
            given = subject.given
            if given is not None:
                given.beside = self._servers.checking, known, pin
            covered = capability.kind is CapabilityKind.RESOURCE and is_under_prefix(
                known.upstream.prefixes, capability.name
            )
            effect = pin.effect if pin is not None and pin.callable else Effect.READ if covered else None
            situation = Situation(
                subject.caller,
                capability,
                known.upstream.standing,
                enabled=known.enabled,
                reachable=connected,
                starting=not connected and self._servers.is_starting(known),
                in_force=is_kept or (listing is not None and listing is known.listing),
                pin=pin,
                effect=effect,
                covered=covered,
                blocked=own is not None and own.standing is CapabilityStanding.BLOCKED,
                stated=subject.stated,
                arguments=given,
                spent=exhausted_budget(subject.caller, capability) if exhausted_budget else None,
                needs_tasks=pin is not None and pin.kind is CapabilityKind.TOOL and pin.name in known.index.for_tasks,
            )
            may_hold = self._hold_rules.demands or subject.script_tools is not None
            look = self._hold_rules.look(subject, known.upstream, pin, effect) if may_hold else NO_HOLD
            if look.demand:
                situation = replace(
                    situation, demand=look.demand, answer=look.answer, person=look.person, crowded=look.crowded
                )
        verdict, rules, detail = judge(situation)
        return JudgedCall(verdict, rules, effect, known.upstream if known else None, pin, detail, look)

    async def judge_confirmed(
        self, subject: CallSubject, exhausted_budget: ExhaustedBudget | None, on_wait: Callable[[], None]
    ) -> JudgedCall:
        """The verdict, as soon as it is known whether the server still offers what was approved.

        `on_wait` is called where that has to be waited for.
        """
        judged = self.judge(subject, exhausted_budget)
        known = self._servers.find(subject.capability.server)
        if known is not None and judged.verdict.reason is Reason.SERVER_STARTING:
            on_wait()
            try:
                await self._servers.wait_for_start(known, subject.caller)
            except Crowded:
                return replace(judged, verdict=Deny(Reason.SERVER_BUSY))
            judged = self.judge(subject, exhausted_budget)  # anything may have been revoked while this waited
        if known is not None and judged.verdict.reason is Reason.CAPABILITY_UNCONFIRMED:
            on_wait()
            await self._servers.wait_until_confirmed(known)
            judged = self.judge(subject, exhausted_budget)
        return judged

    def findings_told(self, subject: CallSubject, reason: Reason | None) -> tuple[Finding, ...]:
        """The findings that a caller may be told who is refused for this reason; none of what is out of their scope."""
        known = self._servers.find(subject.capability.server)
        if known is None or reason not in _BECAUSE or not is_in_scope(subject.caller.scope, subject.capability):
            return ()
        server = known.own_findings.findings if reason is Reason.SERVER_QUARANTINED else ()
        return tuple(sorted((*known.findings_in(subject.key).findings, *server), key=finding_weight, reverse=True))

    def uninspected_server(self, subject: CallSubject, reason: Reason | None) -> UninspectedServer | None:
        """What a caller who is refused for this reason may be told of a server that nobody has inspected."""
        known = self._servers.find(subject.capability.server)
        waits = reason is Reason.SERVER_QUARANTINED  # a caller never gets this reason for what is out of scope
        return describe_uninspected(known, subject.caller) if waits and known is not None else None

    def objection_before_sending(self, subject: CallSubject, judged: JudgedCall) -> Reason | None:
        """Why a call that was allowed must not be sent now; None where it may."""
        # Nothing is awaited from here to the permit, so what is judged is what is sent.
        now = self.judge(subject)
        if now.verdict.reason is not None:
            return now.verdict.reason
        if now.upstream is judged.upstream and now.pin is judged.pin:
            return None
        return None if now.rests_on_the_same(judged) else Reason.CAPABILITY_CHANGED

    def objection_while_running(self, subject: CallSubject) -> Reason | None:
        """Why a call that was sent must not go on; None where it may. An unconfirmed definition stops only the next
        call."""
        reason = self.judge(subject).verdict.reason
        return None if reason in PASSING else reason


def _is_same(one: Upstream | Pin | None, other: Upstream | Pin | None) -> bool:
    if one is other:
        return True
    return one is not None and other is not None and (one.id, one.generation) == (other.id, other.generation)
