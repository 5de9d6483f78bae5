"""What was checked of a client is not looked at again; its further requests are checked as strictly as its first."""

from pathlib import Path
from typing import Any

import pytest

from mcpguard.gateway.http.plain import HEADER_MISMATCH
from tests.gateway.speaking import guarded
from tests.simulators.script import Script
from tests.simulators.words import CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION, Json

MALFORMED: dict[str, Json] = {
    "arguments that are a list": {"name": "web::echo", "arguments": []},
    "arguments that are a number": {"name": "web::echo", "arguments": 0},
    "no name": {"arguments": {}},
    "a name that is a number": {"name": 5},
    "a parameter that nobody knows": {"name": "web::echo", "more": 1},
    "a task": {"name": "web::echo", "task": {}},
    "a progress token that is a list": {"name": "web::echo", "_meta": {"progressToken": []}},
    "a level that there is not": {"name": "web::echo", "_meta": {"io.modelcontextprotocol/logLevel": "loud"}},
    "answers that are a list": {"name": "web::echo", "inputResponses": []},
    "a client without a name": {"name": "web::echo", "_meta": {CLIENT_INFO: {"version": "1"}}},
    "capabilities that are a list": {"name": "web::echo", "_meta": {CLIENT_CAPABILITIES: []}},
    "no capabilities": {"name": "web::echo", "_meta": {CLIENT_CAPABILITIES: None}},
    "a capability that is a text": {"name": "web::echo", "_meta": {CLIENT_CAPABILITIES: {"sampling": "yes"}}},
}

ENCODED = "=?base64?d2ViOjplY2hv?="
CONTRADICTORY: dict[str, tuple[Json, dict[str, str]]] = {
    "another method": ({"name": "web::echo"}, {"mcp-method": "tools/list"}),
    "another name": ({"name": "web::echo"}, {"mcp-name": "web::other"}),
    "a name that stands for another": ({"name": ENCODED}, {"mcp-name": ENCODED}),
    "another revision": ({"name": "web::echo"}, {"mcp-protocol-version": "2025-11-25"}),
    "another revision in the body": ({"name": "web::echo", "_meta": {PROTOCOL_VERSION: "2025-11-25"}}, {}),
}


@pytest.mark.parametrize("what", CONTRADICTORY)
async def test_headers_that_contradict_the_body_are_refused_at_any_time(what: str, tmp_path: Path) -> None:
    params, headers = CONTRADICTORY[what]
    async with guarded(tmp_path, Script()) as guard:
        client = guard.client()
        for _ in range(2):
            assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
            reply = await client.request("tools/call", params, headers=headers)
            assert (reply.status, reply.error["code"]) == (400, HEADER_MISMATCH)


@pytest.mark.parametrize("what", MALFORMED)
async def test_a_malformed_call_is_refused_whatever_came_before_it(what: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        stranger, client = guard.client(), guard.client()
        stranger.info = {"name": "stranger", "version": "1"}

        async def refused(by: Any) -> tuple[int | None, Json]:  # noqa: ANN401 - a client
            reply = await by.request("tools/call", MALFORMED[what])
            return reply.status, reply.error

        first = await refused(stranger)
        assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
        assert await refused(client) == first
        assert await refused(client) == first
        assert (await client.call("web::echo", {"n": 2})).result["structuredContent"] == {"n": 2}


async def test_null_for_arguments_and_unknown_keys_in_meta_are_no_fault(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        client = guard.client()
        for said in ({"arguments": None}, {}, {"arguments": {}, "_meta": {"mine/own": [1], "progressToken": 7}}):
            for _ in range(2):
                reply = await client.request("tools/call", {"name": "web::echo", **said})
                assert reply.result["structuredContent"] == {}
