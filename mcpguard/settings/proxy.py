"""The settings of the tool `proxy`."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group

TAKEN: Final = frozenset(
    {
        *("retrieve_tools", "describe_tool", "call_tool", "read_more", "upstream_servers"),
        *("call_tool_read", "call_tool_write", "call_tool_destructive"),
    }
)
"""What the guard face's other tools are called."""


def _free(name: str) -> str:
    if name in TAKEN:
        raise ValueError("another tool of the guard has this name")
    return name


class Proxy(Group):
    """The tool through which programs list, describe and call everything else, on the guard face and at /mcp/proxy."""

    enabled: Annotated[bool, Restart] = True
    """Whether it is there."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,64}$"), AfterValidator(_free), Restart] = "proxy"
    """What it is called; some models take no colons, dots and slashes in the name of a tool."""
