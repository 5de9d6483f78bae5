"""Calls that a person makes in the name of a caller, and what they may know before."""

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from mcpguard.domain.asks import AskKind
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.people import Role
from mcpguard.policy.judge import RULES
from tests.gateway.speaking import flushed, guarded, nothing_happens, refused_once
from tests.patience import PATIENCE
from tests.people import BY
from tests.simulators.script import Script
from tests.web.desk import Desk, desk, granted
from tests.web.reviewing import problem

pytestmark = pytest.mark.anyio
READING = Scope(("web",), ("tool:echo", "tool:big", "prompt:*", "note://first"), frozenset({Effect.READ}))
ALL = {"operation_type": "destructive", "reason": "the agent asked for help"}


async def found(at: Desk, **query: Any) -> list[str]:  # noqa: ANN401 - of the client
    return [each["name"] for each in (await at.get("/search", **query))["tools"]]


async def test_a_call_is_judged_sent_recorded_and_answered_as_an_agents(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        id_, _ = await granted(guard)
        at = await desk(guard)
        ended = await at.call("web:echo", {"x": 1}, intent={"operation_type": "read", "reason": "to see"})
        assert (ended["status"], ended["executed"]) == ("answered", "yes")
        assert ended["result"]["structuredContent"] == {"x": 1}
        (entry,) = guard.entries()
        (token,) = guard.now.guard.people.tokens()
        expected = {
            "entry": ended["call_id"],
            "caller": id_,
            "caller_label": "agent",
            "face": "api",
            "by": f"token:{token.id} ({token.name})",
            "method": "tools/call",
            "server": "web",
            "name": "echo",
            "effect": "read",
            "operation": "read",
            "declared": True,
            "intent_reason": "to see",
            "verdict": "allow",
            "outcome": "answered",
        }
        assert {key: entry.get(key) for key in expected} == expected
        assert (await at.call("web:fail", {"message": "no"}, intent=ALL, caller=id_))["status"] == "failed"
        assert (await at.call("web:greet", {"name": "you"}, kind="prompt"))["result"]["messages"]
        assert (await at.call("web:note://first", kind="resource"))["result"]["contents"][0]["text"] == "a note"
        assert [entry["by"] for entry in guard.entries()] == [expected["by"]] * 4


async def test_a_call_never_reaches_further_than_its_caller(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        await granted(guard, scope=READING)
        at = await desk(guard)
        for name in ("web:slow", "web:nothing", "other:echo"):
            with refused_once(guard, "capability:unknown", script) as entry:
                ended = await at.call(name, {})
            assert (ended["status"], ended["executed"], ended["reason"]) == ("refused", "no", "capability:unknown")
            assert ended["call_id"] == entry["entry"]
        await granted(guard, "reader", Scope(("*",), ("*",), frozenset({Effect.READ})))
        with refused_once(guard, "scope:effect", script):
            assert (await at.call("web:slow", {}, "reader", intent=ALL))["reason"] == "scope:effect"
        await granted(guard, "declares", must_declare=True)
        with refused_once(guard, "intent:undeclared", script):
            assert (await at.call("web:fail", {}, "declares"))["reason"] == "intent:undeclared"
        with refused_once(guard, "arguments:invalid", script):
            assert (await at.call("web:add", {"a": "x"}, "declares"))["reason"] == "arguments:invalid"


async def test_whoever_is_no_caller_calls_nothing(tmp_path: Path) -> None:
    script = Script()
    (tmp_path / "alone").mkdir()
    async with guarded(tmp_path, script) as guard:
        id_, token = await granted(guard)
        at = await desk(guard)
        await guard.now.guard.granting.revoke(id_, BY)
        with nothing_happens(guard, script):
            for caller in ("agent", id_, token, "nobody", "*"):
                told = problem(await at.post("/call", {"caller": caller, "name": "web:echo"}), 404)
                assert told["type"] == "urn:mcpguard:caller-unknown"
                assert caller not in told["detail"].split()
            for role in (Role.VIEWER, Role.AUDITOR, Role.APPROVER):
                problem(await (await desk(guard, role)).post("/call", {"caller": "anonymous", "name": "web:echo"}), 403)
    async with guarded(tmp_path / "alone", script, anonymous__enabled=False) as guard:
        with nothing_happens(guard, script):
            problem(await (await desk(guard)).post("/call", {"caller": "anonymous", "name": "web:echo"}), 404)


async def test_anonymous_is_called_for_within_what_it_may(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, anonymous__effects=["read"]) as guard:
        at = await desk(guard)
        assert (await at.call("web:echo", {"x": 1}, "anonymous"))["status"] == "answered"
        with refused_once(guard, "scope:effect", script):
            assert (await at.call("web:slow", {}, "anonymous"))["reason"] == "scope:effect"


async def test_a_caller_whose_time_is_over_is_refused_and_that_is_recorded(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        await granted(guard, seconds=5)
        at = await desk(guard)
        await guard.clock.advance(6)
        with refused_once(guard, "caller:revoked", script):
            assert (await at.call("web:echo", {}))["reason"] == "caller:revoked"


async def test_who_is_revoked_meanwhile_is_not_told_what_came(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, anyio.create_task_group() as tasks:
        id_, _ = await granted(guard)
        at, ends = await desk(guard), list[dict[str, Any]]()

        async def slowly() -> None:
            ends.append(await at.call("web:slow", {}))

        tasks.start_soon(slowly)
        await script.until(lambda: script.held == 1)
        await guard.now.guard.granting.revoke(id_, BY)
        while not ends:
            await anyio.lowlevel.checkpoint()
        assert (ends[0]["status"], ends[0]["executed"], ends[0]["reason"]) == ("withheld", "unknown", "caller:revoked")
        script.go()


async def test_nobody_can_be_asked_and_nobody_hears_what_is_said_meanwhile(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, may_ask={"web": [*AskKind]}) as guard:
        await granted(guard)
        at = await desk(guard)
        asked = await at.call("web:ask", {}, intent=ALL)
        assert asked["status"] in ("withheld", "failed"), asked
        assert (await at.call("web:progress", {"steps": 3}, intent=ALL))["status"] == "answered"
        assert [record for record in guard.said() if record["kind"] == "asked"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "web:echo"},
        {"caller": "agent"},
        {"caller": "", "name": "web:echo"},
        {"caller": "agent", "name": "echo"},
        {"caller": "agent", "name": "web:"},
        {"caller": "agent", "name": "Web:echo"},
        {"caller": "agent", "name": "we__b:echo"},
        {"caller": "agent", "name": "web:a\0b"},
        {"caller": "agent", "name": "web:" + "x" * 9000},
        {"caller": "agent", "name": "web:echo", "arguments": []},
        {"caller": "agent", "name": "web:echo", "arguments": "{}"},
        {"caller": "agent", "name": "web:echo", "kind": "template"},
        {"caller": "agent", "name": "web:echo", "method": "tools/call"},
        {"caller": "agent", "name": "web:echo", "intent": {}},
        {"caller": "agent", "name": "web:echo", "intent": {"operation_type": "harmless"}},
        {"caller": "agent", "name": "web:echo", "intent": {"operation_type": "read", "reason": "x" * 1001}},
        {"caller": "agent", "name": "web:echo", "by": "user:root"},
        {"caller": "agent", "name": "web:note://first", "kind": "resource", "arguments": {}},
    ],
    ids=lambda wrong: str(wrong)[:70],
)
async def test_what_does_not_have_its_form_is_no_call(world_of_one: Desk, wrong: dict[str, Any]) -> None:
    guard = world_of_one.guard
    before = guard.entries()
    for path in ("/call", "/explain"):
        told = problem(await world_of_one.post(path, wrong), 422)
        assert "harmless" not in str(told)
        assert "user:root" not in str(told)
    assert guard.entries() == before


@pytest.fixture
async def world_of_one(tmp_path: Path) -> Any:  # noqa: ANN401 - a generator
    """A desk at a guard in front of nothing that matters."""
    async with guarded(tmp_path, Script()) as guard:
        await granted(guard)
        yield await desk(guard)


# What would become of a call.


async def foreseen(at: Desk, name: str, caller: str = "agent", **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    answer: dict[str, Any] = (await at.post("/explain", {"caller": caller, "name": name, **more})).json()
    return answer


def outcomes(said: dict[str, Any]) -> dict[str, str]:
    return {each["rule"]: each["outcome"] for each in said["rules"]}


async def test_what_is_foreseen_is_what_comes_and_nothing_is_sent_for_it(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        await granted(guard, scope=READING)
        await granted(guard, "all")
        at, auditor = await desk(guard), await desk(guard, Role.AUDITOR)
        cases: list[tuple[str, str, dict[str, Any]]] = [
            ("agent", "web:echo", {"arguments": {"x": 1}}),
            ("agent", "web:slow", {}),
            ("agent", "nowhere:slow", {}),
            ("all", "web:add", {"arguments": {"a": 1}}),
            ("all", "web:fail", {"arguments": {}, "intent": {"operation_type": "read"}}),
            ("all", "web:greet", {"kind": "prompt"}),
            ("all", "web:note://first", {"kind": "resource"}),
            ("all", "web:note://other", {"kind": "resource"}),
        ]
        for caller, name, more in cases:
            with nothing_happens(guard, script):
                said = await foreseen(auditor, name, caller, **more)
            assert [each["rule"] for each in said["rules"]] == [name for name, _ in RULES]
            ended = (await at.post("/call", {"caller": caller, "name": name, **more})).json()
            entry = guard.entries()[-1]
            assert said["verdict"] == entry["verdict"]
            assert (said["reason"] or {}).get("reason") == ended.get("reason")
            asked = [rule for rule, outcome in outcomes(said).items() if outcome != "not_asked"]
            assert " ".join(asked) == entry["rules"]
            assert ("objected" in outcomes(said).values()) is (said["verdict"] == "deny")
            assert said["caller"]["name"] == caller


async def test_a_budget_that_is_used_up_is_foreseen_and_not_used_by_that(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, budgets__caller_minute=2) as guard:
        await granted(guard)
        at = await desk(guard)
        for _ in range(5):
            assert (await foreseen(at, "web:echo"))["verdict"] == "allow"
        for _ in range(2):
            assert (await at.call("web:echo", {}))["status"] == "answered"
        said = await foreseen(at, "web:echo")
        assert (said["reason"]["reason"], outcomes(said)["budget.calls"]) == ("budget:calls", "objected")


# What could be called.


async def test_search_finds_what_is_approved_and_for_a_caller_what_it_may_find(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        await granted(guard, scope=READING)
        at = await desk(guard, Role.VIEWER)
        with anyio.fail_after(PATIENCE):
            while not await found(at, q="returns its arguments"):
                await anyio.lowlevel.checkpoint()
        assert (await found(at, q="returns its arguments"))[0] == "web:echo"
        assert len(await found(at, q="numbers arguments bytes", limit=1)) == 1
        every = await at.get("/search", q="adds two numbers", limit=100)
        assert "web:add" in {each["name"] for each in every["tools"]}
        narrow = await at.get("/search", q="adds two numbers", limit=100, caller="agent")
        assert {each["name"] for each in narrow["tools"]} <= {"web:echo", "web:big"}
        assert narrow["total"] < every["total"]
        problem(await at.send("GET", "/search", params={"q": "x", "caller": "nobody"}), 404)
        for wrong in ({}, {"q": ""}, {"q": "x" * 2001}, {"q": "x", "limit": "0"}, {"q": "x", "limit": "101"}):
            problem(await at.send("GET", "/search", params=wrong), 422)
        assert await flushed(guard, "disclosed") == [], "no agent was shown anything"


async def test_an_explained_search_finds_the_same_and_says_why(tmp_path: Path) -> None:
    script = Script()
    script.tool("forecast", "done", description="Tells the weather of a city.")
    async with guarded(tmp_path, script) as guard:
        await granted(guard, scope=READING)
        at = await desk(guard, Role.VIEWER)
        with anyio.fail_after(PATIENCE):
            while not await found(at, q="returns its arguments"):
                await anyio.lowlevel.checkpoint()
        plain = await at.get("/search", q="wether citys zorb")
        explained = await at.get("/search", q="wether citys zorb", why="true")
        assert explained["unmatched"] == ["zorb"]
        assert [{**each, "why": None} for each in explained["tools"]] == [
            {**each, "why": None} for each in plain["tools"]
        ]
        for each in explained["tools"]:
            why = each["why"]
            assert sum(word["points"] for word in why["words"]) + why["raised"] == pytest.approx(
                each["score"], abs=0.01
            )
        best = explained["tools"][0]
        assert best["name"] == "web:forecast"
        assert {word["sentence"] for word in best["why"]["words"]} == {
            "`weather` (corrected from `wether`) in its first sentence",
            "`city` (for `citys`) in its first sentence",
        }
        assert "why" not in plain["tools"][0]
        assert "unmatched" not in plain
        said = (await at.get("/search", q="use web:forecast", why="true"))["tools"][0]["why"]
        assert said["name_said"]
        assert said["sentence"].endswith("its name is said, so it comes before others")
        narrow = await at.get("/search", q="weather", caller="agent", why="true")
        assert (narrow["tools"], narrow["unmatched"]) == ([], ["weather"]), "what is out of scope is nowhere in it"
        problem(await at.send("GET", "/search", params={"q": "x", "why": "perhaps"}), 422)
        assert await flushed(guard, "disclosed") == [], "no agent was shown anything"


async def test_an_agents_token_does_none_of_this(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        _, token = await granted(guard)
        at = Desk(guard, {"authorization": f"Bearer {token}"})
        with nothing_happens(guard, script):
            for path in ("/call", "/explain"):
                problem(await at.post(path, {"caller": "agent", "name": "web:echo"}), 401)
            for more in ({}, {"why": "true"}):
                problem(await at.send("GET", "/search", params={"q": "x", **more}), 401)
