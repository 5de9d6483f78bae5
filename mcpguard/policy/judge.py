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
from mcpguard.domain.reasons import Reason
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.domain.verdicts import Allow, Deny, Verdict
from mcpguard.policy.scopes import within


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that a verdict rests on. `standing` and `effect` are None where there is no such thing.

    `listed`: whether it is known at all what the server offers.
    """

    caller: Caller
    capability: Capability
    standing: UpstreamStanding | None
    enabled: bool
    listed: bool
    effect: Effect | None


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
    if situation.effect is not None:
        return None
    waited_for = situation.standing is not None and not situation.listed
    return Reason.SERVER_UNREACHABLE if waited_for else Reason.CAPABILITY_UNKNOWN


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
    ("scope.effect", _effect_in_scope),
)
