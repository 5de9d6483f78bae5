"""The judgement of a call: which objection comes first, and what the record says was asked."""

from itertools import product

import pytest

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.reasons import Reason
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.domain.verdicts import Allow, Deny
from mcpguard.policy.judge import RULES, Situation, judge
from mcpguard.policy.scopes import reaches, within

ECHO = Capability("web", CapabilityKind.TOOL, "echo")
APPROVED, BLOCKED, QUARANTINED = UpstreamStanding.APPROVED, UpstreamStanding.BLOCKED, UpstreamStanding.QUARANTINED


def scope(servers: str = "*", tools: str = "*", *effects: Effect) -> Scope:
    return Scope(tuple(servers.split()), tuple(tools.split()), frozenset(effects or Effect))


def situation(
    within_: Scope | None = None,
    standing: UpstreamStanding | None = APPROVED,
    effect: Effect | None = Effect.READ,
    *,
    enabled: bool = True,
    listed: bool = True,
    capability: Capability = ECHO,
) -> Situation:
    return SITUATION


def reason(of: Situation) -> Reason | None:
    match judge(of).verdict:
        case Deny(why):
            return why
        case Allow():
            return None
        case held:
            raise AssertionError(held)


def test_a_call_to_which_nothing_objects_is_allowed_after_every_question() -> None:
    judgement = judge(situation())
    assert judgement.verdict == Allow()
    assert judgement.rules == tuple(name for name, _ in RULES)


@pytest.mark.parametrize(
    ("of", "why", "asked"),
    [
        (situation(Scope()), Reason.CAPABILITY_UNKNOWN, 1),
        (situation(scope("other")), Reason.CAPABILITY_UNKNOWN, 1),
        (situation(scope("*", "read_*")), Reason.CAPABILITY_UNKNOWN, 1),
        (situation(standing=None), Reason.CAPABILITY_UNKNOWN, 2),
        (situation(standing=BLOCKED), Reason.SERVER_BLOCKED, 2),
        (situation(standing=QUARANTINED), Reason.SERVER_QUARANTINED, 2),
        (situation(enabled=False), Reason.SERVER_DISABLED, 2),
        (situation(standing=BLOCKED, enabled=False), Reason.SERVER_BLOCKED, 2),
        (situation(effect=None), Reason.CAPABILITY_UNKNOWN, 3),
        (situation(effect=None, listed=False), Reason.SERVER_UNREACHABLE, 3),
        (situation(scope("*", "*", Effect.READ), effect=Effect.WRITE), Reason.SCOPE_EFFECT, 4),
        (situation(scope("*", "*", Effect.WRITE), effect=Effect.READ), Reason.SCOPE_EFFECT, 4),
    ],
)
def test_the_first_objection_decides(of: Situation, why: Reason, asked: int) -> None:
    assert reason(of) is why
    assert len(judge(of).rules) == asked


def test_out_of_reach_looks_like_unknown_whatever_stands_behind_it() -> None:
    for standing, effect, listed in product([None, *UpstreamStanding], [None, *Effect], [True, False]):
        of = situation(scope("other"), standing, effect, listed=listed)
        assert reason(of) is Reason.CAPABILITY_UNKNOWN
        assert judge(of).rules == ("scope.name",)


def test_only_one_situation_is_allowed() -> None:
    """Whatever is unknown or missing is refused: there is no answer that a hole in the knowledge lets through."""
    for standing, effect, listed in product([None, *UpstreamStanding], [None, *Effect], [True, False]):
        allowed = reason(situation(scope("*", "*", Effect.READ), standing, effect, listed=listed)) is None
        assert allowed == (standing is APPROVED and effect is Effect.READ)


@pytest.mark.parametrize(
    ("patterns", "name", "reached"),
    [
        ("*", "anything", True),
        ("web", "web", True),
        ("web", "web2", False),
        ("web", "WEB", False),
        ("web*", "web2", True),
        ("w?b", "web", True),
        ("[!w]*", "web", False),
        ("a b", "b", True),
        ("*", "", True),
        ("?*", "", False),
        ("web", "web\n", False),
    ],
)
def test_patterns_are_matched_whole_and_exactly(patterns: str, name: str, reached: bool) -> None:
    assert reaches(scope(patterns), name) is reached
    assert within(scope("*", patterns), Capability("web", CapabilityKind.TOOL, name)) is reached


def test_an_empty_scope_reaches_nothing() -> None:
    assert not reaches(Scope(), "web")
    assert not reaches(Scope(), "")
    assert not within(Scope(("*",), ()), ECHO)
