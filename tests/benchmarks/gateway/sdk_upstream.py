"""The server that people run: one made with the official SDK's `MCPServer`, with its defaults but for a short log.

    python -P sdk_upstream.py stdio TOOLS        on the standard streams
    python -P sdk_upstream.py http PORT TOOLS    streamable HTTP at /mcp, with events and sessions

It has the same tools as `tests/benchmarks/gateway/upstream.py`: `echo`, `era`, and what only fills lists.
"""

import sys
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ToolAnnotations
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

READS = ToolAnnotations(readOnlyHint=True)
Text = Annotated[str, Field(description="What to look for, in the words of the user.")]


def server(count: int) -> MCPServer:
    """A server with so many tools."""
    made = MCPServer("upstream", log_level="WARNING")

    @made.tool(annotations=READS)
    async def echo(text: Text) -> str:
        """Returns the text."""
        return text

    @made.tool(annotations=READS)
    async def era(text: Text, context: Context) -> str:  # noqa: ARG001 - every tool here takes one
        """Returns the era."""
        modern = context.session.protocol_version in MODERN_PROTOCOL_VERSIONS
        return "modern" if modern else "handshake"

    for number in range(2, count):
        about = f"Looks up the records of department {number} that match what is asked, newest first."
        made.add_tool(echo, name=f"look_up_{number:03}", description=about, annotations=READS)
    return made


def main() -> None:
    how, *rest = sys.argv[1:]
    if how == "stdio":
        server(int(rest[0])).run("stdio")
    else:
        server(int(rest[1])).run("streamable-http", port=int(rest[0]))


if __name__ == "__main__":
    main()
