"""A server of notes that is made with the SDK and has the proxy tool, and the modes of the SDK's client that ask it."""

from mcp.server.mcpserver import MCPServer

from mcpguard.client import add_proxy_tool

MODES = ("legacy", "auto")


def high() -> MCPServer:
    server = MCPServer("notes")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    @server.resource("note://first", name="first", mime_type="text/plain")
    def first() -> str:
        return '{ "a": 1 }'

    @server.resource("note://{number}/text", name="numbered")
    def numbered(number: str) -> str:
        return f"note {number}"

    @server.prompt()
    def greet(name: str) -> str:
        return f"Greet {name}."

    add_proxy_tool(server)
    return server
