"""Connections that end by themselves: it is said why, nobody is left waiting, and there is a new one in time."""

from pathlib import Path

import anyio
import pytest

from mcpguard.domain.servers.upstreams import Transport
from mcpguard.upstreams.exchange.transport import TransportEnded
from tests.process import gone
from tests.simulators.asked import Asked
from tests.simulators.over_http import HttpFace, serving_http
from tests.simulators.over_sse import SseFace, serving_sse
from tests.simulators.processes import controlled
from tests.simulators.script import Script
from tests.upstreams.calling import Calls
from tests.upstreams.flock import flock, process, reaching, remote, settled

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("how", ["exit", "die", "close_output"])
async def test_a_process_that_ends_is_started_anew(how: str, tmp_path: Path) -> None:
    script = Script()
    async with (
        controlled(script, tmp_path) as server,
        flock(reaching(tmp_path), process("a", server)) as kept,
        anyio.create_task_group() as tasks,
    ):
        await kept.ready("a")
        calls = Calls(kept)
        tasks.start_soon(calls.make)
        await script.until(lambda: script.held)
        first = server.process
        await {"exit": first.exit, "die": first.die, "close_output": first.close_output}[how]()
        condition = await kept.stands("error", "a")
        said = {"exit": "exit code 1", "die": "by signal 9", "close_output": "but is still running"}[how]
        assert said in condition.error
        await calls.until(1)
        assert calls.ended == ["TransportEnded"]
        assert len(server.processes) == 1
        assert gone(first.pid)
        await kept.clock.advance(0.5)
        await kept.ready("a")
        assert server.process.pid != first.pid
        assert await kept.call("a")


async def test_a_process_that_ends_is_noticed_although_its_child_holds_its_output_open(tmp_path: Path) -> None:
    async with controlled(Script(), tmp_path) as server, flock(reaching(tmp_path), process("a", server)) as kept:
        await kept.ready("a")
        await server.process.grandchild()
        await server.grandchild()
        await server.process.exit(9)
        assert "exit code 9" in (await kept.stands("error", "a")).error


async def test_what_a_process_said_before_it_ended_still_counts(tmp_path: Path) -> None:
    script = Script("legacy")

    async def last(asked: Asked) -> str:
        await asked.say({"jsonrpc": "2.0", "id": asked.id, "result": {"content": [], "x": "y" * 200_000}})
        await server.process.exit(0)
        return "never said"

    script.tool("last", last)
    async with controlled(script, tmp_path) as server, flock(reaching(tmp_path), process("a", server)) as kept:
        await kept.ready("a")
        assert len((await kept.call("a", "last"))["x"]) == 200_000
        await kept.stands("error", "a")


async def test_a_session_that_is_lost_over_http_is_begun_anew(tmp_path: Path) -> None:
    face = HttpFace(Script("legacy"))
    async with (
        serving_http(face) as url,
        flock(reaching(tmp_path), remote("a", url)) as kept,
        anyio.create_task_group() as tasks,
    ):
        await kept.ready("a")
        calls = Calls(kept)
        tasks.start_soon(calls.make)
        await face.script.until(lambda: face.script.held)
        face.lose_sessions()
        tasks.start_soon(calls.make, "a", "echo")
        condition = await kept.stands("error", "a")
        assert condition.error == "the server has dropped the session"
        await calls.until(2)
        assert "answered" not in calls.ended
        assert len(face.script.called("tools/call", "echo")) == 0
        await kept.clock.advance(0.5)
        await kept.ready("a")
        assert await kept.call("a")


async def test_a_stream_that_ends_is_opened_anew(tmp_path: Path) -> None:
    face = SseFace(Script("legacy"))
    async with serving_sse(face) as url, flock(reaching(tmp_path), remote("a", url, transport=Transport.SSE)) as kept:
        await kept.ready("a")
        face.lose_sessions()
        assert (await kept.stands("error", "a")).error == "the server has closed its stream"
        await kept.clock.advance(0.5)
        await kept.ready("a")
        assert await kept.call("a")


async def test_who_cannot_get_rid_of_a_request_is_let_go_when_the_connection_ends(tmp_path: Path) -> None:
    """The server reads nothing, so a large request is stuck half-way."""
    script = Script()
    async with (
        controlled(script, tmp_path) as server,
        flock(reaching(tmp_path), process("a", server)) as kept,
        anyio.create_task_group() as tasks,
    ):
        await kept.ready("a")
        calls = Calls(kept)
        await server.process.reading(on=False)

        async def large() -> None:
            with pytest.raises(TransportEnded):
                await kept.call("a", "echo", {"x": "y" * 4_000_000})
            calls.ended.append("let go")

        tasks.start_soon(large)
        await settled()
        assert calls.ended == []
        kept.fleet.restart("a")
        await calls.until(1)
        await server.process.reading(on=True)
