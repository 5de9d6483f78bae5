"""Lists: whole, in an order that does not change by itself, page by page, and honest about what the endpoint can do."""

import base64
import json
from contextlib import AsyncExitStack
from itertools import product
from pathlib import Path

import pytest

from tests.gate import gate, remote
from tests.gateway.leaving import leaving
from tests.gateway.speaking import HOWS, guarded, nothing_happens, played, refused_once, restarted, speaking
from tests.review import DECISION
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
NOBODY = "http://127.0.0.1:1/mcp"
LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")


def cursor(offset: object) -> str:
    return base64.b64encode(json.dumps({"offset": offset}).encode()).decode()


NO_CURSORS = [
    "",
    "x",
    "0",
    "none",
    "\u00fc",
    cursor(-1),
    cursor(-(2**40)),
    cursor(2**31),
    cursor(10**30),
    cursor(1.0),
    cursor(True),
    cursor(None),
    cursor("1"),
    cursor([1]),
    base64.b64encode(b"{}").decode(),
    base64.b64encode(b"1").decode(),
    base64.b64encode(b'{"offset":0,"offset":5}').decode(),
    base64.b64encode(b'{"offset":0,"more":1}').decode(),
    base64.b64encode(b'{"offset":NaN}').decode(),
    cursor(0) + "\n",
    cursor(0) * 100,
    "A" * 100_000,
]
NO_LIMITS = [0, -1, 1.5, "5", True, [], {}]


async def test_pages_make_up_the_whole_list(tmp_path: Path) -> None:
    script = Script(tools=[])
    for number in range(25):
        script.tool(f"tool{number}", "")
    async with guarded(tmp_path, script, limits__page=10) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                assert await client.names() == [f"web::tool{number}" for number in range(25)]
                first = (await client.request("tools/list", {"limit": None, "cursor": None})).result
                assert len(first["tools"]) == 10
                assert json.loads(base64.b64decode(first["nextCursor"])) == {"offset": 10}
                for limit, given in ((3, 3), (10, 10), (11, 10), (10**30, 10)):
                    assert len((await client.request("tools/list", {"limit": limit})).result["tools"]) == given
                last = (await client.request("tools/list", {"cursor": cursor(20), "limit": 5})).result
                assert [each["name"] for each in last["tools"]] == [f"web::tool{number}" for number in range(20, 25)]
                assert "nextCursor" not in last
                beyond = (await client.request("tools/list", {"cursor": cursor(1000)})).result
                assert beyond["tools"] == []
                assert "nextCursor" not in beyond, "nobody is sent round in circles"


async def test_what_is_no_cursor_or_limit_is_refused(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                for method in LISTS:
                    for given in NO_CURSORS if method == "tools/list" else [cursor(-1)]:
                        assert (await client.request(method, {"cursor": given})).error["code"] == -32602
                    for limit in NO_LIMITS if method == "tools/list" else [0]:
                        assert (await client.request(method, {"limit": limit})).error["code"] == -32602
                odd: list[object] = [5, True, [], {}]
                for each in odd:
                    assert (await client.request("tools/list", {"cursor": each})).error["code"] == -32602


async def test_the_order_is_by_server_and_then_the_servers_own(tmp_path: Path) -> None:
    scripts = {name: Script(tools=[]) for name in ("zulu", "alpha", "mike")}
    for script in scripts.values():
        for name in ("second", "first"):
            script.tool(name, "")
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(played(tmp_path, script, name)) for name, script in scripts.items()]
        guard = await stack.enter_async_context(gate(tmp_path, *servers))
        await guard.ready(*scripts)
        wanted = [f"{server}::{name}" for server in sorted(scripts) for name in ("second", "first")]
        for how in HOWS:
            async with speaking(guard, how) as client:
                assert await client.names() == wanted == await client.names()
        await restarted(guard, "alpha")
        assert await guard.client().names() == wanted, "also after one was listed again"


async def test_the_endpoint_can_do_what_one_of_the_servers_can(tmp_path: Path) -> None:
    one, other, third = Script("legacy", tools=[]), Script("modern"), Script()
    one.capabilities = {"tools": {}}
    other.capabilities = {"prompts": {"listChanged": False}, "completions": {}, "experimental": {"x": {}}}
    third.capabilities = {}
    async with AsyncExitStack() as stack:
        scripts = {"one": one, "other": other, "third": third}
        servers = [await stack.enter_async_context(played(tmp_path, script, name)) for name, script in scripts.items()]
        guard = await stack.enter_async_context(gate(tmp_path, *servers))
        await guard.ready(*scripts)
        changing = {"listChanged": True}
        expected = {
            None: {"tools": changing, "prompts": changing, "completions": {}},
            "one": {"tools": changing},
            "other": {"prompts": changing, "completions": {}},
            "third": {},
        }
        for only, wanted in expected.items():
            path = f"/mcp/only/{only}" if only else "/mcp/all"
            assert (await guard.client(path).discover()).result["capabilities"] == wanted
            assert (await guard.client(path, modern=False).initialize()).result["capabilities"] == wanted
        assert third.called("tools/list") == []
        assert (await guard.client("/mcp/only/third").names()) == []


async def test_in_the_modern_era_a_list_is_for_this_client_and_this_moment(tmp_path: Path) -> None:
    script = Script()
    script.ttl_ms, script.cache_scope = 600_000, "public"
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                for method in LISTS:
                    said = (await client.request(method)).result
                    hints = (said.get("resultType"), said.get("ttlMs"), said.get("cacheScope"))
                    assert hints == (("complete", 0, "private") if "modern" in how else (None, None, None))
                read = (await client.request("resources/read", {"uri": "note://first"})).result
                assert (read.get("ttlMs"), read.get("cacheScope")) == (
                    (0, "private") if "modern" in how else (None, None)
                )
                called = (await client.call("web::echo")).result
                assert "ttlMs" not in called


async def test_a_server_that_is_not_connected_has_an_empty_list_and_takes_no_calls(tmp_path: Path) -> None:
    """Whether it is not there any more, or never was: then nobody could inspect it."""
    script, other = Script(), Script()
    async with (
        played(tmp_path, script, "web") as web,
        leaving(other) as server,
        gate(tmp_path, web, remote("gone", server.url), remote("never", NOBODY), upstreams__settle_seconds=0) as guard,
    ):
        await guard.now.guard.decisions.disable("gone", DECISION)
        await server.go()
        await guard.now.guard.decisions.enable("gone", DECISION)
        for how, (only, reason) in product(HOWS, {"gone": "server:unreachable", "never": "server:quarantined"}.items()):
            async with speaking(guard, how, only=only) as client:
                for method in LISTS:
                    assert next(value for value in (await client.request(method)).result.values() if value == []) == []
                with refused_once(guard, reason, script, other):
                    said = (await client.call("echo")).result["_meta"]["mcpguard/refusal"]
                assert (said["reason"], said["executed"]) == (reason, "no")
            async with speaking(guard, how) as client:
                assert {name.partition("::")[0] for name in await client.names()} == {"web"}
                with refused_once(guard, reason, script, other):
                    await client.call(f"{only}::echo")


async def test_there_is_nothing_where_there_is_no_server(tmp_path: Path) -> None:
    script = Script()
    paths = ["other", "", "web//", "web/x", "WEB", "a__b", "web%2f", "web%00", "*", "%2e%2e/web"]
    async with guarded(tmp_path, script) as guard:
        with nothing_happens(guard, script):
            for path in paths:
                for modern in (True, False):
                    client = guard.client(f"/mcp/only/{path}", modern=modern)
                    reply = await (client.discover() if modern else client.initialize())
                    assert (reply.status, reply.error["code"]) == (404, -32600), path
            for path in ("/mcp/guard", "/mcp/ALL", "/mcp/all//", "/mcp/only", "/mcp/other"):
                assert (await guard.client(path).discover()).status == 404
