"""Calls as agents make them, with everything that a verdict rests on.

Cheap to make, because making them is timed too.
"""

from hashlib import sha256

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.bodies import Body, DigestedBody, KeptBody
from mcpguard.domain.calls.calls import Face, Intent, Sensitivity
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Allow
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect, Fingerprint

_CALLERS = [Caller(f"0198c0de-0000-7000-8000-{number:012d}", f"agent {number}") for number in range(20)]
_TOOLS = [
    (
        Capability(server, CapabilityKind.TOOL, tool),
        Fingerprint("v1:" + sha256(f"{server} {tool}".encode()).hexdigest()),
    )
    for server in ("files", "mail", "calendar", "tickets", "warehouse")
    for tool in ("list_all", "search", "read_one", "write_one", "update_many", "delete_one")
]
_REASONS = [
    "look up the open invoices of the customer before answering the question about the last delivery",
    "read the configuration that the user asked about",
    "find out whether anybody has reported the same problem in the last two weeks, and summarise what was answered",
    "clean up the branch that was merged yesterday, as agreed in the ticket",
]
_INTENTS = {
    effect: [Intent(effect, declared=True, sensitivity=Sensitivity.INTERNAL, reason=reason) for reason in _REASONS]
    for effect in Effect
}
_DIGESTED = DigestedBody(412, "hmac-sha256:" + sha256(b"arguments").hexdigest())
_ANSWERED = Outcome.answer(DigestedBody(5230, "hmac-sha256:" + sha256(b"reply").hexdigest()))
_TEXT = b'{"path":"/srv/projects/warehouse/reports/2026-10.csv","lines":[1,400],"note":"\xc3\xa9t\xc3\xa9"}, ' * 20


def opening(entry: str, number: int, effect: Effect, arguments: Body = _DIGESTED) -> Opening:
    """The call with this number."""
    capability, fingerprint = _TOOLS[number % len(_TOOLS)]
    return Opening(
        entry=entry,
        caller=_CALLERS[number % len(_CALLERS)],
        capability=capability,
        intent=_INTENTS[effect][number % len(_REASONS)],
        face=Face.GUARD,
        verdict=Allow(),
        effect=effect,
        fingerprint=fingerprint,
        rules=("allow-internal-reads", "log-everything"),
        settings="4f0c2a9d5be17c36",
        client="an-agent/1.4.2",
        trace="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        arguments=arguments,
    )


def answered() -> Outcome:
    """How nearly all calls end."""
    return _ANSWERED


def answered_with(body: Body) -> Outcome:
    """The same, where this much of the reply is recorded."""
    return Outcome.answer(body)


def kept(number: int) -> KeptBody:
    """A body of 100 to 1,900 bytes that is kept."""
    return KeptBody(_TEXT[: 100 + number * 37 % 1800])
