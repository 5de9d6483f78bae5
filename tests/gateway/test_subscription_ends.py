"""A subscription ends with whoever has it, and with the server that it is at; nothing is left behind, nothing hangs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio.abc import TaskStatus

from mcpguard.codec.uris import wrap_uri
from mcpguard.domain.servers.launches import DeclaredServer
from tests.gate import DIRECT, Gate, gate
from tests.gateway.hearing import ACKNOWLEDGED, FIRST, asked, hearing, insist, nothing_subscribed, subscribed, until
from tests.gateway.speaking import HOWS, guarded, played
from tests.patience import PATIENCE
from tests.simulators.hostile import never, on
from tests.simulators.http_client import HttpClient
from tests.simulators.script import Script
from tests.simulators.words import SUBSCRIPTION_ID
from tests.upstreams.conduct import holding

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
EVERY_HOW = pytest.mark.parametrize("how", HOWS)


@asynccontextmanager
async def declaring(folder: Path, *scripts: Script) -> AsyncIterator[tuple[Gate, list[DeclaredServer]]]:
    """A guard, and how its servers `web` and `other` are declared."""
    async with (
        played(folder, scripts[0], "web") as web,
        played(folder, scripts[-1], "other") as other,
        gate(folder, web, other) as guard,
    ):
        await guard.ready("web", "other")
        yield guard, [web, other]


@ERAS
async def test_with_a_session(era: str, tmp_path: Path) -> None:
    script = Script(era)
    async with guarded(tmp_path, script) as guard:
        client = await guard.legacy()
        await client.request("resources/subscribe", {"uri": FIRST})
        assert subscribed(script) == {FIRST}
        await client.end()
        await nothing_subscribed(script)


async def test_with_a_session_that_makes_room_for_another(tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script, limits__sessions=1) as guard:
        client = await guard.legacy()
        await client.request("resources/subscribe", {"uri": FIRST})
        await guard.legacy()
        await nothing_subscribed(script)


@ERAS
@pytest.mark.parametrize("modern", [False, True])
async def test_with_a_stream(modern: bool, era: str, tmp_path: Path) -> None:
    script = Script(era)
    async with guarded(tmp_path, script) as guard:
        async with guard.stream(modern=modern) as client, anyio.create_task_group() as tasks:
            if modern:
                wanted = {"notifications": {"resourceSubscriptions": [FIRST]}}
                tasks.start_soon(client.request, "subscriptions/listen", wanted)
            else:
                await client.initialize()
                await client.request("resources/subscribe", {"uri": FIRST})
            await until(lambda: subscribed(script))
            tasks.cancel_scope.cancel()
        await nothing_subscribed(script)
        await until(lambda: not guard.where.streams.busy)


async def test_with_a_listen_that_is_left_while_it_is_still_asked_for(tmp_path: Path) -> None:
    script = Script("legacy")
    script.hooks.append(on("resources/subscribe", holding(1)))
    async with guarded(tmp_path, script) as guard, guard.stream() as client, anyio.create_task_group() as tasks:
        wanted = {"notifications": {"resourceSubscriptions": [FIRST]}}
        tasks.start_soon(lambda: client.request("subscriptions/listen", wanted, id_="early"))
        await script.until(lambda: script.held)
        await client.cancel("early")
        await client.discover()
        script.go()
        await script.received("resources/unsubscribe")
        await nothing_subscribed(script)
        assert client.heard == []
        await until(lambda: guard.entries()[0].get("outcome") == "cancelled")
        tasks.cancel_scope.cancel()


@ERAS
@pytest.mark.parametrize("change", ["removed", "disabled", "otherwise", "another"])
async def test_with_a_server_that_is_declared_otherwise(change: str, era: str, tmp_path: Path) -> None:
    """A listen that hears of it is answered, and can be made anew; one that does not goes on; a session forgets it."""
    script, script_of_other = Script(era), Script(era)
    async with declaring(tmp_path, script, script_of_other) as (guard, (web, other)):
        changed = {
            "removed": [],
            "disabled": [replace(web, enabled=False)],
            "otherwise": [replace(web, timeout=5)],
            "another": [replace(web, launch=other.launch)],
        }
        async with (
            hearing(guard, "http legacy", _of("web")) as legacy,
            hearing(guard, "http modern", FIRST, only="other") as unconcerned,
        ):
            async with guard.client().listening(
                toolsListChanged=True, resourceSubscriptions=[_of("web"), _of("other")]
            ) as listening:
                first = await listening.until(ACKNOWLEDGED)
                assert first["params"]["notifications"]["resourceSubscriptions"] == [_of("web"), _of("other")]
                await guard.declare(*changed[change], other)
                await listening.until_ended()
                result = listening.heard[-1]["result"]
                assert (result["resultType"], result["_meta"][SUBSCRIPTION_ID]) == ("complete", 1)
            await nothing_subscribed(script)
            await script_of_other.updated(FIRST)
            assert await unconcerned.until() == [FIRST]
            if change == "otherwise":
                await guard.ready("web")
                assert asked(script) == 1
                async with hearing(guard, "http modern", _of("web")) as anew:
                    await script.updated(FIRST)
                    assert await anew.until() == [_of("web")]
            assert legacy.heard == []


async def test_with_a_server_that_is_removed_while_it_is_asked(tmp_path: Path) -> None:
    script = Script("legacy")
    async with declaring(tmp_path, script, Script()) as (guard, (_, other)), anyio.create_task_group() as tasks:
        script.hooks.append(on("resources/subscribe", never))
        ended = anyio.Event()

        async def ask() -> None:
            client = await guard.legacy("/mcp/only/web")
            error = (await client.request("resources/subscribe", {"uri": FIRST})).error
            assert (error["data"]["reason"], error["data"]["executed"]) == ("capability:withdrawn", "unknown")
            ended.set()

        tasks.start_soon(ask)
        await script.received("resources/subscribe")
        await guard.declare(other)
        with anyio.fail_after(PATIENCE):
            await ended.wait()


@ERAS
async def test_when_the_guard_stops_nothing_hangs_and_a_listen_is_answered(era: str, tmp_path: Path) -> None:
    stop, script = anyio.Event(), Script(era)

    async def run(*, task_status: TaskStatus[Gate]) -> None:
        async with guarded(tmp_path, script) as guard:
            task_status.started(guard)
            await stop.wait()

    async with httpx2.AsyncClient(trust_env=False) as http, anyio.create_task_group() as tasks:
        guard: Gate = await tasks.start(run)
        url = guard.where.url + DIRECT
        legacy, modern, waiting = HttpClient(http, url, modern=False), HttpClient(http, url), HttpClient(http, url)
        await legacy.initialize()
        async with (
            legacy.listening() as get,
            modern.listening(resourceSubscriptions=[FIRST]) as listening,
            guard.stream(modern=False) as stream,
        ):
            await stream.initialize()
            for client in (legacy, stream):
                assert (await client.request("resources/subscribe", {"uri": FIRST})).result == {}
            await listening.until(ACKNOWLEDGED)
            script.hooks += [on("resources/subscribe", never), on("subscriptions/listen", never)]
            wanted = {"notifications": {"resourceSubscriptions": ["note://2/text"]}}
            tasks.start_soon(waiting.request, "subscriptions/listen", wanted)
            before = asked(script)
            await script.until(lambda: asked(script) > before)
            stop.set()
            await get.until_ended()
            await listening.until_ended()
            await stream.ended.wait()
    assert listening.heard[-1]["result"]["_meta"][SUBSCRIPTION_ID] == 1
    assert subscribed(script) == set()


async def test_after_the_end_the_guard_holds_nothing(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with hearing(guard, how, FIRST, "x:unknown", "note://1/text") as ear:
                await insist(script, FIRST)
                await ear.until()
        await nothing_subscribed(script)
        assert guard.now.guard.servers.subscriptions._of == {}
        assert len(guard.now.fleet._servers["web"].current.watching._wishes) == 0


def _of(server: str) -> str:
    return wrap_uri(server, FIRST)
