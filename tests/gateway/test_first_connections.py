"""A server that is being connected for the first time since its approval: everybody can see that, and calls wait."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import CapabilityKind
from tests.attacks.aftermath import Ended, nothing_else
from tests.gate import Gate, gate, remote
from tests.gateway.granting import Granted, granted, revoked
from tests.gateway.holding import until
from tests.gateway.speaking import HOWS, OTHER_TOKEN, TOKEN, callers, refused_once, scope, speaking, two_callers
from tests.patience import PATIENCE
from tests.review import approved
from tests.simulators.asked import Asked, Reply
from tests.simulators.client import RawClient
from tests.simulators.over_http import serving_http
from tests.simulators.script import Script
from tests.simulators.words import Json, RpcError, failure
from tests.web.pages.reading import somebody

pytestmark = pytest.mark.anyio
ECHO = "web::echo"
ANSWERED = Ended("web", "echo", "answered", "yes")
STARTING = "Still starting: web. Their tools may show up soon; a call waits for the first connection."


class Slow(Script):
    """A server whose second listing, the first one after its inspection, waits until the test says `go`."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = False
        self.hooks.append(self._holding)

    async def _holding(self, asked: Asked, following: Callable[[], Awaitable[Reply]]) -> Reply:
        if asked.method == "tools/list" and len(self.called("tools/list")) == 2:
            await self.hold()
            if self.fails:
                return failure(asked.id, RpcError(-32000, "it could not be done"))
        return await following()


@asynccontextmanager
async def starting(
    folder: Path,
    script: Script,
    callers: Mapping[str, Caller] | None = None,
    longest: float | None = None,
    **settings: Any,  # noqa: ANN401 - settings
) -> AsyncIterator[Gate]:
    """A guard in front of a server that was approved just now."""
    async with serving_http(script) as url, gate(folder, callers=callers, **settings) as guard:
        await guard.declare(remote("web", url, timeout=longest))
        assert await approved(guard.now, "web") == ""
        await script.until(lambda: script.held)
        try:
            yield guard
        finally:
            script.go()


class Call:
    """A call in a task of its own."""

    def __init__(self, client: RawClient, name: str = ECHO) -> None:
        self.result: Json | None = None
        self._client = client
        self._name = name

    async def __call__(self) -> None:
        self.result = (await self._client.call(self._name, {"n": 1})).result


def waiting(guard: Gate) -> int:
    """How many calls wait for the server."""
    shares = guard.now.guard.servers._first_connections._waiting.get("web")
    return shares.taken if shares else 0


def reason(result: Json | None) -> str:
    assert result is not None
    return str(result["_meta"]["mcpguard/refusal"]["reason"])


@pytest.mark.parametrize("how", HOWS)
async def test_a_call_waits_for_it_and_is_made(how: str, tmp_path: Path) -> None:
    script = Slow()
    async with starting(tmp_path, script) as guard, speaking(guard, how) as client:
        with nothing_else(guard, ANSWERED):
            async with anyio.create_task_group() as tasks:
                call = Call(client)
                tasks.start_soon(call)
                await until(lambda: waiting(guard) == 1)
                assert script.called("tools/call") == []
                script.go()
            assert call.result is not None
            assert call.result["structuredContent"] == {"n": 1}
        assert waiting(guard) == 0


async def test_when_it_fails_the_call_is_refused_and_no_later_one_waits(tmp_path: Path) -> None:
    script = Slow()
    script.fails = True
    async with starting(tmp_path, script) as guard:
        client = guard.client()
        with refused_once(guard, "server:unreachable", script):
            async with anyio.create_task_group() as tasks:
                call = Call(client)
                tasks.start_soon(call)
                await until(lambda: waiting(guard) == 1)
                script.go()
            assert reason(call.result) == "server:unreachable"
        with refused_once(guard, "server:unreachable", script):
            assert reason((await client.call(ECHO)).result) == "server:unreachable"
        assert guard.now.guard.servers.status()[0].state == "error"


async def test_a_second_attempt_is_not_waited_for(tmp_path: Path) -> None:
    script = Slow()
    script.fails = True
    async with starting(tmp_path, script) as guard:
        script.go()
        await until(lambda: guard.now.guard.servers.status()[0].state == "error")
        script.hooks.insert(0, _held_from_now_on(script))
        await guard.clock.advance(1)
        await script.until(lambda: script.held)
        assert guard.now.guard.servers.status()[0].state == "connecting"
        with refused_once(guard, "server:unreachable", script):
            assert reason((await guard.client().call(ECHO)).result) == "server:unreachable"


def _held_from_now_on(script: Script) -> Callable[[Asked, Callable[[], Awaitable[Reply]]], Awaitable[Reply]]:
    async def holding(asked: Asked, following: Callable[[], Awaitable[Reply]]) -> Reply:
        if asked.method == "tools/list":
            await script.hold()
        return await following()

    return holding


async def test_a_call_waits_no_longer_than_it_may_take(tmp_path: Path) -> None:
    script = Slow()
    async with starting(tmp_path, script, longest=0.2) as guard:
        with refused_once(guard, "server:starting", script):
            assert reason((await guard.client().call(ECHO)).result) == "server:starting"
        assert waiting(guard) == 0


async def test_what_is_another_by_then_is_refused(tmp_path: Path) -> None:
    script = Slow()
    async with starting(tmp_path, script) as guard:
        script.tool("echo", "something else", description="Another one.")
        with refused_once(guard, "capability:changed", script):
            async with anyio.create_task_group() as tasks:
                call = Call(guard.client())
                tasks.start_soon(call)
                await until(lambda: waiting(guard) == 1)
                script.go()
            assert reason(call.result) == "capability:changed"


async def test_whoever_is_revoked_while_they_wait_is_refused(tmp_path: Path) -> None:
    script = Slow()
    async with starting(tmp_path, script) as guard:
        caller: Granted = await granted(guard)
        with refused_once(guard, "caller:revoked", script):
            async with anyio.create_task_group() as tasks:
                call = Call(guard.client(token=caller.token))
                tasks.start_soon(call)
                await until(lambda: waiting(guard) == 1)
                await revoked(guard, caller)
                await until(lambda: call.result is not None)
            assert reason(call.result) == "caller:revoked"
        assert waiting(guard) == 0


async def test_nobody_takes_all_the_places_of_those_that_wait(tmp_path: Path) -> None:
    """Two calls of each may wait, three of all."""
    script = Slow()
    given: dict[str, Any] = {"upstreams__concurrency": 2, "upstreams__queue": 3}
    async with starting(tmp_path, script, two_callers(), **given) as guard:
        one, other = guard.client(token=TOKEN), guard.client(token=OTHER_TOKEN)
        busy = Ended("web", "echo", "refused", "no", "server:busy")
        with nothing_else(guard, *[ANSWERED] * 3, *[busy] * 2):
            async with anyio.create_task_group() as tasks:
                calls = [Call(one), Call(one), Call(other)]
                for number, call in enumerate(calls[:2], 1):
                    tasks.start_soon(call)
                    await until(lambda number=number: waiting(guard) == number)  # type: ignore[misc]
                assert reason((await one.call(ECHO)).result) == "server:busy"
                tasks.start_soon(calls[2])
                await until(lambda: waiting(guard) == 3)
                assert reason((await other.call(ECHO)).result) == "server:busy"
                script.go()
            assert [call.result and call.result["structuredContent"] for call in calls] == [{"n": 1}] * 3
        assert waiting(guard) == 0


async def test_what_was_approved_is_found_at_once_and_the_answer_says_that_it_starts(tmp_path: Path) -> None:
    script = Slow()
    given = callers(**{TOKEN: scope("web"), OTHER_TOKEN: scope("other")})
    async with starting(tmp_path, script, given) as guard:
        query = {"query": "echo"}
        with anyio.fail_after(PATIENCE):
            while not (found := await _retrieved(guard, TOKEN, query))["tools"]:
                assert found["notice"] == STARTING, "the index is being made"
        assert found["tools"][0]["name"] == "web:echo"
        assert found["notice"] == STARTING
        listed = (await guard.client(token=TOKEN).request("tools/list")).result["tools"]
        assert ECHO in [tool["name"] for tool in listed]
        elsewhere = {"query": "echo", "servers": ["other"]}
        assert "notice" not in (await _retrieved(guard, TOKEN, elsewhere))
        assert "notice" not in (await _retrieved(guard, OTHER_TOKEN, query)), "out of reach"
        script.go()
        await guard.ready("web")
        assert "notice" not in (await _retrieved(guard, TOKEN, query))


async def _retrieved(guard: Gate, token: str, query: Json) -> Json:
    said: Json = (await guard.client("/mcp", token=token).call("retrieve_tools", query)).result["structuredContent"]
    return said


async def test_everybody_is_told_that_it_starts(tmp_path: Path) -> None:
    script = Slow()
    async with starting(tmp_path, script) as guard:
        assert guard.now.guard.servers.status()[0].state == "starting"
        (told,) = (await guard.client("/mcp").call("describe_tool", {"names": ["web:echo"]})).result[
            "structuredContent"
        ]["tools"]
        assert (told["answer"], told["reason"]) == ("retry", "server:starting")
        said = await guard.now.guard.queries.explain("web", (CapabilityKind.TOOL, "echo"))
        assert (said["answer"], said["reasons"][0]["reason"]) == ("retry", "server:starting")
        assert script.called("tools/call") == []
        assert guard.entries() == []


async def test_on_a_face_of_one_server_it_is_the_same(tmp_path: Path) -> None:
    script = Slow()
    async with starting(tmp_path, script) as guard, anyio.create_task_group() as tasks:
        call = Call(guard.client("/mcp/only/web"), "echo")
        tasks.start_soon(call)
        await until(lambda: waiting(guard) == 1)
        script.go()
        await until(lambda: call.result is not None)
        assert call.result is not None
        assert call.result["structuredContent"] == {"n": 1}
        assert [entry["outcome"] for entry in guard.entries()] == ["answered"]


async def test_the_pages_say_so(tmp_path: Path) -> None:
    script = Slow()
    async with starting(tmp_path, script) as guard:
        sends = await somebody(guard)
        page = await guard.http.get(f"{guard.where.url}/servers/web", headers=sends)
        assert "Starting; calls wait until it is ready." in page.text
        assert ">starting<" in (await guard.http.get(f"{guard.where.url}/servers", headers=sends)).text
