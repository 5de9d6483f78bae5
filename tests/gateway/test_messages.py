"""What is no message is refused as the specification says, is counted, and disturbs nobody."""

import json
from pathlib import Path

import anyio
import pytest

from tests.gateway.speaking import HOWS, guarded, nothing_happens, speaking, turned_away
from tests.simulators.client import Reply
from tests.simulators.http_client import HttpClient
from tests.simulators.line_client import LineClient
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
PARSE, INVALID = -32700, -32600


def call(arguments: str, id_: str = "1", more: str = "", *, modern: bool = False) -> bytes:
    """A call with exactly these characters in it."""
    meta = f',"_meta":{META}' if modern else ""
    params = f'{{"name":"web::echo","arguments":{arguments}{meta}}}'
    return f'{{"jsonrpc":"2.0","id":{id_},"method":"tools/call","params":{params}{more}}}'.encode()


META = json.dumps(
    {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
)
NO_JSON = [
    b"nothing",
    b"{",
    b'{"jsonrpc":"2.0"',
    b"\xef\xbb\xbf" + call("{}"),
    call("{}").decode().encode("utf-16"),
    call('{"a":"\xff"}').replace(b"\xc3\xbf", b"\xff"),
    call('{"a":1,"a":2}'),
    call("{}", more=',"id":2'),
    call('{"a":NaN}'),
    call('{"a":Infinity}'),
    call('{"a":-Infinity}'),
    call('{"a":1e400}'),
    call('{"a":"\\ud800"}'),
    call('{"\\udfff":1}'),
    call('{"a":"\\ud800\\ud800"}'),
    call("[" * 100 + "]" * 100),
    call("[" * 100_000),
    call('{"a":' * 63 + "1" + "}" * 63),
    call('{"a":' + "9" * 5000 + "}"),
    call("{} x"),
    call("{}") + call("{}"),
    call("{}") + b"\x00",
    call("{'a':1}"),
    call('{"a":01}'),
]
NO_MESSAGE = [
    b"null",
    b"1",
    b'"text"',
    b"[]",
    b"[" + call("{}") + b"]",
    b"[" + call("{}") + b"," + call("{}") + b"]",
    b"{}",
    call("{}", "true"),
    call("{}", "1.5"),
    call("{}", "1.0"),
    call("{}", "1e0"),
    call("{}", "null"),
    call("{}", "[1]"),
    call("{}", "{}"),
    call("{}", str(2**60)),
    call("{}", str(-(2**60))),
    b'{"id":1,"method":"ping"}',
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b'{"jsonrpc":2.0,"id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","id":1,"method":5}',
    b'{"jsonrpc":"2.0","id":1,"method":""}',
    b'{"jsonrpc":"2.0","id":1,"method":null}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
    b'{"jsonrpc":"2.0","id":1,"result":5}',
    b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}',
    b'{"jsonrpc":"2.0","result":{}}',
]


async def post(client: HttpClient, content: bytes) -> Reply:
    """These bytes, with the headers of a call."""
    message: Json = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "web::echo"}}
    return await client.exchange(message, content=content)


async def test_over_the_network_it_is_a_bad_request(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, anyio.create_task_group() as tasks:
        other = guard.client()
        replies: list[Reply] = []

        async def meanwhile() -> None:
            replies.append(await other.call("web::slow"))

        tasks.start_soon(meanwhile)
        await script.until(lambda: script.held == 1)
        for client in (guard.client(), await guard.legacy()):
            with nothing_happens(guard, script):
                for code, bodies in ((PARSE, [b"", *NO_JSON]), (INVALID, NO_MESSAGE)):
                    for body in bodies:
                        reply = await post(client, body)
                        assert (reply.status, reply.error["code"]) == (400, code), body[:80]
                        assert reply.headers["content-type"] == "application/json"
            assert (await client.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        script.go()
        while not replies:
            await anyio.lowlevel.checkpoint()
        assert replies[0].text == "at last", "nobody else was disturbed"
        assert (await turned_away(guard)) == {("network", "message"): 2 * (1 + len(NO_JSON) + len(NO_MESSAGE))}


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_on_a_stream_it_is_an_error_and_the_stream_goes_on(era: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, speaking(guard, f"stream {era}") as client:
        assert isinstance(client, LineClient)
        answers = _unaddressed(client)
        with nothing_happens(guard, script):
            for code, bodies in ((PARSE, NO_JSON), (INVALID, NO_MESSAGE)):
                for body in bodies:
                    if b"\n" in body:
                        continue
                    await client.send_raw(body)
                    await client.request("server/discover" if era == "modern" else "ping", id_="after")
                    assert answers, body
                    assert answers.pop()["error"]["code"] == code, body[:80]
                    assert not answers
        await client.send_raw(b"\r\n\n   \t")
        assert (await client.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        assert not answers
        lines = [body for body in (*NO_JSON, *NO_MESSAGE) if b"\n" not in body]
        assert (await turned_away(guard)) == {("streams", "message"): len(lines)}


def _unaddressed(client: LineClient) -> list[Json]:
    """Collects the answers that belong to no request of this client's."""
    found: list[Json] = []
    take = client._take

    async def collecting(said: Json) -> None:
        if "method" not in said and said.get("id") not in client._waiting:
            found.append(said)
        await take(said)

    client._take = collecting  # type: ignore[method-assign]
    return found


async def test_what_is_just_within_the_limits_is_taken(tmp_path: Path) -> None:
    script = Script()
    good = [
        '{"a":' * 62 + "1" + "}" * 62,
        '{"a":1e300,"b":-0.0,"c":5e-324}',
        f'{{"a":{2**64},"b":{10**100}}}',
        '{"a":"\\ud83d\\ude00","\\u0000":"\\u007f\\u2028"}',
        '{"a":null,"":[]}',
    ]
    async with guarded(tmp_path, script, arguments__deepest=100) as guard:
        for client in (guard.client(), await guard.legacy()):
            for arguments in good:
                body = call(arguments, '"\\u00fc"', modern=client.modern)
                reply = await post(client, b" \n" + body + b"\r\n ")
                assert reply.message is not None
                assert reply.message["id"] == "\u00fc"
                assert reply.result["structuredContent"] == json.loads(arguments)
            for id_ in (0, -1, 2**53 - 1, -(2**53) + 1, "", "1", "x" * 1000):
                said = (await post(client, call("{}", json.dumps(id_), modern=client.modern))).message
                assert said is not None
                assert (said["id"], type(said["id"])) == (id_, type(id_))


async def test_a_body_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, limits__body_bytes=10_000) as guard:
        for client in (guard.client(), await guard.legacy()):
            with nothing_happens(guard, script):
                assert (await post(client, call('{"a":"' + "x" * 10_000 + '"}'))).status == 413
            assert (await post(client, call('{"a":"' + "x" * 9_000 + '"}', modern=client.modern))).status == 200


async def test_a_line_over_the_limit_ends_its_stream_and_no_other(tmp_path: Path) -> None:
    script = Script()
    async with (
        guarded(tmp_path, script, limits__body_bytes=10_000) as guard,
        guard.stream() as long,
        guard.stream() as other,
    ):
        with nothing_happens(guard, script):
            await long.send_raw(call('{"a":"' + "x" * 20_000 + '"}'))
            await long.ended.wait()
        assert (await other.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        assert (await turned_away(guard)) == {("streams", "message"): 1}


async def test_methods_that_there_are_not(tmp_path: Path) -> None:
    script = Script()
    legacy_only = ["ping", "logging/setLevel", "shutdown", "resources/subscribe", "resources/unsubscribe"]
    modern_only = ["server/discover", "subscriptions/listen"]
    nowhere = ["x", "tools/", "TOOLS/LIST", "resources/watch", "tasks/get", "rpc.discover"]
    nowhere += ["notifications/initialized", "sampling/createMessage", "tools/call\n", "\u00fc" * 500, "__class__"]
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                with nothing_happens(guard, script):
                    for method in nowhere + (legacy_only if "modern" in how else modern_only):
                        if how == "http modern" and not (method.isascii() and method.isprintable()):
                            continue  # no header can say it
                        reply = await client.request(method, {"level": "info", "notifications": {}, "uri": "x:y"})
                        assert reply.error["code"] == -32601, (how, method)
                        assert reply.status == {"http modern": 404, "http legacy": 200}.get(how)
                    for method in ("notifications/x", "x", "notifications/initialized", "notifications/progress"):
                        assert (await client.notify(method, {"x": [1]})).status in (202, None)
                    assert (await client.request("tools/list")).result["tools"]
        away = await turned_away(guard)
        assert set(away) == {("network", "method"), ("streams", "method")}


NOT_THE_PARAMETERS: list[tuple[str, Json]] = [
    ("tools/call", {}),
    ("tools/call", {"name": None}),
    ("tools/call", {"name": 5}),
    ("tools/call", {"name": ["web::echo"]}),
    ("tools/call", {"name": "web::echo", "arguments": []}),
    ("tools/call", {"name": "web::echo", "arguments": "{}"}),
    ("tools/call", {"name": "web::echo", "arguments": 5}),
    ("resources/read", {}),
    ("resources/read", {"uri": 5}),
    ("resources/read", {"uri": None}),
    ("prompts/get", {}),
    ("prompts/get", {"name": {}}),
    ("prompts/get", {"name": "web::greet", "arguments": {"a": 5}}),
    ("completion/complete", {}),
    ("completion/complete", {"ref": {}, "argument": {"name": "a", "value": ""}}),
    ("completion/complete", {"ref": {"type": "ref/other", "name": "x"}, "argument": {"name": "a", "value": ""}}),
    ("completion/complete", {"ref": {"type": "ref/prompt"}, "argument": {"name": "a", "value": ""}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "web::greet"}}),
    ("completion/complete", {"ref": {"type": "ref/resource", "uri": 5}, "argument": {"name": "a", "value": ""}}),
    ("tools/list", {"cursor": 5}),
]


async def test_parameters_that_a_method_does_not_have(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                with nothing_happens(guard, script):
                    for method, params in NOT_THE_PARAMETERS:
                        reply = await client.request(method, params)
                        header = how == "http modern" and not isinstance(
                            params.get("name", params.get("uri")), str | None
                        )
                        assert reply.error["code"] == (-32020 if header else -32602), (how, method, params)
                        assert reply.status == {"http modern": 400, "http legacy": 200}.get(how)
                        assert len(reply.error["message"]) < 300
        away = await turned_away(guard)
        assert away["streams", "parameters"] == 2 * len(NOT_THE_PARAMETERS)
        assert away["network", "parameters"] + away["network", "envelope"] == 2 * len(NOT_THE_PARAMETERS)
