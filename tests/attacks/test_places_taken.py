"""Requests that are whole, and wait for their answers, take nobody else's place, however many they are."""

import itertools
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from mcpguard.domain.people import Role
from tests.gate import DIRECT, Gate
from tests.gateway.holding import HELD, until
from tests.gateway.speaking import (
    OTHER_TOKEN,
    TOKEN,
    flushed,
    guarded,
    nothing_happens,
    turned_away,
    two_callers,
)
from tests.gateway.wires import wire
from tests.patience import PATIENCE
from tests.simulators.client import Reply
from tests.simulators.script import Script
from tests.web.pages.reading import Sends, somebody

pytestmark = pytest.mark.anyio
PLACES: Mapping[str, Any] = {"limits__connections": 20, "limits__caller_share": 0.25, "limits__reserved": 0.5}
SHARE, OF_AGENTS = 5, 10
OF_PERSON, MOST_TABS = 8, 4
REFUSED = -31010
NUMBERS = itertools.count()


async def slow(guard: Gate, token: str) -> None:
    await guard.client(token=token).call("web::slow")


async def held_by_a_person(guard: Gate, token: str) -> None:
    await guard.client(token=token).call("web::echo", {"x": next(NUMBERS)})


async def news(guard: Gate, token: str) -> None:
    async with (await guard.legacy(token=token)).listening():
        await anyio.sleep_forever()


async def subscribed(guard: Gate, token: str) -> None:
    async with guard.client(token=token).listening(toolsListChanged=True):
        await anyio.sleep_forever()


WAITING: Mapping[str, Callable[[Gate, str], Coroutine[Any, Any, None]]] = {
    "slow calls": slow,
    "held calls": held_by_a_person,
    "streams of events": news,
    "subscriptions": subscribed,
}


def under_way(guard: Gate) -> int:
    """How many requests of agents are."""
    return guard.where.door._shares.taken


async def taken(guard: Gate, count: int) -> None:
    await until(lambda: under_way(guard) == count)


async def everybody_else_is_answered(guard: Gate) -> None:
    url = guard.where.url
    with anyio.fail_after(PATIENCE):
        assert (await guard.http.get(f"{url}/healthz")).status_code == 200
        assert (await guard.http.get(f"{url}/readyz")).status_code == 200
        assert (await guard.http.get(f"{url}/login")).status_code == 200
        assert (await guard.http.get(f"{url}/metrics")).status_code == 401


@pytest.mark.parametrize("how", WAITING)
async def test_a_caller_that_has_its_share_under_way_is_refused_and_nobody_else_is(how: str, tmp_path: Path) -> None:
    script = Script()
    settings = {**PLACES, **(HELD if how == "held calls" else {})}
    async with guarded(tmp_path, script, callers=two_callers(), **settings) as guard:
        async with anyio.create_task_group() as tasks:
            listener = await guard.legacy(token=TOKEN)
            for number in range(SHARE):
                tasks.start_soon(WAITING[how], guard, TOKEN)
                await taken(guard, number + 1)
            calls = SHARE if how.endswith("calls") else 0
            await until(lambda: script.held + guard.now.guard.held.waiting == calls)
            with nothing_happens(guard, script):
                reply = await guard.client(token=TOKEN).call("web::echo", {}, id_="beyond")
                assert (reply.status, reply.headers["retry-after"]) == (429, "1")
                assert (reply.message or {})["id"] == "beyond"
                assert (reply.error["code"], "the limit for one caller" in reply.error["message"]) == (REFUSED, True)
                stream = await guard.http.get(guard.where.url + DIRECT, headers=listener.headers_for(None))
                assert (stream.status_code, stream.headers["retry-after"]) == (429, "1")
            other = guard.client(token=OTHER_TOKEN)
            assert (await other.call("web::add", {"a": 1, "b": 2})).result["content"]
            assert (await guard.client().request("tools/list")).result["tools"], "nor is the anonymous caller"
            await everybody_else_is_answered(guard)
            assert under_way(guard) == SHARE, "what was in progress goes on"
            tasks.cancel_scope.cancel()
        await taken(guard, 0)
        assert (await guard.client(token=TOKEN).request("tools/list")).result["tools"], "there is room again"
        (record,) = [each for each in await flushed(guard, "turned_away") if each["why"] == "caller's share"]
        assert (record["door"], record["caller"], record["count"]) == ("network", f"caller-{TOKEN}", 2)


async def test_all_callers_together_leave_a_reserve(tmp_path: Path) -> None:
    script, done = Script(), list[Reply]()
    async with (
        guarded(tmp_path, script, callers=two_callers(), **PLACES) as guard,
        anyio.create_task_group() as tasks,
    ):

        async def call(token: str) -> None:
            done.append(await guard.client(token=token).call("web::slow"))

        for token in (TOKEN, OTHER_TOKEN):
            for _ in range(SHARE):
                tasks.start_soon(call, token)
        await script.until(lambda: script.held == OF_AGENTS)
        with nothing_happens(guard, script):
            reply = await guard.client().call("web::echo", {}, id_="beyond")
        assert (reply.status, reply.headers["retry-after"], (reply.message or {})["id"]) == (503, "1", "beyond")
        assert (reply.error["code"], "retry in a moment" in reply.error["message"]) == (REFUSED, True)
        await everybody_else_is_answered(guard)
        assert script.held == OF_AGENTS
        script.go()
        await until(lambda: len(done) == OF_AGENTS)
        assert {each.text for each in done} == {"at last"}, "nobody's call lost its place to another"
        assert (await guard.client().call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        assert (await turned_away(guard))["network", "agents' places"] == 1


async def test_who_has_its_share_under_way_can_still_take_a_call_back(tmp_path: Path) -> None:
    script, done = Script(), list[Reply]()
    async with guarded(tmp_path, script, **PLACES) as guard, anyio.create_task_group() as tasks:
        client = await guard.legacy()

        async def call(id_: int) -> None:
            done.append(await client.call("web::slow", id_=id_))

        for number in range(SHARE):
            tasks.start_soon(call, 100 + number)
        await script.until(lambda: script.held == SHARE)
        assert (await client.request("ping")).status == 429
        assert (await client.notify("notifications/cancelled", {"requestId": 100})).status == 202
        await until(lambda: len(done) == 1)
        assert done[0].error["code"] == -32800
        assert (await client.request("ping")).status == 200
        tasks.cancel_scope.cancel()


async def test_a_caller_has_no_more_streams_on_this_machine_than_its_share(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), callers=two_callers(), **PLACES) as guard:
        async with AsyncExitStack() as stack:
            for _ in range(SHARE):
                await (await stack.enter_async_context(guard.stream(token=TOKEN))).discover()
            async with await anyio.connect_unix(guard.where.agents) as beyond:
                await beyond.send(b'{"mcpguard":1,"face":"direct","only":null,"token":"%b"}\n' % TOKEN.encode())
                assert b"the limit for one caller" in await beyond.receive()
            async with guard.stream(token=OTHER_TOKEN) as other:
                assert (await other.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        await until(lambda: not guard.where.streams.busy)
        async with guard.stream(token=TOKEN) as again:
            assert (await again.request("tools/list")).result["tools"]
        (record,) = await flushed(guard, "turned_away")
        assert (record["door"], record["why"], record["caller"]) == ("streams", "caller's share", f"caller-{TOKEN}")


async def test_streams_that_say_nothing_make_room_for_one_that_does(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **PLACES) as guard, anyio.create_task_group() as tasks:

        async def knock(ready: anyio.Event) -> None:
            async with await anyio.connect_unix(guard.where.agents) as stream:
                ready.set()
                await stream.receive()

        first = anyio.Event()
        for number in range(60):
            ready = anyio.Event() if number else first
            tasks.start_soon(knock, ready)
            await ready.wait()
        async with guard.stream() as stream:
            assert (await stream.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        assert len(guard.where.streams._silent) <= 20
        tasks.cancel_scope.cancel()


async def test_one_person_takes_no_place_of_another(tmp_path: Path) -> None:
    """Tabs that stay open, and forms that do not come."""
    async with guarded(tmp_path, Script(), **PLACES) as guard, anyio.create_task_group() as tasks:
        ada, bob = await somebody(guard), await somebody(guard, Role.ADMIN, "bob")
        url, answers = guard.where.url, list[int]()

        async def watch(by: Sends) -> None:
            async with guard.http.stream("GET", f"{url}/live", headers=by) as answer:
                answers.append(answer.status_code)
                await answer.aread()

        async def shown(path: str, by: Sends) -> httpx2.Response:
            return await guard.http.get(url + path, headers=by)

        for _ in range(MOST_TABS):
            tasks.start_soon(watch, ada)
        await until(lambda: answers == [200] * MOST_TABS)
        beyond = await shown("/live", ada)
        assert (beyond.status_code, beyond.headers["retry-after"]) == (503, "5")
        tasks.start_soon(watch, bob)
        await until(lambda: answers == [200] * (MOST_TABS + 1))
        assert (await shown("/servers", ada)).status_code == 200, "pages are still shown"
        for _ in range(OF_PERSON):
            tasks.start_soon(half_a_form, guard, ada)
        with anyio.fail_after(PATIENCE):
            while (page := await shown("/servers", ada)).status_code == 200:
                tasks.start_soon(half_a_form, guard, ada)  # a page that was shown meanwhile may have turned one away
        assert (page.status_code, page.headers["retry-after"]) == (429, "1")
        answer = await shown("/api/v1/servers", ada)
        assert (answer.status_code, answer.json()["type"]) == (429, "urn:mcpguard:crowded")
        assert (await shown("/servers", bob)).status_code == 200
        assert (await shown("/api/v1/servers", bob)).status_code == 200
        await everybody_else_is_answered(guard)
        assert (await guard.client().call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        (record,) = [each for each in await flushed(guard, "turned_away") if each["why"] == "person's share"]
        assert (record["door"], record["by"].partition(":")[0]) == ("network", "user")
        tasks.cancel_scope.cancel()


async def half_a_form(guard: Gate, by: Sends) -> None:
    """A form whose end never comes."""
    said = {"content-type": "application/x-www-form-urlencoded", "accept": "*/*", **by}
    async with wire(guard) as connection:
        await connection.send(connection.head(50, said, "/login") + b"a=")
        await anyio.sleep_forever()
