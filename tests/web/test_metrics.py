"""The metrics move as calls happen, tell nothing that others wrote, and cannot be made to grow."""

from collections import Counter
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.calls import Face, Intent
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening, RecordKind
from mcpguard.domain.calls.verdicts import Allow
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.people import Role
from mcpguard.domain.reasons import Reason
from mcpguard.domain.screening import Screening, ScreeningResult
from mcpguard.guard.traffic.counts import BUCKETS, MOST_RULES, MOST_SERIES, MOST_SERVERS, NONE, CallCounts, Durations
from mcpguard.guard.traffic.events import CallStage, EndedCall
from mcpguard.guard.traffic.tallies import MOST_WHYS, OTHER
from mcpguard.web.metrics.names import METRICS
from tests import people
from tests.attacks.sandboxed import works
from tests.gate import Gate
from tests.gateway.abandoning import Asking, abandoned, begun, waiting
from tests.gateway.guard_face import agent, answer
from tests.gateway.holding import HELD, Making, allowed, held, until
from tests.gateway.speaking import guarded
from tests.review import DECISION
from tests.simulators.script import Script
from tests.web.measured import OPEN, PARSERS, Measured, labels, measured, samples
from tests.web.rest import program
from tests.world import World

pytestmark = pytest.mark.anyio
CALLS = "mcpguard_calls_total"
FINE = {"server": "web", "effect": "read", "verdict": "allow", "outcome": "answered", "reason": NONE}
HOSTILE = ['a"b', "a\nb 1", "a\\", "{}", "a,b", "é\u202e", "# HELP x", "mcpguard_calls_total{} 7", "x" * 500]


async def counted_as_recorded(guard: Gate, seen: Measured) -> set[tuple[str, str]]:
    """The metrics say what the ledger says. How calls ended, and why."""
    entries = guard.entries()
    expected: Counter[frozenset[tuple[str, str]]] = Counter()
    for each in entries:
        known = guard.now.guard.servers.knows(each["server"])
        expected[
            labels(
                server=each["server"] if known else OTHER,
                effect=each.get("effect", NONE),
                verdict=each["verdict"],
                outcome=each["outcome"],
                reason=closed_for(guard, each["entry"]),
            )
        ] += 1
    found = {key: value for (name, key), value in (await seen.read()).items() if name == CALLS}
    assert found == dict(expected)
    return {(each["verdict"], each["outcome"]) for each in entries}


def closed_for(guard: Gate, entry: str) -> str:
    (closing,) = (each for each in guard.said() if each["kind"] == "closed" and each["entry"] == entry)
    return str(closing.get("reason", NONE))


async def test_every_call_is_counted_as_it_is_recorded(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard, anyio.create_task_group() as tasks:
        client, seen = guard.client(), await measured(guard)
        assert await seen.moved(CALLS) == {}
        await client.call("web::add", {"a": 1, "b": 2})
        assert await seen.moved(CALLS) == {labels(**FINE): 1}
        await client.call("web::fail", {"message": "no"})
        assert [dict(key)["outcome"] for key in await seen.moved(CALLS)] == ["failed"]
        for name in ("web::nothing", "nobody::nothing"):
            await client.call(name, {})
        refused = {"effect": NONE, "verdict": "deny", "outcome": "refused", "reason": "capability:unknown"}
        assert await seen.moved(CALLS) == {labels(**FINE | refused): 1, labels(**FINE | refused | {"server": OTHER}): 1}
        making = Making(client)
        tasks.start_soon(making)
        await held(guard)
        assert (await seen.moved("mcpguard_held_calls")) == {labels(): 1}
        assert not [each for each in seen.before if each[0] == CALLS and ("verdict", "hold") in each[1]]
        await allowed(guard)
        await making.done()
        assert (await seen.moved("mcpguard_held_calls")) == {labels(): -1}
        again = Making(client)
        tasks.start_soon(again)
        await held(guard)
        again.given_up.cancel()
        await until(lambda: guard.now.guard.held.waiting == 0)
        await until(lambda: not guard.now.ledger.open_entries)
        ways = await counted_as_recorded(guard, seen)
        assert ways == {
            ("allow", "answered"),
            ("allow", "failed"),
            ("deny", "refused"),
            ("hold", "answered"),
            ("hold", "cancelled"),
        }


async def test_a_call_that_was_lost_or_taken_back_at_the_server_is_counted_too(tmp_path: Path) -> None:
    script = waiting()
    async with guarded(tmp_path, script) as guard, anyio.create_task_group() as tasks:
        seen = await measured(guard)
        asking = Asking(guard.client(), "tools/call", {"name": "web::echo"})
        tasks.start_soon(asking)
        await begun(script, 0)
        assert (await seen.read())["mcpguard_ledger_open_entries", labels()] == 1
        await guard.clock.advance(7)
        asking.given_up.cancel()
        await abandoned(script, 1)
        await until(lambda: not guard.now.ledger.open_entries)
        (taken_back,) = (dict(key) for key in await seen.moved(CALLS))
        assert taken_back["outcome"] == "cancelled"
        assert seen.before["mcpguard_call_seconds_sum", labels(server="web")] == 7
        assert seen.before["mcpguard_call_own_seconds_sum", labels(effect="read")] == 0
        lost = Asking(guard.client(), "tools/call", {"name": "web::echo"})
        tasks.start_soon(lost)
        await begun(script, 1)
        await guard.now.guard.decisions.quarantine("web", DECISION)
        await until(lambda: not guard.now.ledger.open_entries)
        assert await counted_as_recorded(guard, seen) == {("allow", "cancelled"), ("allow", "unknown")}
        tasks.cancel_scope.cancel()


async def test_what_a_person_takes_is_not_the_guards_own_time(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **HELD) as guard, anyio.create_task_group() as tasks:
        seen, making = await measured(guard), Making(guard.client())
        tasks.start_soon(making)
        await held(guard)
        await guard.clock.advance(12)
        await allowed(guard)
        await making.done()
        now = await seen.read()
        assert now["mcpguard_call_seconds_sum", labels(server="web")] == 12
        assert now["mcpguard_call_own_seconds_sum", labels(effect="read")] == 0
        slow = {dict(key)["le"]: value for (name, key), value in now.items() if name == "mcpguard_call_seconds_bucket"}
        assert (slow["10.0"], slow["30.0"], slow["+Inf"]) == (0, 1, 1)


async def test_labels_stay_bounded_whatever_an_agent_calls(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), limits__page=5) as guard:
        client, seen = guard.client(), await measured(guard)
        for number in range(60):
            await client.call(f"server{number}::tool{number}", {})
            await client.call(f"web::tool{number}", {})
        for text in HOSTILE:
            await client.call(f"web::{text}", {})
            await client.call(f"{text}::x", {})
        moved = await seen.moved(CALLS)
        assert {dict(key)["server"] for key in moved} == {"web", OTHER}
        assert len(moved) == 2
        told = "".join(f"{name}{sorted(key)}" for name, key in seen.before)
        assert not [text for text in [*HOSTILE, "tool1", "server1"] if text in told]


async def test_both_forms_say_the_same_and_every_metric_is_there(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        await guard.client().call("web::echo", {})
        await guard.http.get(guard.where.url + "/metrics", headers=people.bears("mcpo_x"))
        seen = await measured(guard)
        text, is_open = [await seen.read(kind) for kind in PARSERS]
        ours = {name for name, _ in text if name.startswith("mcpguard_")}
        assert ours == {name for name, _ in is_open if name.startswith("mcpguard_")}
        for metric in METRICS:
            there = {name for name in ours if name in (metric.exposed_name, f"{metric.exposed_name}_bucket")}
            assert there or metric.name in (
                "mcpguard_findings",
                "mcpguard_definition_findings",
                "mcpguard_sign_ins_refused",
                "mcpguard_programs",
                "mcpguard_program_seconds",
                "mcpguard_tls_certificate_days",
                "mcpguard_tls_certificate_kept",
            )
        for name in ("process_start_time_seconds", "python_info"):
            assert [key for key in text if key[0] == name]
        assert text["mcpguard_ready", labels()] == 1
        assert text["mcpguard_ledger_records", labels()] == len(guard.said())
        assert text["mcpguard_build_info", labels(version=guard.now.guard.facts.version)] == 1
        assert text["mcpguard_server_state", labels(server="web", state="ready")] == 1
        assert text["mcpguard_server_state", labels(server="web", state="error")] == 0
        assert text["mcpguard_servers", labels(standing="approved")] == 1
        assert text["mcpguard_turned_away_total", labels(door="network", why="credential")] == 1


async def test_a_server_that_is_gone_is_forgotten(guard: World) -> None:
    counting = guard.now.guard.counting
    there = {"a", "b"}
    counting._exists = there.__contains__
    for name in ("a", "b", "a"):
        counting.count_call(ended(name))
    there.remove("a")
    text = (await guard.operator.get("/metrics")).text
    assert 'server="b"' in text
    assert 'server="a"' not in text
    there.add("a")
    counting.count_call(ended("a"))
    again = samples((await guard.operator.get("/metrics")).text, "text/plain")
    assert again[CALLS, labels(**FINE | {"server": "a"})] == 1, "it begins anew"


def ended(server: str, effect: Effect | None = Effect.READ, outcome: Outcome | None = None, **more: float) -> EndedCall:
    capability = Capability(server, CapabilityKind.TOOL, "t")
    opening = Opening(
        "1", Caller("c", "c"), capability, Intent(Effect.READ, declared=False), Face.GUARD, Allow(), effect=effect
    )
    took, own = more.get("took", 0.0), more.get("own", 0.0)
    return EndedCall(opening, outcome or Outcome.answer(), None, "", 0, took, own, ((CallStage.JUDGING, 0.0),))


def test_servers_beyond_the_bound_are_counted_together() -> None:
    counting = CallCounts(lambda _: True)
    for number in range(MOST_SERVERS + 50):
        counting.count_call(ended(f"s{number}"))
    assert len(counting.whole) == MOST_SERVERS + 1
    assert sum(count for series, count in counting.calls.items() if series.server == OTHER) == 50
    assert sum(counting.calls.values()) == MOST_SERVERS + 50


def test_series_beyond_the_bound_are_counted_together() -> None:
    counting = CallCounts(lambda _: True)
    for number in range(MOST_SERVERS):
        for reason in Reason:
            counting.count_call(ended(f"s{number}", outcome=Outcome.refusal(reason)))
    beyond = {series for series in counting.calls if series.server == OTHER}
    assert len(counting.calls) == MOST_SERIES + len(beyond)
    assert 0 < len(beyond) <= len(Reason)
    assert sum(counting.calls.values()) == MOST_SERVERS * len(Reason)


async def test_rules_and_whys_beyond_the_bound_are_counted_together(guard: World) -> None:
    counting, tallies = guard.now.guard.counting, guard.now.guard.tallies
    counting.count_findings("replies", (f"r{number}" for number in range(MOST_RULES + 7)))
    assert len(counting.found) == MOST_RULES + 1
    assert counting.found["replies", OTHER] == 7
    for number in range(MOST_WHYS + 7):
        tallies.count_refused(door="network", why=str(number))
    assert tallies.since_start[RecordKind.TURNED_AWAY, OTHER, OTHER] == 7


async def test_what_was_found_is_counted_by_rule(guard: World) -> None:
    counting = guard.now.guard.counting
    screened = replace(Outcome.answer(), screened=ScreeningResult(Screening.NOTE, ("quiet.traces", "a.b")))
    counting.count_call(ended("x", outcome=screened))
    told = samples((await guard.operator.get("/metrics")).text, "text/plain")
    assert told["mcpguard_findings_total", labels(where="replies", rule="quiet.traces")] == 1
    assert told["mcpguard_findings_total", labels(where="replies", rule="a.b")] == 1


@given(st.lists(st.floats(0, 1000), max_size=50))
def test_a_histogram_has_everything_once(seconds: list[float]) -> None:
    durations = Durations()
    for each in seconds:
        durations.add(each)
    assert sum(durations.counts) == len(seconds)
    for bound, below in zip(BUCKETS, accumulate(durations.counts), strict=False):
        assert below == sum(each <= bound for each in seconds)


async def test_only_whoever_may_look_reads_them(guard: World) -> None:
    agent = (await guard.operator.post("/api/v1/callers", json={"name": "agent", "manage": True})).json()["token"]
    nobody: list[dict[str, str]] = [
        {},
        people.bears(agent),
        people.bears("mcpo_wrong"),
        {"authorization": "Basic YTpi"},
    ]
    for headers in nobody:
        answer = await guard.network.get("/metrics", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith('Bearer realm="mcpguard"')
        assert "mcpguard_" not in answer.text
    for role in Role:
        answer = await guard.network.get("/metrics", headers=await program(guard, role, f"ci-{role}"))
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
    await people.user(guard, "ada", Role.VIEWER)
    signed_in = people.shows(await people.cookie(guard, "ada"))
    assert (await guard.network.get("/metrics", headers=signed_in)).status_code == 200
    foreign = {**signed_in, "origin": "https://evil.example"}
    assert (await guard.network.get("/metrics", headers=foreign)).status_code == 403
    assert (await guard.operator.get("/metrics")).status_code == 200
    assert (await guard.network.post("/metrics", headers=signed_in | people.OURS)).status_code == 405


ACCEPTS = [
    "",
    "*/*",
    f'{OPEN}; version="x\\y"',
    f"text/html, {OPEN.upper()};version=9.9.9;escaping=zz",
    "," * 500,
    "text/plain;version=;;=",
]


@pytest.mark.parametrize("accept", ACCEPTS)
async def test_nothing_of_what_is_accepted_comes_back(guard: World, accept: str) -> None:
    answer = await guard.operator.get("/metrics", headers={"accept": accept})
    kind = OPEN if OPEN in accept.lower() else "text/plain"
    assert answer.headers["content-type"] == f"{kind}; version={'1.0.0' if kind == OPEN else '0.0.4'}; charset=utf-8"
    assert samples(answer.text, kind)


async def test_programs_are_counted_by_how_they_end(tmp_path: Path) -> None:
    works()
    script = Script()
    settings = {"code__enabled": True, "holds__wait_seconds": 0, **HELD}
    async with guarded(tmp_path, script, **settings) as guard, agent(guard) as client:
        await answer(client, "code_execution", code="1")
        await answer(client, "code_execution", code="1 +")
        writes = {"operation_type": "destructive"}
        await answer(client, "code_execution", code='call_tool("web", "echo", {"text": "x"})', intent=writes)
        found = await (await measured(guard)).read()
        ended = {key: value for (name, key), value in found.items() if name == "mcpguard_programs_total"}
        assert ended == {
            labels(outcome="answered", failure=NONE): 1,
            labels(outcome="failed", failure="SYNTAX_ERROR"): 1,
            labels(outcome="held", failure=NONE): 1,
        }
        assert found["mcpguard_suspended_programs", labels()] == 1
        assert found["mcpguard_program_seconds_count", labels(outcome="answered")] == 1
