"""For programs that call a server with a `proxy` tool, or that want to offer one. Importing this starts nothing.

    from mcpguard.client import ProxyClient

    async with ProxyClient("http://127.0.0.1:8080/mcp", transparent=True) as client:
        print([tool.name for tool in await client.list_tools()])

docs/proxy.md has the details.
"""

from mcpguard.client.client import ProxyClient, ProxyError
from mcpguard.client.detecting import has_proxy
from mcpguard.client.serving import add_proxy_tool
from mcpguard.client.transforms import (
    deserialize_embedded_resource_python_object,
    get_embedded_resource_python_object,
    get_proxy_query_result,
    tool_result_as_prompt_result,
    tool_result_as_resource_result,
)
from mcpguard.proxy.annotations import ProxyResponseInfo
from mcpguard.proxy.operations import InvalidOperation, validate_batch, validate_operation

__all__ = [
    "InvalidOperation",
    "ProxyClient",
    "ProxyError",
    "ProxyResponseInfo",
    "add_proxy_tool",
    "deserialize_embedded_resource_python_object",
    "get_embedded_resource_python_object",
    "get_proxy_query_result",
    "has_proxy",
    "tool_result_as_prompt_result",
    "tool_result_as_resource_result",
    "validate_batch",
    "validate_operation",
]
