"""As many servers as are asked for, at one port: each path is a server, with tools of its own.

python -m tests.benchmarks.named_upstream PORT TOOLS
"""

import asyncio
import json
import sys
from typing import Any

from tests.benchmarks.gateway.upstream import Connection, Server, on_port


class NamedServers(Server):
    """Answers messages, and lists tools whose names begin with that of the server."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._plain = self._tools
        self.name = ""

    def answer(self, line: bytes) -> tuple[int, bytes]:
        self._tools = [_named(tool, self.name) for tool in self._plain]
        return super().answer(line)


class NamingConnection(Connection):
    """Notes whose path is asked before it is answered."""

    def _reply(self, head: bytes, body: bytes) -> bytes:
        assert isinstance(self._server, NamedServers)
        self._server.name = head.split(b" ", 2)[1].rpartition(b"/")[2].decode()
        return super()._reply(head, body)


def _named(tool: dict[str, Any], name: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(json.dumps(tool).replace("department", f"department {name}"))
    return {**said, "name": f"{name}_{tool['name']}"}


if __name__ == "__main__":
    port, tools = map(int, sys.argv[1:])
    asyncio.run(on_port(NamedServers(tools), port, NamingConnection))
