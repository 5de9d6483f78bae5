"""A client hears of the lists that are different for it: on its GET stream, on its stream, or on what it listens to."""

from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio.abc import TaskStatus

from tests.gate import DIRECT, Gate, gate
from tests.gateway.speaking import (
    ONLY,
    OTHER_TOKEN,
    TOKEN,
    callers,
    changed,
    changed_and_approved,
    guarded,
    played,
    scope,
)
from tests.review import approved_as_listed
from tests.simulators.http_client import HttpClient
from tests.simulators.line_client import LineClient
from tests.simulators.script import Script
from tests.simulators.words import SUBSCRIPTION_ID, notification

pytestmark = pytest.mark.anyio
TOOLS, PROMPTS = "notifications/tools/list_changed", "notifications/prompts/list_changed"
RESOURCES = "notifications/resources/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


async def heard(client: LineClient, method: str, count: int = 1) -> None:
    """Wait until the client on a stream has heard this. Each answer comes after what was said before it."""
    while [each["method"] for each in client.heard].count(method) < count:
        await client.request("ping")


async def test_a_get_stream_hears_of_every_list_that_differs(tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script) as guard:
        one, silent = await guard.legacy(), await guard.legacy()
        async with one.listening() as listening:
            script.tool("more", "")
            await changed_and_approved(guard, script)
            await listening.until(TOOLS)
            script.prompts.clear()
            script.templates.clear()
            await changed(guard, script)
            await listening.until(PROMPTS)
            await listening.until(RESOURCES)
            await listening.until(TOOLS, 2)  # which the server says of its tools, though nothing is different
            script.resources.clear()
            await changed(guard, script)
            await listening.until(RESOURCES, 2)
            said = [each["method"] for each in listening.heard]
            assert {*said[1:4]} == {TOOLS, PROMPTS, RESOURCES}
            assert said[:1] + said[4:] == [TOOLS, RESOURCES, TOOLS]
        assert silent.heard == []


async def test_what_waits_for_a_person_is_no_news_and_what_is_withheld_is(tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script) as guard:
        one = await guard.legacy()
        async with one.listening() as listening:
            offered = await one.names()
            script.tool("more", "")
            await changed(guard, script)
            assert await one.names() == offered
            script.prompts.clear()
            await changed(guard, script, "prompts")
            await listening.until(PROMPTS)
            assert listening.heard == [notification(PROMPTS)], "nobody hears of what nobody has approved"
            script.tool("more", "", description="another one")
            await changed(guard, script)
            script.tool("echo", "", description="not what was approved")
            await changed(guard, script)
            await listening.until(TOOLS)
            assert {*await one.names()} == {*offered} - {"web::echo"}
            await approved_as_listed(guard.now, "web")
            await listening.until(TOOLS, 2)
            assert {*await one.names()} == {*offered, "web::more"}
            assert listening.heard == [notification(each) for each in (PROMPTS, TOOLS, TOOLS)]


async def test_a_session_listens_once_and_the_newest_stream_is_the_one(tmp_path: Path) -> None:
    """A client that comes back may be here before we notice that it had left."""
    script = Script("legacy")
    async with guarded(tmp_path, script) as guard:
        one = await guard.legacy()
        async with one.listening() as before, one.listening() as after:
            await before.until_ended()
            script.tools.clear()
            await changed(guard, script)
            await after.until(TOOLS)
            assert before.heard == []
        async with one.listening() as again:
            script.prompts.clear()
            await changed(guard, script)
            await again.until(PROMPTS)


async def test_streams_hear_after_the_handshake(tmp_path: Path) -> None:
    script = Script("legacy")
    async with (
        guarded(tmp_path, script) as guard,
        guard.stream(modern=False) as legacy,
        guard.stream(modern=False) as silent,
        guard.stream() as modern,
    ):
        await legacy.initialize()
        await modern.discover()
        script.tools.clear()
        await changed(guard, script)
        await heard(legacy, TOOLS)
        assert [each["method"] for each in legacy.heard] == [TOOLS]
        await silent.request("ping")
        await modern.discover()
        assert silent.heard == modern.heard == []


async def test_a_modern_client_hears_what_it_listens_to(tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script) as guard:
        client = guard.client()
        wanted = {"toolsListChanged": True, "promptsListChanged": False, "resourceSubscriptions": ["no://such"]}
        async with client.listening(**wanted) as listening:
            first = await listening.until(ACKNOWLEDGED)
            ours = {SUBSCRIPTION_ID: 1}
            assert first["params"] == {"notifications": {"toolsListChanged": True}, "_meta": ours}
            assert listening.heard == [first]
            script.prompts.clear()
            await changed(guard, script, "prompts")
            script.tools.clear()
            await changed(guard, script)
            assert (await listening.until(TOOLS))["params"] == {"_meta": ours}
            assert [each["method"] for each in listening.heard] == [ACKNOWLEDGED, TOOLS]


async def test_on_a_modern_stream_each_subscription_hears_its_own(tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script) as guard, guard.stream() as client, anyio.create_task_group() as tasks:
        for id_, field in (("one", "toolsListChanged"), ("two", "promptsListChanged")):
            listen = partial(client.request, "subscriptions/listen", {"notifications": {field: True}}, id_=id_)
            tasks.start_soon(listen)
        while len(client.heard) < 2:
            await client.discover()
        script.tools.clear()
        script.prompts.clear()
        await changed(guard, script)
        await client.cancel("two")
        script.tool("more", "")
        await changed_and_approved(guard, script)
        while len(client.heard) < 5:
            await client.discover()
        said = [(each["method"], each["params"]["_meta"][SUBSCRIPTION_ID]) for each in client.heard[2:]]
        assert sorted(said) == [(PROMPTS, "two"), (TOOLS, "one"), (TOOLS, "one")]
        tasks.cancel_scope.cancel()


async def test_nobody_hears_of_what_lies_beyond(tmp_path: Path) -> None:
    """Not of another server on its own face, not of a server or a name outside of the scope."""
    web, other = Script("legacy"), Script("legacy")
    narrow = callers(**{TOKEN: scope("web", "har*")})
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(played(tmp_path, script, name))
            for name, script in {"web": web, "other": other}.items()
        ]
        guard = await stack.enter_async_context(gate(tmp_path, *servers, callers=narrow))
        await guard.ready("web", "other")
        clients = [await guard.legacy(), await guard.legacy(ONLY + "web"), await guard.legacy(token=TOKEN)]
        everything, only_web, scoped = [await stack.enter_async_context(each.listening()) for each in clients]
        other.tools.clear()
        await changed(guard, other)
        web.tool("destructive", "")
        await changed_and_approved(guard, web)
        web.tool("harmless", "", annotations={"readOnlyHint": True})
        await changed_and_approved(guard, web)
        for listening, count in ((everything, 3), (only_web, 2), (scoped, 1)):
            await listening.until(TOOLS, count)
            assert len(listening.heard) == count


async def test_a_server_that_says_so_is_passed_on_to_whoever_sees_that_list(tmp_path: Path) -> None:
    """Also where it lists the same: it may have changed and changed back. And nobody else hears of it."""
    web, other = Script("legacy"), Script("legacy")
    narrow = callers(**{TOKEN: scope("other"), OTHER_TOKEN: scope("web", "no*")})
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(played(tmp_path, script, name))
            for name, script in {"web": web, "other": other}.items()
        ]
        guard = await stack.enter_async_context(gate(tmp_path, *servers, callers=narrow))
        await guard.ready("web", "other")
        seeing = [await guard.legacy(), await guard.legacy(ONLY + "web")]
        others = [
            await guard.legacy(ONLY + "other"),
            await guard.legacy(token=TOKEN),
            await guard.legacy(token=OTHER_TOKEN),
        ]
        told = [await stack.enter_async_context(each.listening()) for each in seeing]
        untold = [await stack.enter_async_context(each.listening()) for each in others]
        modern = await stack.enter_async_context(guard.client().listening(toolsListChanged=True))
        await modern.until(ACKNOWLEDGED)
        await changed(guard, web, "tools")
        for listening in (*told, modern):
            await listening.until(TOOLS)
        await changed(guard, web, "prompts")
        await told[0].until(PROMPTS)
        assert [each["method"] for each in modern.heard] == [ACKNOWLEDGED, TOOLS]
        assert [each["method"] for each in told[1].heard] == [TOOLS, PROMPTS]
        assert [each.heard for each in untold] == [[], [], []]


async def test_a_server_that_goes_is_news(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        one = await guard.legacy()
        async with one.listening() as listening:
            await guard.declare()
            for method in (TOOLS, PROMPTS, RESOURCES):
                await listening.until(method)
            assert await one.names() == []
            said = (await one.call("web::echo")).result["_meta"]["mcpguard/refusal"]
            assert said["reason"] == "server:disabled"


async def test_when_the_guard_stops_everybody_who_listens_hears_the_end(tmp_path: Path) -> None:
    """Three kinds of open ends: none of them keeps the guard from stopping, and each is told in its own way."""
    stop = anyio.Event()

    async def run(*, task_status: TaskStatus[Gate]) -> None:
        async with guarded(tmp_path, Script()) as guard:
            task_status.started(guard)
            await stop.wait()

    async with httpx2.AsyncClient(trust_env=False) as http, anyio.create_task_group() as tasks:
        guard: Gate = await tasks.start(run)
        url = guard.where.url + DIRECT
        legacy, modern = HttpClient(http, url, modern=False), HttpClient(http, url)
        await legacy.initialize()
        async with (
            legacy.listening() as get,
            modern.listening(toolsListChanged=True) as subscribed,
            guard.stream(modern=False) as stream,
        ):
            await stream.initialize()
            await subscribed.until(ACKNOWLEDGED)
            stop.set()
            await get.until_ended()
            await subscribed.until_ended()
            await stream.ended.wait()
    assert subscribed.heard[-1]["result"]["_meta"][SUBSCRIPTION_ID] == 1
    assert subscribed.heard[-1]["result"]["resultType"] == "complete"
