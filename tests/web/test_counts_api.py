"""The number of calls over the API: of a span, by a filter in the language of the log, and of every server."""

import pytest

from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.people import Role
from mcpguard.domain.reasons import Reason
from mcpguard.guard.audit.call_counter import CallCounter
from tests.web.conforming import conforms
from tests.web.rest import API, Json, program
from tests.web.reviewing import problem, said
from tests.world import World

pytestmark = pytest.mark.anyio


async def filled(guard: World) -> dict[str, str]:
    await guard.call()
    await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT), Effect.WRITE))
    await CallCounter(guard.now.store, guard.now.ledger, guard.clock).catch_up()
    return await program(guard, Role.AUDITOR)


async def asked(guard: World, by: dict[str, str], path: str, **query: str) -> Json:
    answer = await guard.network.get(API + path, params=query, headers=by)
    conforms(answer)
    found: Json = said(answer)
    return found


async def test_numbers_are_told_of_a_span_and_a_filter(guard: World) -> None:
    by = await filled(guard)
    for query, calls in (("", 2), ("server:files", 2), ("tool:read_file verdict:deny since:7d", 1), ("caller:desk", 0)):
        found = await asked(guard, by, "/counts", q=query)
        assert sum(found["sums"]["outcomes"].values()) == calls, query
        assert sum(sum(bar["sums"]["verdicts"].values()) for bar in found["bars"]) == calls, query
    assert found["refused"] == {}
    assert (await asked(guard, by, "/counts"))["refused"] == {"scope:effect": 1}


async def test_a_caller_is_found_by_its_label(guard: World) -> None:
    operator = guard.operator
    added = (await operator.post(f"{API}/callers", json={"name": "desk", "why": "it calls"})).json()
    called = await operator.post(f"{API}/call", json={"caller": "desk", "name": "notes:nothing"})
    assert called.status_code == 200
    await CallCounter(guard.now.store, guard.now.ledger, guard.clock).catch_up()
    by = await program(guard, Role.AUDITOR)
    found = await asked(guard, by, "/counts", q="caller:desk")
    assert [one["caller"] for one in found["callers"]] == [added["id"]]
    assert found["tools"] == [], "nobody has such a tool"
    assert found["refused"] == {"capability:unknown": 1}


async def test_every_server_is_told(guard: World) -> None:
    by = await filled(guard)
    found = await asked(guard, by, "/counts/servers")
    assert {name: [hour["calls"] for hour in its["hours"]] for name, its in found["servers"].items()} == {"files": [2]}
    assert found["counted"]["behind"] >= 0


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("kind:opened", "not counted by kind"),
        ("-server:files", "without minus"),
        ("server:f*", "wildcards"),
        ("tool:a prompt:b", "give one"),
        ("since:2020-01-01", "shorter span"),
        ("since:1h until:2h", "ends before it begins"),
        ("colour:red", "is not a key"),
    ],
)
async def test_what_is_not_counted_is_a_problem_that_says_what_would_be(
    guard: World, query: str, sentence: str
) -> None:
    by = await program(guard, Role.AUDITOR)
    answer = await guard.network.get(f"{API}/counts", params={"q": query}, headers=by)
    conforms(answer)
    assert sentence in problem(answer, 400)["detail"]
