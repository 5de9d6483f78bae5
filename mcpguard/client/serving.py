"""Adds the proxy tool to any server of the SDK, over what that server offers by itself.

It runs as the outermost middleware before the server's own handlers, and calls them. So it needs no second connection,
and the server's other middleware sees each request made through the tool as that request.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from mcpguard.client.detecting import MOST_PAGES
from mcpguard.domain.json import Json
from mcpguard.proxy import envelope
from mcpguard.proxy.batches import FULL, BatchResults
from mcpguard.proxy.definition import NAME, definition
from mcpguard.proxy.filtering import ORIGIN
from mcpguard.proxy.operations import Action, Batch, InvalidOperation, ProxyOperation, ProxyType, read

Context = ServerRequestContext[Any, Any]
TEMPLATE_KEY: Final = "uriTemplate"
LISTS: Final = {
    ProxyType.TOOL: (("tools/list", "tools", "name"),),
    ProxyType.RESOURCE: (
        ("resources/list", "resources", "uri"),
        ("resources/templates/list", "resourceTemplates", TEMPLATE_KEY),
    ),
    ProxyType.PROMPT: (("prompts/list", "prompts", "name"),),
}
METHODS: Final = {ProxyType.TOOL: "tools/call", ProxyType.RESOURCE: "resources/read", ProxyType.PROMPT: "prompts/get"}
AGAIN: Final = ("inputResponses", "requestState")
"""What a request carries that is made again with answers."""
COMPLETE: Final = {"resultType": "complete"}
FRESH: Final = {"ttlMs": 0, "cacheScope": "private"}
BROKEN: Final = {"code": INTERNAL_ERROR, "message": "Internal server error"}
ASKS: Final = {"code": INVALID_PARAMS, "message": "it asks for input first; do it by itself and not in a batch"}
INVALID: Final = {"code": INVALID_PARAMS, "message": "Invalid request parameters"}
log = logging.getLogger("mcpguard.client")


class Serves(Protocol):
    """A server of the SDK, of either kind."""

    @property
    def middleware(self) -> list[ServerMiddleware[Any]]: ...


def add_proxy_tool(server: Serves, name: str = NAME) -> None:
    """Add the tool to the server under this name, before or after anything else is registered. A tool of the server's
    own with that name cannot be called any more. Raises ValueError if the server has a proxy tool already.
    """
    if any(isinstance(each, _Proxy) for each in server.middleware):
        raise ValueError("the server has a proxy tool already")
    server.middleware.insert(0, _Proxy(name))


class _Proxy:
    """Answers calls of the tool, adds it to the server's list of tools, and passes everything else on."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        match ctx.method:
            case "initialize" | "server/discover":
                said = _json(await call_next(ctx))
                return {**said, "capabilities": {"tools": {}, **said.get("capabilities", {})}}
            case "tools/list":
                return await self._list_tools(ctx, call_next)
            case "tools/call" if (ctx.params or {}).get("name") == self._name:
                said = await self._answered(_Own(ctx, call_next))
                return {**COMPLETE, **said} if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else said
            case _:
                return await call_next(ctx)

    async def _list_tools(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Return the server's own list, with the proxy tool on the first page."""
        try:
            said = _json(await call_next(ctx))
        except MCPError as error:
            if error.error.code != METHOD_NOT_FOUND:
                raise
            said = {"tools": [], **(COMPLETE | FRESH if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else {})}
        tools = [tool for tool in said["tools"] if tool.get("name") != self._name]
        first = (ctx.params or {}).get("cursor") is None
        return {**said, "tools": [*tools, definition(self._name)] if first else tools}

    async def _answered(self, own: "_Own") -> Json:
        try:
            asked = self._read(own)
            return await self._in_turn(own, asked) if isinstance(asked, Batch) else await self._done(own, asked)
        except InvalidOperation as error:
            return _invalid(str(error))

    async def _in_turn(self, own: "_Own", batch: Batch) -> Json:
        if any(name in own.params for name in AGAIN):
            raise InvalidOperation(
                f"{', '.join(AGAIN)}: a batch brings none along; nobody could tell for what they are"
            )
        results = BatchResults()
        for operation in batch.operations:
            if results.is_full:
                results.add(_invalid(FULL))
                continue
            try:
                result = await self._done(own, operation)
            except InvalidOperation as error:
                result = _invalid(str(error))
            results.add(
                envelope.error_answer(operation, ASKS) if result.get("resultType") == "input_required" else result
            )
        return results.answer()

    async def _done(self, own: "_Own", operation: ProxyOperation) -> Json:
        try:
            match operation.action:
                case Action.LIST:
                    return await self._listed(own, operation)
                case Action.INFO:
                    definition, key = await own.found(operation)
                    return envelope.definition_answer(operation, definition, template=key == TEMPLATE_KEY)
                case Action.CALL:
                    return await self._called(own, operation)
        except MCPError as error:
            return envelope.error_answer(operation, error.error.model_dump(exclude_none=True))
        except ValidationError:  # of what was asked: the SDK says as much, and no more, to whoever asks directly
            return envelope.error_answer(operation, INVALID)
        except InvalidOperation:
            raise
        except Exception:
            log.exception("%s of a %s failed", operation.action, operation.type)
            return envelope.error_answer(operation, BROKEN)

    def _read(self, own: "_Own") -> ProxyOperation | Batch:
        given = own.params.get("arguments") or {}
        if not isinstance(given, Mapping):
            raise InvalidOperation("arguments: an object")
        asked = read(given)
        for operation in asked.operations if isinstance(asked, Batch) else (asked,):
            if operation.type is ProxyType.TOOL and operation.path == self._name:
                raise InvalidOperation("path: the proxy tool does not call itself")
        return asked

    async def _listed(self, own: "_Own", operation: ProxyOperation) -> Json:
        is_of = _is_of(operation.server)
        entries = await own.listed(operation.type, lambda entry: is_of(entry) and operation.filter.wants(entry))
        part = entries[operation.offset : operation.offset + operation.limit]
        return envelope.list_answer(operation, [entry for entry, _ in part], len(entries))[0]

    async def _called(self, own: "_Own", operation: ProxyOperation) -> Json:
        wanted: Json = {"name": operation.path, "arguments": dict(operation.arguments)}
        if operation.type is ProxyType.RESOURCE:
            if operation.arguments:
                raise InvalidOperation("args: a resource takes no arguments; put variables into its URI")
            wanted = {"uri": operation.path}
        result = await own.asked(METHODS[operation.type], wanted)
        return result if result.get("resultType") == "input_required" else envelope.call_answer(operation, result)


class _Own:
    """Gets the server's own answers for the client that calls the tool."""

    def __init__(self, ctx: Context, call_next: CallNext) -> None:
        self.params: Mapping[str, Any] = ctx.params or {}
        self._ctx = ctx
        self._call_next = call_next

    async def asked(self, method: str, params: Mapping[str, Any]) -> Json:
        """Return the answer to another request of the same client. Raises MCPError."""
        kept = {name: said for name, said in self.params.items() if name not in ("name", "arguments")}
        return _json(await self._call_next(replace(self._ctx, method=method, params={**kept, **params})))

    async def listed(self, proxy_type: ProxyType, wanted: Callable[[Json], bool]) -> list[tuple[Json, str]]:
        """Return all definitions of this type, each with the key of its name. Raises MCPError."""
        entries: list[tuple[Json, str]] = []
        for method, key, name in LISTS[proxy_type]:
            try:
                found = [entry for page in await self._pages(method) for entry in page[key]]
            except MCPError as error:
                if error.error.code != METHOD_NOT_FOUND:
                    raise
            else:
                entries += ((entry, name) for entry in found if wanted(entry))
        return entries

    async def _pages(self, method: str) -> list[Json]:
        pages, cursors = [await self.asked(method, {})], set[str]()
        while (cursor := pages[-1].get("nextCursor")) is not None:
            if cursor in cursors or len(pages) >= MOST_PAGES:
                raise MCPError(INTERNAL_ERROR, "the server's list does not end")
            cursors.add(cursor)
            pages.append(await self.asked(method, {"cursor": cursor}))
        return pages

    async def found(self, operation: ProxyOperation) -> tuple[Json, str]:
        """Return the definition that a path names: by URI first, then by name. Raises InvalidOperation."""
        entries = await self.listed(operation.type, lambda _: True)
        for by_name in (False, True):
            for entry, key in entries:
                if entry.get("name" if by_name else key) == operation.path:
                    return entry, key
        raise InvalidOperation(f"path: there is no such {operation.type}")


def _invalid(sentence: str) -> Json:
    return {"content": [{"type": "text", "text": sentence}], "isError": True}


def _is_of(server: str) -> Callable[[Json], bool]:
    """Return a test for definitions that a guard says come from that server."""
    if not server:
        return lambda _: True
    return lambda entry: (entry.get("_meta") or {}).get(ORIGIN, {}).get("server") == server


def _json(said: HandlerResult) -> Json:
    if isinstance(said, BaseModel):
        return said.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dict(said or {})
