"""What HTTP headers must say: kinds of content, revisions, and in the modern era what they repeat of the body."""

from pathlib import Path

import pytest

from mcpguard.codec.envelope import BY_GUARD
from tests.gateway.speaking import guarded, nothing_happens, turned_away
from tests.gateway.wires import MODERN_META, mirrored, modern, post
from tests.simulators.script import Script
from tests.simulators.words import CLIENT_CAPABILITIES, LEGACY, MODERN, PROTOCOL_VERSION, Json

pytestmark = pytest.mark.anyio
CALL = modern("tools/call", {"name": "web::echo", "arguments": {}})
ACCEPTED = [
    "application/json, text/event-stream",
    "text/event-stream,application/json",
    "application/json;q=0.9, text/event-stream;charset=utf-8",
    "APPLICATION/JSON, Text/Event-Stream",
    "*/*",
    "application/*, text/*",
    "text/html, */*;q=0.1",
]
NOT_ACCEPTED = [
    "",
    "application/json",
    "text/event-stream",
    "application/*",
    "text/html",
    "*",
    "x*/*",
    "application/jsonp, text/event-stream",
]
JSON_TYPES = ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"]
OTHER_TYPES = [
    "",
    "text/plain",
    "application/jsonp",
    "application/json-rpc",
    "text/json",
    "multipart/form-data",
    "application/json, text/plain",
]


async def test_kinds_of_content(tmp_path: Path) -> None:
    """415 and 406 as the SDK's own server says them, wildcards included."""
    script = Script()
    async with guarded(tmp_path, script) as guard:
        said = mirrored(CALL)
        for accept in ACCEPTED:
            assert (await post(guard, CALL, said | {"accept": accept}))[0] == 200, accept
        for kind in JSON_TYPES:
            assert (await post(guard, CALL, said | {"content-type": kind}))[0] == 200, kind
        assert (await post(guard, CALL, said | {"accept": "application/json"}, ("Accept", "text/event-stream")))[
            0
        ] == 200
        with nothing_happens(guard, script):
            for accept in NOT_ACCEPTED:
                assert (await post(guard, CALL, said | {"accept": accept}))[0] == 406, accept
            for kind in OTHER_TYPES:
                assert (await post(guard, CALL, said | {"content-type": kind}))[0] == 415, kind
        assert (await turned_away(guard)) == {
            ("network", "accept"): len(NOT_ACCEPTED),
            ("network", "content type"): len(OTHER_TYPES),
        }


def without(headers: dict[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in headers.items() if key != name}


async def test_headers_and_body_must_say_the_same(tmp_path: Path) -> None:
    script = Script()
    said = mirrored(CALL)
    read = modern("resources/read", {"uri": "note://first"})
    wrong: list[tuple[Json, dict[str, str]]] = [
        (CALL, without(said, "mcp-protocol-version")),
        (CALL, without(said, "mcp-method")),
        (CALL, without(said, "mcp-name")),
        (CALL, said | {"mcp-method": "tools/list"}),
        (CALL, said | {"mcp-method": "TOOLS/CALL"}),
        (CALL, said | {"mcp-method": ""}),
        (CALL, said | {"mcp-name": "web::add"}),
        (CALL, said | {"mcp-name": "WEB::ECHO"}),
        (CALL, said | {"mcp-name": "=?base64?!!?="}),
        (CALL, said | {"mcp-name": "=?base64?d2ViOjphZGQ=?="}),
        (CALL, said | {"mcp-name": "=?BASE64?d2ViOjplY2hv?="}),
        (CALL, said | {"mcp-protocol-version": "2099-01-01"}),
        (CALL, said | {"mcp-protocol-version": ""}),
        (read, without(mirrored(read), "mcp-name")),
        (read, mirrored(read) | {"mcp-name": "note://other"}),
        (modern("tools/list"), {"mcp-protocol-version": MODERN}),
        (modern("server/discover"), {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}),
    ]
    async with guarded(tmp_path, script) as guard:
        with nothing_happens(guard, script):
            for message, headers in wrong:
                status, answer = await post(guard, message, headers)
                assert (status, answer["error"]["code"], answer["id"]) == (400, -32020, 1), headers
            for name, value in said.items():
                for again in (value, "other", ""):
                    status, answer = await post(guard, CALL, said, (name, again))
                    assert (status, answer["error"]["code"], answer["id"]) == (400, -32020, 1), name
        assert (await post(guard, CALL, said | {"mcp-name": "=?base64?d2ViOjplY2hv?="}))[0] == 200
        assert (await post(guard, CALL, said | {"mcp-session-id": "ignored", "last-event-id": "ignored"}))[0] == 200


@pytest.mark.parametrize("around", ["{} ", "{}\t", " \t{}\t ", "   {}"])
async def test_white_space_around_a_value_is_no_part_of_it(around: str, tmp_path: Path) -> None:
    script = Script()
    said = {name: around.format(value) for name, value in mirrored(CALL).items()}
    async with guarded(tmp_path, script) as guard:
        assert (await post(guard, CALL, said))[0] == 200
        assert (await post(guard, CALL, said | {"mcp-name": around.format("=?base64?d2ViOjplY2hv?=")}))[0] == 200
        (called, again) = script.called("tools/call")
        assert called["params"]["name"] == again["params"]["name"] == "echo"
        with nothing_happens(guard, script):
            for value in ("web::add", "\xa0web::echo", "=?base64?IHdlYjo6ZWNobyA=?="):
                status, answer = await post(guard, CALL, said | {"mcp-name": around.format(value)})
                assert (status, answer["error"]["code"], answer["id"]) == (400, -32020, 1), value


async def test_what_the_envelope_must_say(tmp_path: Path) -> None:
    script = Script()
    said = mirrored(CALL)
    incomplete: list[Json] = [
        {},
        {PROTOCOL_VERSION: MODERN},
        {CLIENT_CAPABILITIES: {}},
        {"progressToken": 1},
    ]
    async with guarded(tmp_path, script) as guard:
        with nothing_happens(guard, script):
            for meta in incomplete:
                status, answer = await post(guard, CALL | {"params": {"name": "web::echo", "_meta": meta}}, said)
                assert (status, answer["error"]["code"]) == (400, -32602), meta
            odd: list[object] = [None, 5, [], "x"]
            for wrong in odd:
                status, answer = await post(guard, CALL | {"params": {"name": "web::echo", "_meta": wrong}}, said)
                assert (status, answer["error"]["code"]) == (400, -32602), wrong
            status, answer = await post(guard, {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, said)
            assert (status, answer["error"]["code"]) == (400, -32602)
            for version in (None, 5, ["2026-07-28"]):
                meta = MODERN_META | {PROTOCOL_VERSION: version}
                status, answer = await post(guard, CALL | {"params": {"name": "web::echo", "_meta": meta}}, said)
                assert (status, answer["error"]["code"]) == (400, -32020)


async def test_revisions_that_are_not_spoken(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        with nothing_happens(guard, script):
            for version in ("2099-01-01", "1900-01-01", "x", *LEGACY):
                meta = MODERN_META | {PROTOCOL_VERSION: version}
                message = CALL | {"params": {"name": "web::echo", "_meta": meta}}
                status, answer = await post(guard, message, mirrored(CALL) | {"mcp-protocol-version": version})
                assert (status, answer["error"]["code"]) == (400, -32022), version
                assert answer["error"]["data"] == {"supported": [MODERN], "requested": version, "_meta": BY_GUARD}
            told: Json = {"jsonrpc": "2.0", "method": "notifications/x"}
            status, answer = await post(guard, told, {"mcp-protocol-version": "2099-01-01"})
            assert (status, answer["error"]["code"]) == (400, -32022)
            assert (await post(guard, told, {"mcp-protocol-version": MODERN}))[0] == 202
        legacy = await guard.legacy()
        for version in ("2099-01-01", "1.0", "", MODERN, "2025-11-25, 2025-11-25"):
            legacy.version = version
            assert (await legacy.request("ping")).status == 400, version
        for version in LEGACY:
            legacy.version = version
            assert (await legacy.request("ping")).status == 200, "any revision that is spoken in sessions"
        reply = await legacy.request("ping", headers={"mcp-protocol-version": None})
        assert reply.status == 200, "the session says it"


async def test_answers_are_taken_in_sessions_only(tmp_path: Path) -> None:
    """In the handshake era a client answers what a server asks; nothing was asked, so nothing comes of it."""
    script = Script()
    answers: list[Json] = [
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": "x", "result": {"content": [], "action": "accept"}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
    ]
    async with guarded(tmp_path, script) as guard:
        legacy = await guard.legacy()
        with nothing_happens(guard, script):
            for answer in answers:
                assert (await legacy.send(answer)).status == 202
                assert (await post(guard, answer, {"mcp-protocol-version": MODERN}))[0] == 400
                assert (await post(guard, answer))[0] == 400


async def test_only_post_in_the_modern_era(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        legacy = await guard.legacy()
        session = {"mcp-session-id": legacy.session or "", "accept": "text/event-stream"}
        for method in ("GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "PURGE"):
            headers = session | {"mcp-protocol-version": MODERN}
            response = await guard.http.request(method, legacy.url, headers=headers)
            assert (response.status_code, response.headers["allow"]) == (405, "POST"), method
        for method in ("PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "PURGE"):
            response = await guard.http.request(method, legacy.url, headers=session)
            assert (response.status_code, response.headers["allow"]) == (405, "GET, POST, DELETE")
        assert (await guard.http.get(legacy.url, headers=session | {"accept": "text/html"})).status_code == 406
        assert (await legacy.request("ping")).status == 200, "nothing of it has ended the session"
        assert (await turned_away(guard))["network", "http method"] == 14


SCHEMA: Json = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "query": {"type": "string"},
    },
}


async def test_headers_that_mirror_arguments(tmp_path: Path) -> None:
    """A server over HTTP gets them too, whatever transport the client came by."""
    script = Script()
    script.tool("sql", {"content": []}, inputSchema=SCHEMA)
    right: list[tuple[Json, dict[str, str]]] = [
        ({"region": "us", "query": "x"}, {"mcp-param-region": "us"}),
        ({"region": "us", "count": 42}, {"mcp-param-region": "us", "mcp-param-count": "42"}),
        ({"region": "us", "count": 42}, {"mcp-param-region": "us", "mcp-param-count": "42.0"}),
        ({"region": "\u00fc"}, {"mcp-param-region": "=?base64?w7w=?="}),
        ({"region": None, "query": "x"}, {}),
        ({"query": "x"}, {"mcp-param-unknown": "ignored"}),
    ]
    wrong: list[tuple[Json, dict[str, str]]] = [
        ({"region": "us"}, {}),
        ({"region": "us"}, {"mcp-param-region": "eu"}),
        ({"region": "us"}, {"mcp-param-region": "US"}),
        ({"region": "us"}, {"mcp-param-region": "=?base64?!?="}),
        ({"region": None}, {"mcp-param-region": "us"}),
        ({}, {"mcp-param-region": "us"}),
        ({"count": 42}, {"mcp-param-count": "43"}),
        ({"count": 42}, {"mcp-param-count": "4.2e1"}),
    ]
    async with guarded(tmp_path, script) as guard:
        for arguments, headers in right:
            message = modern("tools/call", {"name": "web::sql", "arguments": arguments})
            assert (await post(guard, message, mirrored(message) | headers))[0] == 200, headers
        with nothing_happens(guard, script):
            for arguments, headers in wrong:
                message = modern("tools/call", {"name": "web::sql", "arguments": arguments})
                status, answer = await post(guard, message, mirrored(message) | headers)
                assert (status, answer["error"]["code"]) == (400, -32020), headers
            message = modern("tools/call", {"name": "web::sql", "arguments": {"region": "us"}})
            headers = mirrored(message) | {"mcp-param-region": "us"}
            for again in ("us", "eu"):
                status, answer = await post(guard, message, headers, ("Mcp-Param-Region", again))
                assert (status, answer["error"]["code"]) == (400, -32020)
        async with guard.stream() as stream:
            await stream.call("web::sql", {"region": "us"})
        assert script.called("tools/call")[-1]["params"]["arguments"] == {"region": "us"}
