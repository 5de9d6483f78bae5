"""A caller sees and reaches what its scope names. What lies beyond does not exist for it, in any list or answer."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from mcpguard.codec.uris import wrap_uri
from mcpguard.domain.capabilities import Effect
from tests.gate import Gate, gate
from tests.gateway.speaking import HOWS, TOKEN, callers, played, refused_once, scope, speaking
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
NARROW = scope("web", "e*,note://*")


@asynccontextmanager
async def two(folder: Path, web: Script, hidden: Script, **scopes: object) -> AsyncIterator[Gate]:
    """The caller with the token reaches some of `web` and nothing of `hidden`."""
    async with AsyncExitStack() as stack:
        scripts = {"web": web, "hidden": hidden}
        servers = [await stack.enter_async_context(played(folder, script, name)) for name, script in scripts.items()]
        known = callers(**{TOKEN: NARROW} | scopes)  # type: ignore[arg-type]
        guard = await stack.enter_async_context(gate(folder, *servers, callers=known))
        await guard.ready(*scripts)
        yield guard


async def test_only_what_is_within_is_listed(tmp_path: Path) -> None:
    async with two(tmp_path, Script(), Script()) as guard:
        for how in HOWS:
            async with speaking(guard, how, token=TOKEN) as client:
                assert await client.names() == ["web::echo"]
                assert len((await client.request("resources/list")).result["resources"]) == 1
                assert len((await client.request("resources/templates/list")).result["resourceTemplates"]) == 1
                assert await client.names("prompts/list") == []
            async with speaking(guard, how, token=TOKEN, only="web") as client:
                assert await client.names() == ["echo"]


async def test_what_is_beyond_is_unknown_whether_it_exists_or_not(tmp_path: Path) -> None:
    """The answers to a name that exists and to one that does not are the same in every word but the call's id."""
    web, hidden = Script(), Script()
    async with two(tmp_path, web, hidden) as guard:
        for how in HOWS:
            async with speaking(guard, how, token=TOKEN) as client:
                answers: list[Json] = []
                for name in ("hidden::echo", "hidden::nothing", "nowhere::echo", "web::slow", "web::nothing"):
                    with refused_once(guard, "capability:unknown", web, hidden) as entry:
                        answers.append((await client.call(name)).result)
                    assert entry["rules"] == "scope.name"
                    assert entry["caller"] == f"caller-{TOKEN}"
                for answer in answers:
                    del answer["_meta"]["mcpguard/refusal"]["call_id"]
                    assert answer == answers[0]
                errors: list[Json] = []
                for method, params in (
                    ("resources/read", {"uri": wrap_uri("hidden", "note://first")}),
                    ("resources/read", {"uri": wrap_uri("hidden", "note://nothing")}),
                    ("prompts/get", {"name": "hidden::greet"}),
                    ("prompts/get", {"name": "web::greet"}),
                    ("completion/complete", complete("hidden::greet")),
                    ("completion/complete", complete("hidden::nothing")),
                ):
                    with refused_once(guard, "capability:unknown", web, hidden):
                        errors.append((await client.request(method, params)).error)
                for error in errors:
                    del error["data"]["call_id"]
                    error["data"].pop("uri", None)  # the client's own words
                assert errors[0] == errors[1]
                assert all(error == errors[2] for error in errors[2:])


def complete(name: str) -> Json:
    return {"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "name", "value": ""}}


async def test_a_face_of_a_server_beyond_is_not_there(tmp_path: Path) -> None:
    async with two(tmp_path, Script(), Script()) as guard:
        for modern in (True, False):
            answers = []
            for server in ("hidden", "nowhere"):
                client = guard.client(f"/mcp/only/{server}", modern=modern, token=TOKEN)
                reply = await (client.discover() if modern else client.initialize())
                answers.append((reply.status, reply.error))
            assert answers[0] == answers[1]
            assert answers[0][0] == 404
        assert (await guard.client("/mcp/only/web", token=TOKEN).discover()).status == 200
        assert (await guard.client("/mcp/only/hidden").discover()).status == 200, "anonymous reaches everything here"


async def test_what_the_endpoint_can_do_says_nothing_of_servers_beyond(tmp_path: Path) -> None:
    web, hidden = Script(), Script()
    web.capabilities = {"tools": {}}
    async with two(tmp_path, web, hidden) as guard:
        assert set((await guard.client(token=TOKEN).discover()).result["capabilities"]) == {"tools"}
        legacy = await guard.client(token=TOKEN, modern=False).initialize()
        assert set(legacy.result["capabilities"]) == {"tools"}
        assert set((await guard.client().discover()).result["capabilities"]) > {"tools"}


async def test_a_server_beyond_makes_no_name_ambiguous(tmp_path: Path) -> None:
    async with two(tmp_path, Script(), Script()) as guard:
        anonymous, narrow = guard.client(), guard.client(token=TOKEN)
        assert (await anonymous.request("resources/read", {"uri": "note://first"})).error["code"] == -32602
        assert "contents" in (await narrow.request("resources/read", {"uri": "note://first"})).result


async def test_only_effects_within_are_used(tmp_path: Path) -> None:
    web = Script()
    async with two(tmp_path, web, Script(), **{TOKEN: scope("web", "*", Effect.READ)}) as guard:
        for how in HOWS:
            async with speaking(guard, how, token=TOKEN) as client:
                assert "web::echo" in await client.names()
                assert (await client.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
                with refused_once(guard, "scope:effect", web) as entry:
                    said = (await client.call("web::fail")).result["_meta"]["mcpguard/refusal"]
                assert (said["reason"], entry["effect"]) == ("scope:effect", "destructive")


async def test_headers_that_mirror_arguments_say_nothing_of_tools_beyond(tmp_path: Path) -> None:
    web, hidden = Script(), Script()
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    web.tool("sql", {}, inputSchema=schema)
    hidden.tool("echo", {}, inputSchema=schema)
    async with two(tmp_path, web, hidden) as guard:
        for name in ("web::sql", "hidden::echo"):
            assert (await guard.client().call(name, {"a": "b"})).error["code"] == -32020, "the header is missing"
            with refused_once(guard, "capability:unknown", web, hidden):
                said = (await guard.client(token=TOKEN).call(name, {"a": "b"})).result
            assert said["_meta"]["mcpguard/refusal"]["reason"] == "capability:unknown"
