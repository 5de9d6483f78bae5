"""The judgement of a call: which objection comes first, and what the record says was asked."""

from dataclasses import replace
from itertools import product

import pytest

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.calls.verdicts import Allow, Deny
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect, Fingerprint
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding, UpstreamStanding
from mcpguard.policy.judge import RULES, Situation, judge
from mcpguard.policy.scopes import is_in_scope, is_server_in_scope
from tests.policy.situations import gathered

ECHO = Capability("web", CapabilityKind.TOOL, "echo")
SEEN, OTHER = Fingerprint(f"v1:{'a' * 64}"), Fingerprint(f"v1:{'b' * 64}")
PIN = Pin(
    "pin", "web's", CapabilityKind.TOOL, "echo", SEEN, CapabilityStanding.APPROVED, approved=SEEN, effect=Effect.READ
)
PINS = (
    None,
    *(
        replace(PIN, listed=listed, standing=standing, present=present, approved=approved, effect=effect)
        for listed, standing, present, approved, effect in product(
            [None, SEEN, OTHER], CapabilityStanding, [True, False], [None, SEEN], [None, *Effect]
        )
    ),
)
PENDING = Pin("pin", "web's", CapabilityKind.TOOL, "echo", SEEN)
APPROVED, BLOCKED, QUARANTINED = UpstreamStanding.APPROVED, UpstreamStanding.BLOCKED, UpstreamStanding.QUARANTINED


def scope(servers: str = "*", tools: str = "*", *effects: Effect) -> Scope:
    return Scope(tuple(servers.split()), tuple(tools.split()), frozenset(effects or Effect))


def situation(
    within_: Scope | None = None,
    standing: UpstreamStanding | None = APPROVED,
    effect: Effect | None = Effect.READ,
    *,
    enabled: bool = True,
    reachable: bool = True,
    in_force: bool = True,
    capability: Capability = ECHO,
) -> Situation:
    pin = None if effect is None else replace(PIN, effect=effect)
    caller = Caller("a", "a", within_ or scope())
    return Situation(caller, capability, standing, enabled, reachable, in_force, pin, effect)


def on(pin: Pin, **more: bool) -> Situation:
    """A call of a capability that stands so."""
    found = replace(situation(), pin=pin, covered=more.get("covered", False), blocked=more.get("blocked", False))
    return gathered(found)


def reason(of: Situation) -> Reason | None:
    match judge(of)[0]:
        case Deny(why):
            return why
        case Allow():
            return None
        case held:
            raise AssertionError(held)


def test_a_call_to_which_nothing_objects_is_allowed_after_every_question() -> None:
    verdict, rules, _ = judge(situation())
    assert verdict == Allow()
    assert rules == tuple(name for name, _ in RULES)


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
        (situation(effect=None, reachable=False), Reason.SERVER_UNREACHABLE, 3),
        (on(PENDING), Reason.CAPABILITY_PENDING, 4),
        (on(replace(PIN, listed=OTHER, standing=CapabilityStanding.CHANGED)), Reason.CAPABILITY_CHANGED, 4),
        (on(replace(PIN, listed=OTHER)), Reason.CAPABILITY_CHANGED, 4),
        (on(replace(PIN, standing=CapabilityStanding.BLOCKED)), Reason.CAPABILITY_BLOCKED, 4),
        (on(PIN, blocked=True), Reason.CAPABILITY_BLOCKED, 4),
        (on(PENDING, covered=True, blocked=True), Reason.CAPABILITY_BLOCKED, 4),
        (on(replace(PIN, present=False)), Reason.CAPABILITY_UNKNOWN, 3),
        (situation(scope("*", "*", Effect.READ), effect=Effect.WRITE), Reason.SCOPE_EFFECT, 5),
        (situation(scope("*", "*", Effect.WRITE), effect=Effect.READ), Reason.SCOPE_EFFECT, 5),
        (situation(reachable=False), Reason.SERVER_UNREACHABLE, 6),
        (situation(in_force=False), Reason.CAPABILITY_UNCONFIRMED, 7),
        (situation(reachable=False, in_force=False), Reason.SERVER_UNREACHABLE, 6),
    ],
)
def test_the_first_objection_decides(of: Situation, why: Reason, asked: int) -> None:
    assert reason(of) is why
    assert len(judge(of)[1]) == asked


def test_out_of_reach_looks_like_unknown_whatever_stands_behind_it() -> None:
    for standing, effect, listed in product([None, *UpstreamStanding], [None, *Effect], [True, False]):
        of = situation(scope("other"), standing, effect, reachable=listed)
        assert reason(of) is Reason.CAPABILITY_UNKNOWN
        assert judge(of)[1] == ("scope.name",)


def test_only_one_situation_is_allowed() -> None:
    """Whatever is unknown or missing is refused: there is no answer that a hole in the knowledge lets through."""
    flags = product([True, False], repeat=3)
    for standing, pin, (enabled, reachable, in_force) in product([None, *UpstreamStanding], PINS, flags):
        of = situation(scope("*", "*", Effect.READ), standing, enabled=enabled, reachable=reachable, in_force=in_force)
        right = standing is APPROVED and pin == PIN and enabled and reachable and in_force
        assert (reason(gathered(replace(of, pin=pin))) is None) == right


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
    assert is_server_in_scope(scope(patterns), name) is reached
    assert is_in_scope(scope("*", patterns), Capability("web", CapabilityKind.TOOL, name)) is reached


def test_an_empty_scope_reaches_nothing() -> None:
    assert not is_server_in_scope(Scope(), "web")
    assert not is_server_in_scope(Scope(), "")
    assert not is_in_scope(Scope(("*",), ()), ECHO)
