"""Real packages from where this machine gets its packages, installed once and run from there."""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.domain.servers.launches import Profile
from mcpguard.upstreams.packages.trees import approved_tree, remove_other_trees, verify_tree
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.stdio import ProcessLaunch, stdio
from tests.attacks.sandboxed import works
from tests.patience import PATIENCE
from tests.upstreams.packages.installations import environ, folder, install, launched, package, way

pytestmark = pytest.mark.anyio
LIMIT = 10_000_000
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


async def tools_of(launch: ProcessLaunch, logs: Path) -> set[str]:
    async with stdio(launch, LIMIT, UpstreamLog(logs, "server", LIMIT)) as server:

        async def asked(number: int, method: str, params: dict[str, Any]) -> Any:  # noqa: ANN401 - its result
            await server.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())
            while True:
                answer = json.loads(await server.receive())
                if answer.get("id") == number:
                    return answer["result"]

        with anyio.fail_after(PATIENCE):
            await asked(1, "initialize", HELLO)
            await server.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())
            return {tool["name"] for tool in (await asked(2, "tools/list", {}))["tools"]}


@pytest.mark.parametrize(
    ("words", "artifact", "tool"),
    [
        (
            ("npx", "-y", "@modelcontextprotocol/server-memory@2026.8.31"),
            "npm:@modelcontextprotocol/server-memory@2026.8.31",
            "read_graph",
        ),
        (
            ("uvx", "mcp-server-time==2026.10.19", "--local-timezone", "UTC"),
            "python:mcp-server-time==2026.10.19",
            "get_current_time",
        ),
    ],
    ids=["npx", "uvx"],
)
async def test_a_package_is_installed_confined_and_run_from_its_tree(
    words: tuple[str, ...], artifact: str, tool: str, tmp_path: Path
) -> None:
    data, sandbox, wanted = tmp_path / "data", works().sandbox, package(*words)
    tree = await install(wanted, way(data, sandbox, environ()))
    assert tree.artifact == f"{artifact} sha256:{tree.digest}"
    before = os.umask(0o077)
    try:
        again = await install(wanted, way(data, None, environ()))
    finally:
        os.umask(before)
    assert again == tree, "whenever, wherever and however it is installed, it is the same"
    assert [each.name for each in folder(data).iterdir()] == [tree.digest]
    found = approved_tree(folder(data), wanted, tree.artifact)
    for profile in (Profile.STRICT, Profile.NONE):
        verify_tree(found, tree.artifact)
        assert tool in await tools_of(launched(wanted, found, data, sandbox, profile), tmp_path)
    verify_tree(found, tree.artifact)
    remove_other_trees(folder(data), [])
    assert list(folder(data).iterdir()) == []
