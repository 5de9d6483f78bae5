"""A server that is gone was sent nothing, and that is what a client is told; unless an earlier round had reached it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskStatus

from tests.gate import Gate, gate, remote
from tests.gateway.asking import ANSWERS, nosy, permitted
from tests.gateway.speaking import refused_once
from tests.simulators.over_http import serving_http
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


class Leaving:
    """A server over HTTP that goes when it is told to."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._leave = anyio.Event()
        self._gone = anyio.Event()

    async def serve(self, *, task_status: TaskStatus[str]) -> None:
        async with serving_http(self._script) as url:
            task_status.started(url)
            await self._leave.wait()
        self._gone.set()

    async def go(self) -> None:
        self._leave.set()
        await self._gone.wait()


@asynccontextmanager
async def about_to_go(folder: Path, script: Script) -> AsyncIterator[tuple[Gate, Leaving]]:
    """A guard, and its server."""
    async with anyio.create_task_group() as tasks:
        server = Leaving(script)
        url = await tasks.start(server.serve)
        async with gate(folder, remote("web", url), asking__permitted=permitted("web")) as guard:
            await guard.ready("web")
            yield guard, server


async def test_what_was_not_sent_was_not_executed(tmp_path: Path) -> None:
    script = Script("modern")
    async with about_to_go(tmp_path, script) as (guard, server):
        await server.go()
        with refused_once(guard, "server:unreachable", script) as entry:
            said = (await guard.client().call("web::echo")).result["structuredContent"]
        assert (said["status"], said["executed"], said["reason"]) == ("refused", "no", "server:unreachable")
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
        said = (await client.request("tools/call", again)).result["structuredContent"]
        assert (said["status"], said["executed"], said["reason"]) == ("withheld", "unknown", "server:lost")
        (entry,) = guard.entries()
        assert (entry["outcome"], entry["executed"], entry["reason"]) == ("unknown", "unknown", "server:lost")
