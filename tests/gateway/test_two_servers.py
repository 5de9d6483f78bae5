"""An agent on the direct face uses several servers through one endpoint as if they were one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.gate import Gate, gate, process, remote
from tests.simulators.client import RawClient
from tests.simulators.over_http import serving_http
from tests.simulators.processes import controlled
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def two(folder: Path) -> AsyncIterator[tuple[Gate, Script, Script]]:
    """One server over HTTP and one that is a process."""
    web, local = Script(), Script()
    async with serving_http(web) as url, controlled(local, folder) as command:
        servers = remote("web", url), process("local", [command.command, *command.arguments])
        async with gate(folder, *servers) as guard:
            await guard.ready("web", "local")
            yield guard, web, local


@pytest.mark.parametrize("how", ["http modern", "http legacy", "stream modern", "stream legacy"])
async def test_both_are_there_and_each_gets_only_what_is_meant_for_it(how: str, tmp_path: Path) -> None:
    async with two(tmp_path) as (guard, web, local), speaking(guard, how) as client:
        names = await client.names()
        assert {"web::echo", "local::echo"} <= {*names}
        assert names == sorted(names, key=lambda name: name.split("::")[0]), "by server"
        for server, script in (("web", web), ("local", local)):
            arguments = {"text": server, "null": None, "odd": 1e300}
            reply = await client.call(f"{server}::echo", arguments)
            assert reply.result["structuredContent"] == arguments
            (call,) = script.called("tools/call")
            assert call["params"]["name"] == "echo"
            assert call["params"]["arguments"] == arguments
        entries = guard.entries()
        assert [(each["server"], each["name"], each["outcome"]) for each in entries] == [
            ("web", "echo", "answered"),
            ("local", "echo", "answered"),
        ]


@asynccontextmanager
async def speaking(guard: Gate, how: str) -> AsyncIterator[RawClient]:
    transport, era = how.split()
    if transport == "stream":
        async with guard.stream(modern=era == "modern") as client:
            if era == "legacy":
                assert (await client.initialize()).result["serverInfo"]["name"] == "mcpguard"
            yield client
    else:
        yield guard.client() if era == "modern" else await guard.legacy()
