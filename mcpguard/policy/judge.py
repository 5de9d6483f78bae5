"""The judgement of a call: rules asked in order, and the first that objects decides.

Rules kept here:
1. A rule is one question. It objects with a reason, or it does not; none can allow what an earlier one refused.
2. Names are looked at before anything is looked up, so that out of reach and unknown look the same.
3. What was asked, and in which order, goes into the record.
"""

from collections.abc import Callable
from dataclasses import dataclass

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.pins import Pin
from mcpguard.domain.reasons import Reason
from mcpguard.domain.standing import CapabilityStanding, UpstreamStanding
from mcpguard.domain.verdicts import Allow, Deny, Verdict
from mcpguard.policy.scopes import within


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that a verdict rests on. `standing` and `pin` are None where there is no such thing.

    `pin` is what the capability is judged by: itself, or the template that covers it. `covered`: it lies under a URI
    prefix that a reviewer approved. `blocked`: a person has blocked the very resource, whatever else would cover it.
    `reachable`: whether the server is connected; `in_force`: whether what is known of it is what it lists now.
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

    @property
    def effect(self) -> Effect | None:
        """What a person assigned; None where there is nothing that could be called."""
        if self.pin is not None and self.pin.callable:
            return self.pin.effect
        return Effect.READ if self.covered else None


Rule = Callable[[Situation], Reason | None]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and the rules that were asked."""

    verdict: Verdict
    rules: tuple[str, ...]


def judge(situation: Situation) -> Judgement:
    """The verdict about a call in this situation."""
    asked: list[str] = []
    for name, rule in RULES:
        asked.append(name)
        if (reason := rule(situation)) is not None:
            return Judgement(Deny(reason), tuple(asked))
    return Judgement(Allow(), tuple(asked))


def _name_in_scope(situation: Situation) -> Reason | None:
    return None if within(situation.caller.scope, situation.capability) else Reason.CAPABILITY_UNKNOWN


def _known(situation: Situation) -> Reason | None:
    if situation.covered or (situation.pin is not None and situation.pin.present):
        return None
    return Reason.CAPABILITY_UNKNOWN if situation.reachable else Reason.SERVER_UNREACHABLE


def _approved(situation: Situation) -> Reason | None:
    if situation.blocked:
        return Reason.CAPABILITY_BLOCKED
    if situation.covered or situation.pin is None or situation.pin.callable:
        return None
    match situation.pin.standing:
        case CapabilityStanding.BLOCKED:
            return Reason.CAPABILITY_BLOCKED
        case CapabilityStanding.PENDING:
            return Reason.CAPABILITY_PENDING
        case _:
            return Reason.CAPABILITY_CHANGED


def _reachable(situation: Situation) -> Reason | None:
    return None if situation.reachable else Reason.SERVER_UNREACHABLE


def _in_force(situation: Situation) -> Reason | None:
    return None if situation.in_force else Reason.CAPABILITY_UNCONFIRMED


def _standing(situation: Situation) -> Reason | None:
    match situation.standing:
        case UpstreamStanding.APPROVED:
            return None if situation.enabled else Reason.SERVER_DISABLED
        case None:
            return Reason.CAPABILITY_UNKNOWN
        case UpstreamStanding.BLOCKED:
            return Reason.SERVER_BLOCKED
        case _:
            return Reason.SERVER_QUARANTINED


def _effect_in_scope(situation: Situation) -> Reason | None:
    return None if situation.effect in situation.caller.scope.effects else Reason.SCOPE_EFFECT


RULES: tuple[tuple[str, Rule], ...] = (
    ("scope.name", _name_in_scope),
    ("server.standing", _standing),
    ("capability.known", _known),
    ("capability.standing", _approved),
    ("scope.effect", _effect_in_scope),
    ("server.reachable", _reachable),
    ("definition.in_force", _in_force),
)
