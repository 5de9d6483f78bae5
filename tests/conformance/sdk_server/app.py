"""The server that the other modules hang their tools, resources and prompts on."""

from mcp.server.mcpserver import MCPServer, RequestStateSecurity
from mcp.server.mcpserver.tools import Tool

from tests.conformance.fixture_tools import EVERY_KEYWORD


def json_schema_2020_12_tool() -> str:
    """Takes arguments by a schema that uses every keyword."""
    return "It knows every keyword."


def _with_every_keyword() -> Tool:
    """The decorator derives a tool's schema from its function; a schema written by hand comes in as a whole tool."""
    return Tool.from_function(json_schema_2020_12_tool).model_copy(update={"parameters": EVERY_KEYWORD})


server = MCPServer(
    "everything-of-the-sdk",
    version="1.0",
    instructions="Everything here is for tests.",
    tools=[_with_every_keyword()],
    request_state_security=RequestStateSecurity(keys=["nobody keeps anything behind this key"]),
)
