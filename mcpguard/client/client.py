"""A client that does through a server's `proxy` tool what another does with methods of the protocol."""

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
from mcpguard.codec.refusals import of_meta
from mcpguard.proxy.annotations import META
from mcpguard.proxy.definition import NAME
from mcpguard.proxy.operations import validate_batch, validate_operation

FAILED = -32603
REFUSED = -31010
UNKNOWN = -32602


class ProxyError(MCPError):
    """The tool answered with an error where something else was asked for. `result` is its whole answer."""

    def __init__(self, result: CallToolResult) -> None:
        error, refusal = _error(result) or {}, of_meta(result.meta)
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
    """The code of an answer that is no error of a server's."""
    if refusal.get("status") != "refused":
        return FAILED
    return UNKNOWN if refusal.get("reason") == "capability:unknown" else REFUSED


class ProxyClient:
    """Everything behind a server, through its `proxy` tool.

    `proxy` calls the tool, always. The other methods do so if the client is `transparent`, and speak plain MCP
    otherwise; they give the same types either way, so a program takes one way or the other by one argument.
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
        """Whether the server has the tool."""
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
        """Call the tool; its answer is given as it is. Raises InvalidOperation before anything is sent."""
        part = {"limit": limit, "offset": offset, "filter_server": filter_server, "filter": filter}
        operation = validate_operation(action, proxy_type, path, arguments, **part)
        return await self.client.call_tool(self.proxy_tool_name, operation.given(), timeout, progress_handler)

    async def batch(
        self,
        operations: Sequence[Mapping[str, Any]],
        timeout: float | None = None,  # noqa: ASYNC109 - as in `proxy`
        progress_handler: ProgressFnT | None = None,
    ) -> list[CallToolResult]:
        """What each of several operations came to, in order; each is given as the tool takes it by itself. Raises
        InvalidOperation before anything is sent, and MCPError where the batch itself was refused."""
        given = validate_batch(operations).given()
        answer = await self.client.call_tool(self.proxy_tool_name, given, timeout, progress_handler)
        results: list[CallToolResult] = get_proxy_query_result(_answered(answer))
        return results

    async def list_tools(self) -> list[Tool]:
        """All of them."""
        if self.transparent:
            return await self._listed("tool")
        return [tool async for page in _pages(self.client.list_tools) for tool in page.tools]

    async def list_resources(self) -> list[Resource | ResourceTemplate]:
        """All of them, and then the templates."""
        if self.transparent:
            return await self._listed("resource")
        resources = [each async for page in _pages(self.client.list_resources) for each in page.resources]
        templates = _pages(self.client.list_resource_templates)
        return [*resources, *[each async for page in templates for each in page.resource_templates]]

    async def list_prompts(self) -> list[Prompt]:
        """All of them."""
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
        """What the tool answered; `is_error` says whether that is an error. Raises MCPError where the server answered
        with one instead."""
        if self.transparent:
            result = await self.proxy("tool", "call", name, arguments, timeout, progress_handler)
            if _error(result) is not None:
                raise ProxyError(result)
            return result
        return await self.client.call_tool(name, arguments, timeout, progress_handler)

    async def read_resource(self, uri: str) -> list[Contents]:
        """What the resource holds. Raises MCPError."""
        if self.transparent:
            return tool_result_as_resource_result(_answered(await self.proxy("resource", "call", uri)))
        return list((await self.client.read_resource(uri)).contents)

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> GetPromptResult:
        """What the prompt gives. Raises MCPError."""
        if self.transparent:
            return tool_result_as_prompt_result(_answered(await self.proxy("prompt", "call", name, arguments)))
        return await self.client.get_prompt(name, arguments)

    async def _listed(self, proxy_type: str) -> list[Any]:
        """All entries, part by part."""
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
    """The error that the server answered with, where it did."""
    error = _said(result).get("error")
    return error if isinstance(error, Mapping) else None


def _next(result: CallToolResult, offset: int) -> int | None:
    """Where the list goes on; a server that does not get on ends it."""
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
