"""The Inspector's command line, which knows nothing of the guard, at the proxy tool."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.proxy.annotations import META
from tests.conformance import tools
from tests.gate import Gate
from tests.gateway.guard_face import FACE
from tests.gateway.speaking import guarded
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
CALLED = {
    "tool": ({"path": "web::add", "args": '{"a": 2, "b": 3}'}, "5"),
    "resource": ({"path": "note://7/text"}, "note 7"),
    "prompt": ({"path": "web::greet", "args": '{"name": "Ada"}'}, "Greet Ada."),
}


async def inspected(guard: Gate, *arguments: str) -> Json:
    program = tools.package("inspector") / "clients" / "launcher" / "build" / "index.js"
    command = [str(tools.node()), str(program), "--cli", guard.where.url + FACE, "--transport", "http", *arguments]
    run = await anyio.run_process(command, env=tools.environment(), check=False)
    assert run.returncode == 0, run.stderr.decode()
    found: Json = json.loads(run.stdout)
    return found


async def proxied(guard: Gate, **arguments: str) -> Json:
    said = [f"{name}={value}" for name, value in arguments.items()]
    return await inspected(guard, "--method", "tools/call", "--tool-name", "proxy", "--tool-arg", *said)


async def test_it_lists_describes_and_calls_through_it(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        listed = await inspected(guard, "--method", "tools/list")
        assert "proxy" in [tool["name"] for tool in listed["tools"]]
        (item,) = (await proxied(guard, action="info", type="tool", path="web::add"))["content"]
        assert item["_meta"][META]["proxyPath"] == "web::add"
        for type_, (arguments, said) in CALLED.items():
            (item,) = (await proxied(guard, action="list", type=type_))["content"]
            assert item["resource"]["uri"] == f"proxy:list/{type_}"
            entries: list[Any] = json.loads(item["resource"]["text"])
            assert item["_meta"][META]["total"] == len(entries)
            called = await proxied(guard, action="call", type=type_, **arguments)
            assert said in json.dumps(called["content"])
            assert called["_meta"][META]["proxyAction"] == "call"
        assert [each["outcome"] for each in guard.entries()] == ["answered"] * 3
