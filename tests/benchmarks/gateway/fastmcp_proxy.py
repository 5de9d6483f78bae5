"""A `fastmcp` proxy, run by the Python of its own environment, which has nothing of ours.

    python fastmcp_proxy.py {"how": …, "servers": {name: {"url": …} or {"command": …, "args": […]}}, "port": …}

`shipped` is `create_proxy` with what it does by default: a session with the upstream for each request. `kept` gives it
clients that are connected already, which it uses for everything. Without a port it speaks on its standard streams.
"""

import asyncio
import importlib
import json
import sys
from contextlib import AsyncExitStack
from typing import Any

Json = dict[str, Any]
fastmcp: Any = importlib.import_module("fastmcp")
create_proxy: Any = importlib.import_module("fastmcp.server").create_proxy


def target(server: Json) -> Any:  # noqa: ANN401 - whatever fastmcp takes
    """What a client of it connects to."""
    if "url" in server:
        return server["url"]
    return importlib.import_module("fastmcp.client.transports").StdioTransport(server["command"], server["args"])


def shipped(servers: Json) -> Any:  # noqa: ANN401 - a server of fastmcp
    if len(servers) == 1 and "url" in (server := next(iter(servers.values()))):
        return create_proxy(server["url"])
    return create_proxy({"mcpServers": servers})


async def kept(servers: Json, stack: AsyncExitStack) -> Any:  # noqa: ANN401 - a server of fastmcp
    proxies = {}
    for name, server in servers.items():
        client = await stack.enter_async_context(fastmcp.Client(target(server)))
        proxies[name] = create_proxy(client)
    if len(proxies) == 1:
        return next(iter(proxies.values()))
    everything = fastmcp.FastMCP("everything")
    for name, proxy in proxies.items():
        everything.mount(proxy, namespace=name)
    return everything


async def main(asked: Json) -> None:
    async with AsyncExitStack() as stack:
        servers = asked["servers"]
        proxy = shipped(servers) if asked["how"] == "shipped" else await kept(servers, stack)
        if asked["port"]:
            await proxy.run_http_async(
                show_banner=False, host="127.0.0.1", port=asked["port"], path="/mcp", log_level="warning"
            )
        else:
            await proxy.run_stdio_async(show_banner=False, log_level="warning")


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
