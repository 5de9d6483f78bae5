"""What counts as more trust than before, and what does not: the measure of `test_no_way_in`."""

from dataclasses import replace

import pytest

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect
from tests.gateway.trusted import Server, Thing, Trust, wider

READ, WRITE, DESTRUCTIVE = Effect.READ, Effect.WRITE, Effect.DESTRUCTIVE
TOOL = Thing("approved", WRITE, "one")
SERVER = Server("approved", True, "launch", True, frozenset({"roots"}), frozenset({"note://"}), {"tool:x": TOOL})
CALLER = Caller("a", "a", Scope(("web",), ("read_*",), frozenset({READ})), must_declare=True)
TRUST = Trust({"web": SERVER}, {"a": CALLER}, {"authority.shell": "tighten"}, {"listen": "here"})


def of(server: Server) -> Trust:
    return replace(TRUST, servers={"web": server})


def having(thing: Thing) -> Trust:
    return of(replace(SERVER, things={"tool:x": thing}))


def called(caller: Caller) -> Trust:
    return replace(TRUST, callers={"a": caller})


OFF = replace(SERVER, enabled=False, connected=False)
WIDER = [
    (of(replace(OFF, standing="blocked")), of(replace(OFF, standing="quarantined")), "web: standing"),
    (of(replace(OFF, standing="quarantined")), of(OFF), "web: standing"),
    (of(OFF), of(replace(OFF, enabled=True)), "web: enabled"),
    (of(SERVER), of(replace(SERVER, launch="other")), "web: launch"),
    (of(OFF), of(replace(OFF, connected=True)), "web: connected"),
    (of(SERVER), of(replace(SERVER, may_ask=frozenset({"roots", "sampling"}))), "web: may ask"),
    (of(SERVER), of(replace(SERVER, prefixes=frozenset({"note://", "file://"}))), "web: prefixes"),
    (having(Thing("blocked")), having(Thing("pending")), "web: tool:x standing"),
    (having(TOOL), having(replace(TOOL, approved="other")), "web: tool:x definition"),
    (having(TOOL), having(replace(TOOL, effect=READ)), "web: tool:x effect"),
    (called(CALLER), called(replace(CALLER, scope=replace(CALLER.scope, servers=("web", "*")))), "a: servers"),
    (called(CALLER), called(replace(CALLER, scope=replace(CALLER.scope, tools=("read_*", "x")))), "a: tools"),
    (called(CALLER), called(replace(CALLER, scope=replace(CALLER.scope, effects=frozenset(Effect)))), "a: effects"),
    (called(CALLER), called(replace(CALLER, must_declare=False)), "a: need not declare"),
    (called(CALLER), called(replace(CALLER, manage=True)), "a: manage"),
    (TRUST, replace(TRUST, callers={"a": CALLER, "b": CALLER}), "b: a caller"),
    (TRUST, replace(TRUST, confirmed={"authority.shell": "full"}), "authority.shell: confirmed"),
    (TRUST, replace(TRUST, settings={"listen": "there"}), "listen: in force"),
    (TRUST, replace(TRUST, servers={"web": SERVER, "new": Server("approved")}), "new: standing"),
]


BOTH_WAYS = ("launch", "definition", "in force")
"""Another one is more, whichever was first: nobody has approved it."""


@pytest.mark.parametrize(("before", "after", "what"), WIDER, ids=[what for _, _, what in WIDER])
def test_what_is_wider_is_told_and_the_way_back_is_not(before: Trust, after: Trust, what: str) -> None:
    assert wider(before, after) == {what}
    assert wider(after, before) == ({what} if what.endswith(BOTH_WAYS) else frozenset())
    assert wider(after, after) == frozenset()


@pytest.mark.parametrize(
    "after",
    [
        TRUST,
        of(replace(OFF, standing="blocked", things={})),
        of(replace(OFF, standing="quarantined", launch="other")),
        having(replace(TOOL, effect=DESTRUCTIVE)),
        having(Thing("changed", WRITE, "one")),
        replace(TRUST, servers={"web": SERVER, "new": Server(enabled=True, launch="x")}),
        replace(TRUST, servers={}, callers={}),
    ],
    ids=["the same", "blocked", "quarantined", "more harm", "changed", "a new one that waits", "nothing left"],
)
def test_less_and_what_waits_for_a_person_are_not_wider(after: Trust) -> None:
    assert wider(TRUST, after) == frozenset()
