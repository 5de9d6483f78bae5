"""A server that is gone was sent nothing, and that is what a client is told; unless an earlier round had reached it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.asks import AskKind
from tests.attacks.quarantined import doubted
from tests.gate import Gate, gate, remote
from tests.gateway.asking import ANSWERS, nosy
from tests.gateway.leaving import Leaving, leaving
from tests.gateway.speaking import refused_once
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def about_to_go(folder: Path, script: Script, **settings: Any) -> AsyncIterator[tuple[Gate, Leaving]]:  # noqa: ANN401 - settings
    """A guard, and its server."""
    async with (
        leaving(script) as server,
        gate(folder, remote("web", server.url), may_ask={"web": AskKind}, **settings) as guard,
    ):
        yield guard, server


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_what_was_not_sent_was_not_executed(era: str, tmp_path: Path) -> None:
    """Of a server that never says when its lists change, nobody notices that it went, until somebody calls."""
    script = Script(era)
    script.capabilities = {"tools": {}}
    async with about_to_go(tmp_path, script) as (guard, server):
        await server.go()
        with refused_once(guard, "server:unreachable", script) as entry:
            said = (await guard.client().call("web::echo")).result["_meta"]["mcpguard/refusal"]
        assert (said["status"], said["executed"], said["reason"]) == ("refused", "no", "server:unreachable")
        assert said["call_id"] == entry["entry"]


async def test_a_call_waits_in_vain_for_a_server_that_may_list_something_else_when_it_comes_back(
    tmp_path: Path,
) -> None:
    script = Script("modern")
    async with about_to_go(tmp_path, script, definitions__confirm_seconds=1) as (guard, server):
        await server.go()
        await doubted(guard)
        with refused_once(guard, "capability:unconfirmed", script) as entry:
            said = (await guard.client().call("web::echo")).result["_meta"]["mcpguard/refusal"]
        assert (said["status"], said["executed"], said["reason"]) == ("refused", "no", "capability:unconfirmed")
        assert said["call_id"] == entry["entry"]


async def test_what_was_sent_in_an_earlier_round_may_have_been_executed(tmp_path: Path) -> None:
    script = nosy("modern")
    async with about_to_go(tmp_path, script) as (guard, server):
        client = guard.client()
        params: dict[str, Any] = {"name": "web::inquire", "arguments": {"kinds": ["roots"]}}
        first = (await client.request("tools/call", params)).result
        await server.go()
        given = dict.fromkeys(first["inputRequests"], ANSWERS["roots"])
        again = params | {"requestState": first["requestState"], "inputResponses": given}
        said = (await client.request("tools/call", again)).result["_meta"]["mcpguard/refusal"]
        assert (said["status"], said["executed"], said["reason"]) == ("withheld", "unknown", "server:lost")
        (entry,) = guard.entries()
        assert (entry["outcome"], entry["executed"], entry["reason"]) == ("unknown", "unknown", "server:lost")
