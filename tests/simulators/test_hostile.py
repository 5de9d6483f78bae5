"""The misbehaviour that can be asked for really arrives at a client, over HTTP and on a stream."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import httpx2
import pytest

from mcpguard.codec.framing import Framing
from mcpguard.codec.messages import BadMessage, read
from tests.simulators import hostile
from tests.simulators.client import RawClient
from tests.simulators.hostile import on
from tests.simulators.http_client import HttpClient
from tests.simulators.line_client import LineClient, speaking_to
from tests.simulators.over_http import HttpFace, serving_http
from tests.simulators.processes import Controlled, controlled
from tests.simulators.responding import Replies
from tests.simulators.script import Hook, Script
from tests.simulators.web import HttpReply

pytestmark = pytest.mark.anyio


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def face(script: Script) -> HttpFace:
    return HttpFace(script)


@pytest.fixture(params=[True, False], ids=["modern", "legacy"])
async def http(face: HttpFace, request: pytest.FixtureRequest) -> AsyncIterator[HttpClient]:
    async with serving_http(face) as url, httpx2.AsyncClient(trust_env=False) as web:
        client = HttpClient(web, url, modern=request.param)
        if not client.modern:
            await client.initialize()
        yield client


@pytest.fixture
async def server(script: Script, tmp_path: Path) -> AsyncIterator[Controlled]:
    async with controlled(script, tmp_path) as found:
        yield found


@pytest.fixture(params=Framing)
async def line(server: Controlled, request: pytest.FixtureRequest) -> AsyncIterator[LineClient]:
    async with speaking_to([server.command, *server.arguments], framing=request.param) as client:
        yield client


async def test_the_raw_clients_speak_both_eras(http: HttpClient, line: LineClient) -> None:
    for client in (http, line):
        assert isinstance(client, RawClient)
        assert await client.names() == ["echo", "add", "slow", "fail", "progress", "big", "ask"]
        client.on["elicitation/create"] = lambda _: {"action": "accept", "content": {"name": "Ada"}}
        assert (await client.fulfil("tools/call", {"name": "ask"})).text == "accept: Ada"
        assert (await client.request("no/such")).error["code"] == -32601
        assert len((await client.call("progress", {"_meta": {}})).notifications) == 0
        client.meta["progressToken"] = "t"
        assert [each["params"]["progress"] for each in (await client.call("progress")).notifications] == [1, 2, 3]


async def test_changes_are_heard_without_a_call(script: Script, http: HttpClient) -> None:
    async with http.listening(toolsListChanged=True) as heard:
        if http.modern:
            await heard.until("notifications/subscriptions/acknowledged")
        await hostile.swap(script, "echo", description="Deletes everything.")
        await heard.until("notifications/tools/list_changed")
    tools = (await http.request("tools/list")).result["tools"]
    assert [each["description"] for each in tools if each["name"] == "echo"] == ["Deletes everything."]


REFUSED: dict[str, Hook] = {
    "garbage": hostile.garbage,
    "deep": hostile.deep(1000),
    "lone surrogate": hostile.lone_surrogate,
    "duplicate keys": hostile.duplicate_keys,
    "not finite": hostile.not_finite,
    "result and error": hostile.result_and_error,
    "odd error": hostile.odd_error("odd"),
}


@pytest.mark.parametrize("way", REFUSED)
async def test_bytes_in_the_place_of_an_answer_come_as_they_are(script: Script, http: HttpClient, way: str) -> None:
    script.hooks.append(on("tools/call", REFUSED[way]))
    reply = await http.call("echo")
    assert reply.status == 200
    with pytest.raises(BadMessage):
        read(reply.body, max_bytes=1_000_000)


async def test_answers_go_astray(script: Script, http: HttpClient, face: HttpFace, line: LineClient) -> None:
    script.hooks.append(on("tools/call", hostile.wrong_id))
    reply = await http.call("echo")
    assert reply.message is not None
    assert str(reply.message["id"]).startswith("not ")
    script.hooks[:] = [on("tools/call", hostile.twice, "add")]
    assert (await line.call("add", {"a": 1, "b": 1})).text == "2", "the first one counts"
    assert (await line.call("add", {"a": 1, "b": 2})).text == "3"
    assert line.stray[0]["result"]["content"][0]["text"] == "the second answer"
    face.replies = Replies.SSE
    script.hooks[:] = [on("tools/call", hostile.reverse_requests(2)), on("tools/call", hostile.flood(500))]
    for client in (http, line):
        assert len((await client.call("echo")).before) == 502
        assert [each["method"] for each in client.asked] == ["sampling/createMessage"] * 2
    script.hooks[:] = [hostile.once(on("tools/list", hostile.odd_error(7)))]
    assert (await http.request("tools/list")).error == {"code": 7, "message": "odd"}
    assert await http.names()


async def test_an_answer_never_comes(script: Script, http: HttpClient, line: LineClient) -> None:
    script.hooks.append(on("tools/call", hostile.never))
    for client in (http, line):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call, "echo")
            await script.received("tools/call", 1 + len(script.abandoned))
            await client.notify("notifications/cancelled", {"requestId": client.last})
            if client is line or not http.modern:  # a modern client hangs up instead
                await script.until(lambda: script.abandoned)
            tasks.cancel_scope.cancel()
        await script.until(lambda: script.abandoned)
        script.calls.clear()
        script.abandoned.clear()


async def test_an_answer_is_huge(script: Script, http: HttpClient, line: LineClient) -> None:
    script.hooks.append(on("tools/call", hostile.huge(5_000_000)))
    for client in (http, line):
        assert len((await client.call("echo")).text) == 5_000_000


async def test_a_process_breaks_off_in_the_middle(script: Script, server: Controlled, line: LineClient) -> None:
    script.hooks.append(on("tools/call", hostile.half))
    assert (await line.call("echo")).message is None
    await server.process.ended.wait()


@pytest.mark.parametrize("same", [True, False])
async def test_a_listing_never_ends(script: Script, line: LineClient, *, same: bool) -> None:
    script.hooks.append(on("tools/list", hostile.cursor_loop(script, same=same)))
    cursors = [(await line.request("tools/list", {"cursor": "0"})).result["nextCursor"] for _ in range(3)]
    assert len(set(cursors)) == (1 if same else 3)
    hostile.same_name_twice(script)
    page = (await line.request("tools/list")).result
    assert [tool["name"] for tool in page["tools"]].count("echo") == 2


@pytest.mark.parametrize("replies", Replies)
async def test_a_connection_breaks_off_in_the_middle(
    script: Script, http: HttpClient, face: HttpFace, replies: Replies, caplog: pytest.LogCaptureFixture
) -> None:
    face.replies = replies
    script.hooks.append(on("tools/call", hostile.half))
    with pytest.raises(httpx2.RemoteProtocolError), caplog.at_level("CRITICAL"):
        await http.call("echo")


async def test_http_itself_is_spoiled_on_request(http: HttpClient, face: HttpFace) -> None:
    face.meddle = lambda _: HttpReply(401, {"www-authenticate": "Bearer"}, b"<html>")
    reply = await http.call("echo")
    assert (reply.status, reply.headers["www-authenticate"], reply.body) == (401, "Bearer", b"<html>")
    face.meddle = lambda _: None
    face.lose_sessions()
    assert (await http.call("echo")).status == (200 if http.modern else 404)


async def test_what_the_headers_say_is_compared_with_the_body(script: Script, face: HttpFace) -> None:
    region = {"type": "string", "x-mcp-header": "Region"}
    script.tool("where", "here", inputSchema={"type": "object", "properties": {"region": region}})
    async with serving_http(face) as url, httpx2.AsyncClient(trust_env=False) as web:
        client = HttpClient(web, url)
        for headers, code in (
            ({"mcp-param-region": "=?base64?w6k=?="}, None),
            ({}, -32020),
            ({"mcp-param-region": "e"}, -32020),
            ({"mcp-param-region": "=?base64?w6k=?=", "mcp-name": "echo"}, -32020),
            ({"mcp-param-region": "=?base64?w6k=?=", "mcp-method": None}, -32020),
        ):
            reply = await client.call("where", {"region": "é"}, headers=headers)
            assert reply.message is not None
            assert reply.message.get("error", {}).get("code") == code, headers
            assert reply.status == (400 if code else 200)


async def test_a_stream_is_taken_up_again(script: Script, face: HttpFace) -> None:
    face.event_ids, face.replies = True, Replies.SSE
    script.tool("pausing", hostile.pausing)
    async with serving_http(face) as url, httpx2.AsyncClient(trust_env=False) as web:
        client = HttpClient(web, url, modern=False)
        await client.initialize()
        body = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "pausing"}})
        first = await web.post(url, content=body, headers=client.headers_for({}))
        last = [line[4:] for line in first.text.splitlines() if line.startswith("id: ")][-1]
        assert "result" not in first.text
        rest = await web.get(url, headers=client.headers_for({}) | {"last-event-id": last})
        assert "after the pause" in rest.text


async def test_a_process_does_what_it_is_told(server: Controlled) -> None:
    async with speaking_to([server.command, *server.arguments]) as client:
        process = await server.started()
        await process.complain(1_000_000)
        await process.garbage(b'{"jsonrpc":"2.0","method":"said/aloud"}')
        await process.huge_line(2_000_000)
        assert (await client.call("add", {"a": 1, "b": 1})).text == "2", "and what it said before has come"
        assert [len(each["method"]) for each in client.heard] == [10, 2_000_000]
        await process.grandchild()
        left_behind = await server.grandchild()
        await process.exit(3)
        await process.ended.wait()
        assert not left_behind.ended.is_set()
        async with speaking_to([server.command, *server.arguments]) as again:
            await again.discover()
            assert await server.started(2) is server.process
            await server.process.close_output()
            await again.ended.wait()
            assert not server.process.ended.is_set()


async def test_a_process_hangs(server: Controlled) -> None:
    async with speaking_to([server.command, *server.arguments]) as client:
        process = await server.started()
        await process.reading(on=False)
        await client.notify("first")
        await process.complain(1)  # an order there and back: it listens to us, and not to its client
        assert not server.script.calls
        await process.reading(on=True)
        await server.script.received("first")
