"""Connections that are opened and kept, by whoever likes, take nobody else's place."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.attacks.aftermath import Ended, nothing_else
from tests.gate import Gate
from tests.gateway.speaking import guarded
from tests.patience import PATIENCE
from tests.simulators.asked import Asked
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
PLACES = 10
HEAD = b"POST /mcp/all HTTP/1.1\r\nHost: %b\r\nContent-Type: application/json\r\n"
AGENT = b"Accept: application/json, text/event-stream\r\n"
SAID = {
    "nothing": b"",
    "half a head": HEAD,
    "no body": HEAD + AGENT + b"Content-Length: 1000\r\n\r\n",
    "two requests at once": b"GET /healthz HTTP/1.1\r\nHost: %b\r\n\r\n" + HEAD + AGENT + b"Content-Length: 9\r\n\r\n",
    "chunks of one byte": HEAD + AGENT + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    "a body that nobody reads": HEAD + b"Content-Length: 1000\r\n\r\n{",
}


@asynccontextmanager
async def kept(guard: Gate, said: bytes, count: int) -> AsyncIterator[None]:
    """So many connections that say this much, and are not closed."""
    host = guard.where.url.removeprefix("http://")
    async with AsyncExitStack() as stack:
        for number in range(count):
            local = f"127.0.0.{2 + number % 50}"
            stream = await anyio.connect_tcp("127.0.0.1", int(host.partition(":")[2]), local_host=local)
            await stack.enter_async_context(stream)
            if said:
                await stream.send(said.replace(b"%b", host.encode()))
        yield


@pytest.mark.parametrize("said", SAID)
async def test_connections_that_say_nothing_whole_give_up_their_places(said: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, limits__connections=PLACES) as guard:
        with nothing_else(guard, Ended("web", "echo", "answered", "yes")):
            async with kept(guard, SAID[said], 3 * PLACES):
                with anyio.fail_after(PATIENCE):
                    assert (await guard.http.get(guard.where.url + "/healthz")).status_code == 200
                    assert (await guard.client().call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        assert len(script.called("tools/call")) == 1, "what was said in half was no call"


async def held(asked: Asked) -> str:
    await asked.script.hold()
    return "done"


async def answered(guard: Gate) -> None:
    assert (await guard.client().call("web::held")).text == "done"


async def test_a_call_that_is_in_progress_keeps_its_place(tmp_path: Path) -> None:
    script = Script()
    script.tool("held", held)
    async with guarded(tmp_path, script, limits__connections=PLACES) as guard:
        with nothing_else(guard, Ended("web", "held", "answered", "yes")), anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(answered, guard)
                await script.until(lambda: script.held)
                async with kept(guard, b"", 3 * PLACES):
                    assert (await guard.http.get(guard.where.url + "/healthz")).status_code == 200
                    assert not script.abandoned, "whoever waits for an answer was not sent away"
                    script.go()
        assert len(script.called("tools/call")) == 1
