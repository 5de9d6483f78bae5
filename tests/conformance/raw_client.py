"""The raw client as the suite's client scenarios start it: with a URL, and the rest in the environment."""

import os
import sys
from pathlib import Path

import anyio
import httpx2

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.simulators.http_client import HttpClient
from tests.simulators.words import MODERN


async def main(url: str) -> None:
    """Call every tool once, with numbers where numbers are wanted."""
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", MODERN)
    async with httpx2.AsyncClient(trust_env=False) as http:
        client = HttpClient(http, url, modern=version >= MODERN, version=version)
        if not client.modern:
            await client.initialize()
        for tool in (await client.request("tools/list")).result["tools"]:
            wanted = tool["inputSchema"].get("properties", {})
            await client.call(
                tool["name"], {name: 1 if each.get("type") == "number" else "" for name, each in wanted.items()}
            )
        if not client.modern:
            await client.end()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
