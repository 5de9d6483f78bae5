"""A client that does through a server's `proxy` tool what other clients do with methods of the protocol."""

from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from mcp.client import Client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, GetPromptResult, Prompt, Resource, ResourceTemplate, TextContent, Tool

from mcpguard.client.detecting import MOST_PAGES, has_proxy
from mcpguard.client.transforms import (
    Contents,
    get_proxy_query_result,
    tool_result_as_prompt_result,
    tool_result_as_resource_result,
)
from mcpguard.codec.refusals import facts_in_meta
from mcpguard.proxy.annotations import META
from mcpguard.proxy.definition import NAME
from mcpguard.proxy.operations import validate_batch, validate_operation

FAILED = -32603
REFUSED = -31010
UNKNOWN = -32602


class ProxyError(MCPError):
    """The tool answered with an error instead of a list or a definition. `result` is its whole answer."""

    def __init__(self, result: CallToolResult) -> None:
        error, refusal = _error(result) or {}, facts_in_meta(result.meta)
        code, message = error.get("code"), error.get("message")
        said = " ".join(item.text for item in result.content if isinstance(item, TextContent))
        super().__init__(
            code if type(code) is int else _code(refusal),
            message if isinstance(message, str) else said or "the proxy tool answered with an error",
            error.get("data", refusal or result.structured_content),
        )
        self.result = result

    def __reduce__(self) -> tuple[type["ProxyError"], tuple[CallToolResult]]:
        return type(self), (self.result,)


def _code(refusal: Mapping[str, Any]) -> int:
    """Return the error code of a refusal by the guard."""
    if refusal.get("status") != "refused":
        return FAILED
    return UNKNOWN if refusal.get("reason") == "capability:unknown" else REFUSED


class ProxyClient:
    """Reaches everything behind a server through its `proxy` tool.

    `proxy` always calls the tool. The other methods do so if the client is `transparent`, and use plain MCP otherwise;
    they return the same types either way, so one argument switches a program between the two.
    """

    def __init__(
        self,
        url_or_transport: Any,  # noqa: ANN401 - whatever the SDK's client takes
        transparent: bool = False,
        proxy_tool_name: str | None = None,
        **client_options: Any,  # noqa: ANN401 - those of the SDK's client
    ) -> None:
        self.client = Client(url_or_transport, **client_options)
        self.transparent = transparent
        self.proxy_tool_name = proxy_tool_name or NAME

    async def __aenter__(self) -> Self:
        await self.client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.client.__aexit__(kind, error, where)

    async def has_proxy(self) -> bool:
        """Tell whether the server has the tool."""
        return await has_proxy(self.client, self.proxy_tool_name)

    async def proxy(
        self,
        proxy_type: str,
        action: str,
        path: str | None = None,
        arguments: dict[str, Any] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the contract's signature
        progress_handler: ProgressFnT | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        filter_server: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the contract's name
    ) -> CallToolResult:
        """Call the tool and return its answer unchanged. Raises InvalidOperation before anything is sent."""
        part = {"limit": limit, "offset": offset, "filter_server": filter_server, "filter": filter}
        operation = validate_operation(action, proxy_type, path, arguments, **part)
        return await self.client.call_tool(self.proxy_tool_name, operation.as_given(), timeout, progress_handler)

    async def batch(
        self,
        operations: Sequence[Mapping[str, Any]],
        timeout: float | None = None,  # noqa: ASYNC109 - as in `proxy`
        progress_handler: ProgressFnT | None = None,
    ) -> list[CallToolResult]:
        """Return the result of each of several operations, in order; each operation has the form that the tool takes
        alone. Raises InvalidOperation before anything is sent, and MCPError if the batch itself was refused.
        """
        given = validate_batch(operations).as_given()
        answer = await self.client.call_tool(self.proxy_tool_name, given, timeout, progress_handler)
        results: list[CallToolResult] = get_proxy_query_result(_answered(answer))
        return results

    async def list_tools(self) -> list[Tool]:
        """Return all tools."""
        if self.transparent:
            return await self._listed("tool")
        return [tool async for page in _pages(self.client.list_tools) for tool in page.tools]

    async def list_resources(self) -> list[Resource | ResourceTemplate]:
        """Return all resources, followed by the templates."""
        if self.transparent:
            return await self._listed("resource")
        resources = [each async for page in _pages(self.client.list_resources) for each in page.resources]
        templates = _pages(self.client.list_resource_templates)
        return [*resources, *[each async for page in templates for each in page.resource_templates]]

    async def list_prompts(self) -> list[Prompt]:
        """Return all prompts."""
        if self.transparent:
            return await self._listed("prompt")
        return [prompt async for page in _pages(self.client.list_prompts) for prompt in page.prompts]

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as in `proxy`
        progress_handler: ProgressFnT | None = None,
    ) -> CallToolResult:
        """Return the tool's result; `is_error` says whether it is an error. Raises MCPError if the server answered
        with a protocol error.
        """
        if self.transparent:
            result = await self.proxy("tool", "call", name, arguments, timeout, progress_handler)
            if _error(result) is not None:
                raise ProxyError(result)
            return result
        return await self.client.call_tool(name, arguments, timeout, progress_handler)

    async def read_resource(self, uri: str) -> list[Contents]:
        """Return the resource's contents. Raises MCPError."""
        if self.transparent:
            return tool_result_as_resource_result(_answered(await self.proxy("resource", "call", uri)))
        return list((await self.client.read_resource(uri)).contents)

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> GetPromptResult:
        """Return the prompt's messages. Raises MCPError."""
        if self.transparent:
            return tool_result_as_prompt_result(_answered(await self.proxy("prompt", "call", name, arguments)))
        return await self.client.get_prompt(name, arguments)

    async def _listed(self, proxy_type: str) -> list[Any]:
        """Yield all entries, page by page."""
        entries: list[Any] = []
        offset: int | None = 0
        while offset is not None:
            part = _answered(await self.proxy(proxy_type, "list", offset=offset))
            entries += get_proxy_query_result(part)
            offset = _next(part, offset)
        return entries


def _answered(result: CallToolResult) -> CallToolResult:
    if result.is_error:
        raise ProxyError(result)
    return result


def _said(result: CallToolResult) -> Mapping[str, Any]:
    said = (result.meta or {}).get(META)
    return said if isinstance(said, Mapping) else {}


def _error(result: CallToolResult) -> Mapping[str, Any] | None:
    """Return the error in a result, if the server answered with one."""
    error = _said(result).get("error")
    return error if isinstance(error, Mapping) else None


def _next(result: CallToolResult, offset: int) -> int | None:
    """Return where the list continues; a server that does not advance ends it."""
    following = _said(result).get("nextOffset")
    return following if type(following) is int and following > offset else None


async def _pages(list_: Any) -> AsyncIterator[Any]:  # noqa: ANN401 - a method of the SDK's client, and its results
    cursor, cursors = None, set[str]()
    for _ in range(MOST_PAGES):
        page = await list_(cursor=cursor)
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return
        if cursor in cursors:
            break
        cursors.add(cursor)
    raise MCPError(FAILED, "the server's list does not end")
