"""Situations in which a call may be: any that there can be, and the one to which nothing objects."""

from dataclasses import dataclass, replace
from typing import Final

from hypothesis import strategies as st

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.calls.calls import Intent, Sensitivity
from mcpguard.domain.calls.holds import HoldState
from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect, Fingerprint
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding, UpstreamStanding
from mcpguard.policy.intents import StatedIntent
from mcpguard.policy.situation import Situation

ECHO: Final = Capability("web", CapabilityKind.TOOL, "echo")
EVERYTHING: Final = Scope(("*",), ("*",), frozenset(Effect))
SEEN, OTHER = Fingerprint(f"v1:{'a' * 64}"), Fingerprint(f"v1:{'b' * 64}")
PIN: Final = Pin(
    "pin", "web's", CapabilityKind.TOOL, "echo", SEEN, CapabilityStanding.APPROVED, approved=SEEN, effect=Effect.READ
)


@dataclass(frozen=True)
class Carried:
    """Arguments of which everything is known."""

    too_large: Detail | None = None
    unfit: Objection | None = None
    secret: str | None = None


FINE: Final = Situation(
    Caller("a", "an agent", EVERYTHING), ECHO, UpstreamStanding.APPROVED, True, True, True, PIN, Effect.READ
)


def declared(operation: Effect, wrong: Reason | None = None) -> StatedIntent:
    return StatedIntent(Intent(operation, declared=True), wrong)


def gathered(situation: Situation) -> Situation:
    """As the guard gathers it: with the effect that follows from the pin and the prefix."""
    pin = situation.pin
    covered = Effect.READ if situation.covered else None
    return replace(situation, effect=pin.effect if pin is not None and pin.callable else covered)


def with_effect(effect: Effect) -> Situation:
    return gathered(replace(FINE, pin=replace(PIN, effect=effect)))


PINS = st.builds(
    replace,
    st.just(PIN),
    listed=st.sampled_from([None, SEEN, OTHER]),
    standing=st.sampled_from(CapabilityStanding),
    present=st.booleans(),
    approved=st.sampled_from([None, SEEN]),
    effect=st.sampled_from([None, *Effect]),
)
SCOPES = st.builds(
    Scope,
    st.sampled_from([(), ("web",), ("other",), ("*",)]),
    st.sampled_from([(), ("echo",), ("e*",), ("x",)]),
    st.frozensets(st.sampled_from(Effect)),
)
STATED = st.none() | st.builds(
    StatedIntent,
    st.builds(Intent, st.sampled_from(Effect), st.just(True), st.sampled_from(Sensitivity)),
    st.sampled_from([None, Reason.INTENT_INVALID, Reason.INTENT_MISMATCH]),
)
ARGUMENTS = st.none() | st.builds(
    Carried,
    st.sampled_from([None, Detail(path="$", expected="less")]),
    st.sampled_from([None, Objection(Reason.ARGUMENTS_INVALID), Objection(Reason.ARGUMENTS_UNVERIFIABLE)]),
    st.sampled_from([None, "github-pat"]),
)
SITUATIONS = st.builds(
    Situation,
    st.builds(Caller, st.just("a"), st.just("a"), SCOPES, st.booleans(), st.booleans()),
    st.just(ECHO),
    st.sampled_from([None, *UpstreamStanding]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.none() | PINS,
    covered=st.booleans(),
    blocked=st.booleans(),
    stated=STATED,
    arguments=ARGUMENTS,
    spent=st.sampled_from([None, "calls at once"]),
    demand=st.sampled_from(["", "any"]),
    answer=st.sampled_from([None, HoldState.WAITING, HoldState.ALLOWED, HoldState.DENIED]),
    crowded=st.booleans(),
    starting=st.booleans(),
    needs_tasks=st.booleans(),
).map(gathered)
"""Anything, also what cannot come to pass together."""
