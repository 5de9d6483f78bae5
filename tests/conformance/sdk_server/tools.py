"""The tools that answer without asking anybody."""

from base64 import b64decode
from typing import Annotated

from mcp.server.mcpserver import Audio, Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Prompt
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

from tests.conformance.media import PNG, WAV
from tests.conformance.sdk_server.app import server


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    """A resource that travels inside an answer."""
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


@server.tool()
def test_simple_text() -> str:
    """Answer with a text."""
    return "This is a text and nothing else."


@server.tool()
def test_image_content() -> Image:
    """Answer with a picture."""
    return Image(data=b64decode(PNG), format="png")


@server.tool()
def test_audio_content() -> Audio:
    """Answer with a sound."""
    return Audio(data=b64decode(WAV), format="wav")


@server.tool()
def test_embedded_resource() -> EmbeddedResource:
    """Answer with a resource."""
    return embedded("test://embedded-resource", "Inside.")


@server.tool()
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Answer with a text, a picture and a resource."""
    return [
        TextContent(text="A text, a picture and a resource:"),
        Image(data=b64decode(PNG), format="png").to_image_content(),
        embedded("test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json"),
    ]


@server.tool()
def test_error_handling() -> str:
    """Fail, always."""
    raise ToolError("this tool fails, as it was meant to")


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Log three lines."""
    return await _log_three_lines(ctx)


@server.tool()
async def test_logging_tool(ctx: Context) -> str:
    """Log three lines; in the newest revision only for a client that wants them."""
    return await _log_three_lines(ctx)


async def _log_three_lines(ctx: Context) -> str:
    await ctx.info("It begins")
    await ctx.info("It goes on")
    await ctx.info("It is done")
    return "Three lines were logged."


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"{done} of 100 parts are done")
    return "It was done in three steps."


@server.tool()
async def test_reconnection(ctx: Context) -> str:
    """Close the stream of this call. The client comes back for the answer."""
    await ctx.close_sse_stream()
    return "This was fetched after the pause."


@server.tool()
def test_region(
    region: Annotated[str, Field(description="Where.", json_schema_extra={"x-mcp-header": "Region"})],
) -> str:
    """Take an argument that is repeated in a header."""
    return f"It would be done in {region}."


@server.tool()
def test_missing_capability(ctx: Context) -> str:
    """Insist on a client that can ask a model."""
    can = ctx.client_capabilities
    if can is None or can.sampling is None:
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this tool asks a model through the client",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return "The client can do it."


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    """Add a tool, remove it, and say that the tools changed."""
    server.add_tool(_short_lived, name="short_lived")
    server.remove_tool("short_lived")
    await ctx.notify_tools_changed()
    return "The tools have changed, and changed back."


@server.tool()
async def test_trigger_prompt_change(ctx: Context) -> str:
    """Add a prompt, remove it, and say that the prompts changed."""
    server.add_prompt(Prompt.from_function(_short_lived, name="short_lived"))
    server.remove_prompt("short_lived")
    await ctx.notify_prompts_changed()
    return "The prompts have changed, and changed back."


def _short_lived() -> str:
    """Is gone before anybody can use it."""
    return "Nobody reads this."
