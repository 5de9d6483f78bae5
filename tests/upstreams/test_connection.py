"""What is asked of a server goes out in its revision, and what it answers comes back without what was its own leg's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.codec import envelope
from mcpguard.domain.servers.launches import Era
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.upstreams.exchange.conversation import Counts
from mcpguard.upstreams.protocol.calls_in_flight import CallSlots
from mcpguard.upstreams.protocol.connection import Connection
from mcpguard.upstreams.protocol.listing import ListingBounds
from mcpguard.upstreams.protocol.negotiation import Greeting
from mcpguard.upstreams.protocol.switchboard import Switchboard
from tests.simulators.over_http import HttpFace, serving_http
from tests.simulators.over_sse import serving_sse
from tests.simulators.processes import controlled
from tests.simulators.script import Script
from tests.simulators.words import LEGACY, MODERN, Json
from tests.upstreams.flock import Flock, Somebody, flock, process, reaching, remote

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def over_http(script: Script, folder: Path) -> AsyncIterator[tuple[Flock, HttpFace]]:
    face = HttpFace(script)
    async with serving_http(face) as url, flock(reaching(folder), remote("a", url)) as kept:
        await kept.ready("a")
        yield kept, face


def called(script: Script) -> Json:
    """The parameters of the only call of a tool."""
    (message,) = script.called("tools/call")
    params: Json = message["params"]
    return params


async def test_an_earlier_server_gets_what_was_asked_and_nothing_else() -> None:
    script = Script("legacy")
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        await kept.call("a", "echo", {"x": None}, Somebody("agent", level="debug"))
        assert called(script) == {"name": "echo", "arguments": {"x": None}}


async def test_a_modern_server_hears_who_asks_in_which_revision() -> None:
    script = Script("modern")
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        await kept.call("a", "echo", {}, Somebody("agent", level="warning"))
        assert called(script)["_meta"] == {
            envelope.PROTOCOL: MODERN,
            envelope.CLIENT: {"name": "agent-through-proxy", "version": "0"},
            envelope.CAPABILITIES: {},
            envelope.LOG_LEVEL: "warning",
        }


async def test_a_client_without_a_name_is_us() -> None:
    script = Script("modern")
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        await kept.call("a", "echo", {}, Somebody(""))
        assert called(script)["_meta"][envelope.CLIENT] == {"name": "mcpguard", "version": "0"}
        assert envelope.LOG_LEVEL not in called(script)["_meta"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_progress_is_asked_for_only_by_those_who_want_it(era: str) -> None:
    script = Script(era)
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        await kept.call("a", "progress", {"steps": 2}, Somebody())
        wants = Somebody(progress=True)
        await kept.call("a", "progress", {"steps": 2}, wants)
        without, with_ = (message["params"].get("_meta", {}) for message in script.called("tools/call"))
        assert "progressToken" not in without
        assert isinstance(with_["progressToken"], str)
        assert [said["progress"] for said in wants.progressed] == [1, 2]


async def test_what_a_modern_server_says_for_its_own_leg_is_taken_off() -> None:
    script = Script("modern")
    script.tool("odd", {"content": [], "ttlMs": 1, "_meta": {"own": 1}, "structuredContent": {"resultType": "x"}})
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        assert await kept.call("a", "odd") == {
            "content": [],
            "_meta": {"own": 1},
            "structuredContent": {"resultType": "x"},
        }


async def test_what_an_earlier_server_says_is_left_as_it_is() -> None:
    script = Script("legacy")
    odd = {"content": [], "ttlMs": 1, "resultType": "input_required", "_meta": {envelope.SERVER: 1}, "x": [None, 1e300]}
    script.tool("odd", odd)
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        assert await kept.call("a", "odd") == odd


async def test_an_error_of_the_server_comes_back_as_it_is() -> None:
    async with flock({"a": Script()}) as kept:
        await kept.ready("a")
        assert await kept.failed("a", "unknown") == {"code": -32602, "message": "Unknown tool: unknown"}


# Arguments that a modern server wants repeated in headers.


def header(name: Any, type_: str = "string") -> Json:  # noqa: ANN401 - JSON
    return {"type": type_, "x-mcp-header": name}


def schema(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


async def test_arguments_are_repeated_in_the_headers_that_the_tool_names(tmp_path: Path) -> None:
    script = Script("modern")
    nested = schema(deep=header("Deep", "integer"))
    script.tool("t", "done", inputSchema=schema(a=header("Region"), b=header("On", "boolean"), c=nested, d={}))
    arguments = {"a": "zürich\r\nx: y", "b": True, "c": {"deep": 7}, "d": "secret"}
    async with over_http(script, tmp_path) as (kept, face):
        await kept.call("a", "t", arguments)
        headers = face.requests[-1].headers
        assert {name: value for name, value in headers.items() if name.startswith("mcp-param-")} == {
            "mcp-param-region": "=?base64?esO8cmljaA0KeDogeQ==?=",
            "mcp-param-on": "true",
            "mcp-param-deep": "7",
        }
        assert called(script)["arguments"] == arguments


async def test_what_is_not_given_is_not_repeated(tmp_path: Path) -> None:
    script = Script("modern")
    script.tool("t", "done", inputSchema=schema(a=header("Region"), b=header("Other")))
    async with over_http(script, tmp_path) as (kept, face):
        await kept.call("a", "t", {"a": None})
        assert not [name for name in face.requests[-1].headers if name.startswith("mcp-param-")]
        await kept.call("a", "echo", {"a": "x"})
        assert not [name for name in face.requests[-1].headers if name.startswith("mcp-param-")], "another tool"


BAD = {
    "no name": schema(a=header("")),
    "no token": schema(a=header("with space")),
    "a second header": schema(a=header("X\r\nEvil: 1")),
    "no text": schema(a=header(7)),
    "twice": schema(a=header("Same"), b=header("same")),
    "a number": schema(a=header("N", "number")),
    "an object": schema(a=header("O", "object")),
    "several types": schema(a={"type": ["string", "null"], "x-mcp-header": "N"}),
    "in a list": schema(a={"type": "array", "items": header("I")}),
    "in a choice": {"type": "object", "anyOf": [schema(a=header("C"))]},
    "at the root": {"type": "object", "x-mcp-header": "Root"},
}


@pytest.mark.parametrize("wrong", BAD.values(), ids=BAD.keys())
async def test_a_tool_that_asks_for_headers_that_cannot_be_given_is_not_offered(wrong: Json, tmp_path: Path) -> None:
    """The protocol says that clients must leave it out."""
    script = Script("modern", tools=[])
    script.tool("before", "done")
    script.tool("bad", "done", inputSchema=wrong)
    script.tool("after", "done", inputSchema=schema(a=header("Region")))
    async with over_http(script, tmp_path) as (kept, face):
        assert [tool["name"] for tool in kept.listings("a")[-1].tools] == ["before", "after"]
        await kept.call("a", "after", {"a": "x"})
        assert face.requests[-1].headers["mcp-param-region"] == "x", "the others are what they were"


@pytest.mark.parametrize("how", ["stdio", "sse", "an earlier revision"])
async def test_where_no_headers_are_sent_it_is_offered_all_the_same(how: str, tmp_path: Path) -> None:
    script = Script("legacy" if how != "stdio" else "modern", tools=[])
    script.tool("bad", "done", inputSchema=schema(a=header("with space")))
    async with (
        controlled(script, tmp_path) as started,
        serving_sse(script) as sse,
        serving_http(script) as http,
    ):
        server = {
            "stdio": process("a", started),
            "sse": remote("a", sse, transport=Transport.SSE),
            "an earlier revision": remote("a", http),
        }[how]
        async with flock(reaching(tmp_path), server) as kept:
            assert (await kept.ready("a")).protocol == (MODERN if how == "stdio" else LEGACY[0])
            assert [tool["name"] for tool in kept.listings("a")[-1].tools] == ["bad"]
            await kept.call("a", "bad", {"a": "x"})


@pytest.mark.parametrize("odd", [None, 7, ["x"], {"x": 1}, ""])
async def test_a_tool_without_a_name_does_no_harm(odd: Any, tmp_path: Path) -> None:  # noqa: ANN401 - JSON
    script = Script("modern")
    script.tools.append({"name": odd, "inputSchema": schema(a=header("Region"))})
    script.tools.append({"inputSchema": schema(a=header("Region"))})
    script.tools.append({"name": "no schema", "inputSchema": odd})
    async with over_http(script, tmp_path) as (kept, _):
        assert len(kept.listings("a")[-1].tools) == len(script.tools)
        assert await kept.call("a")


async def test_a_schema_that_changes_changes_the_headers(tmp_path: Path) -> None:
    script = Script("modern")
    script.tool("t", "done", inputSchema=schema(a=header("Old")))
    async with over_http(script, tmp_path) as (kept, face):
        script.tool("t", "done", inputSchema=schema(a=header("New")))
        kept.fleet.restart("a")
        await kept.stands("error", "a")
        await kept.clock.advance(1)
        await kept.ready("a")
        await kept.call("a", "t", {"a": "x"})
        assert {name for name in face.requests[-1].headers if name.startswith("mcp-param-")} == {"mcp-param-new"}


class AtOnce:
    """A conversation with a server that answers everything at once: nothing is waited for."""

    in_doubt = False

    def __init__(self, **answers: Json) -> None:
        self.artifact: str | None = None
        self.counts = Counts()
        self._answers = answers

    async def request(self, method: str, *_: object) -> Json:
        return self._answers[method.partition("/")[0]]

    async def notify(self, *_: object) -> None:
        raise AssertionError("nothing is told")

    async def run(self) -> None:
        raise AssertionError("it does not run")

    def speak(self, _version: str) -> None:
        raise AssertionError("it was agreed on")


async def test_others_have_their_turns_while_schemas_are_searched_for_headers() -> None:
    """A schema may be as large as a message. Here nothing else of the listing is waited for, so these turns are all."""
    wide = schema(**{f"p{number}": {"type": "object", "properties": {}} for number in range(20_000)})
    talk = AtOnce(tools={"tools": [{"name": "wide", "inputSchema": wide}]})
    greeting = Greeting(Era.MODERN, MODERN, {"tools": {}})
    switchboard = Switchboard("a", CallSlots(1, 1), lambda _: None)
    connection = Connection(talk, switchboard, greeting, {"name": "us"}, in_headers=True)
    turns, ended = 0, False

    async def other() -> None:
        nonlocal turns
        while not ended:
            turns += 1
            await checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await checkpoint()
        before = turns
        assert len((await connection.list_everything(ListingBounds())).tools) == 1
        ended = True
    assert turns - before > 1
