"""Routes each of the guard face's tools to what answers it.

Rules kept here:
1. A call of a server's tool is a call like any other: judged once, recorded, and answered as the server answers.
2. A long reply is cut, and its rest is read page by page. Each page is a call again.
3. Showing what there is leaves a `disclosed` record, tallied, with a digest of the names that were shown, and with the
   query.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from mcpguard.codec import envelope
from mcpguard.domain.json import Json
from mcpguard.gateway.client_request import Exchange, call_request
from mcpguard.gateway.disclosure import disclosed_fields
from mcpguard.gateway.tools import definitions
from mcpguard.gateway.tools.answers import tool_refusal, tool_result, unusable_arguments, with_call_id
from mcpguard.gateway.tools.arguments import (
    CallToolArguments,
    DescribeArguments,
    ReadMoreArguments,
    RetrieveArguments,
    UnusableArguments,
    VariantArguments,
    read,
)
from mcpguard.gateway.tools.calling import WantedCall, by_name, by_variant
from mcpguard.gateway.tools.code_tool import CodeTool
from mcpguard.gateway.tools.declarations import ServerOperation
from mcpguard.gateway.tools.find_tools import FindTools
from mcpguard.gateway.tools.proxy import ClientView, ProxyTool
from mcpguard.gateway.tools.reply_pages import ReplyPages
from mcpguard.gateway.tools.servers import RefusedOperation, ServersTool
from mcpguard.gateway.wire import refused_result
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.calls.request import CallRequest, CallResult
from mcpguard.guard.guard import Guard

Make = Callable[[Exchange, CallRequest], Awaitable[CallResult]]
Answer = Callable[[Exchange, Mapping[str, Any], Json], Awaitable[Json]]


class Tools:
    """Answers calls of the guard face's tools. `make` carries out a call of a server's tool; `seeing` is what clients
    may see.
    """

    def __init__(self, guard: Guard, make: Make, seeing: ClientView) -> None:
        self._guard = guard
        self._make = make
        self._finding = FindTools(guard)
        self._servers = ServersTool(guard)
        self._reading = ReplyPages(guard.clock, guard.settings.replies)
        self._table: dict[str, Answer] = {
            definitions.RETRIEVE: self._retrieve,
            definitions.DESCRIBE: self._describe,
            definitions.CALL: self._call,
            envelope.MORE: self._more,
            definitions.SERVERS: self._upstream_servers,
            **dict.fromkeys(definitions.VARIANTS, self._variant),
        }
        if guard.programs is not None:
            self._table[definitions.CODE] = CodeTool(guard, guard.programs).answer
        proxy = guard.settings.proxy
        if proxy.enabled:
            own = {*self._table, proxy.name}
            self._table |= {proxy.name: ProxyTool(guard, make, seeing, own).answer}

    def end_caller(self, caller: str) -> None:
        """Drop what is kept for a caller that was revoked."""
        self._reading.replies.end_caller(caller)

    def end_session(self, session: str) -> None:
        """Drop what is kept for a stream that has ended."""
        self._reading.replies.end_session(session)

    async def call(self, exchange: Exchange, params: Mapping[str, Any]) -> Json:
        """Return the answer of the tool that `params` name, which is one of our own."""
        try:
            return await self._table[params["name"]](exchange, params, params.get("arguments") or {})
        except UnusableArguments as error:
            self._guard.tallies.count_refused(door=exchange.client.door, why="arguments")
            return unusable_arguments(params["name"], str(error))

    async def _retrieve(self, exchange: Exchange, _: Mapping[str, Any], arguments: Json) -> Json:
        answer = await self._finding.retrieve(exchange.client.caller, read(RetrieveArguments, arguments))
        disclosed = disclosed_fields(exchange.client, definitions.RETRIEVE, _names(answer["tools"]))
        self._guard.tallies.count_disclosure(query=answer["query"], **disclosed)
        return self._counted(tool_result(answer))

    async def _describe(self, exchange: Exchange, _: Mapping[str, Any], arguments: Json) -> Json:
        client = exchange.client
        answer = self._finding.describe(client.caller, read(DescribeArguments, arguments))
        self._guard.tallies.count_disclosure(**disclosed_fields(client, definitions.DESCRIBE, _names(answer["tools"])))
        return self._counted(tool_result(answer))

    def _counted(self, result: Json) -> Json:
        """Return a result that shows definitions, which is counted."""
        self._guard.searching.context_use.count_answer(sum(len(each["text"].encode()) for each in result["content"]))
        return result

    async def _upstream_servers(self, exchange: Exchange, _: Mapping[str, Any], arguments: Json) -> Json:
        client = exchange.client
        answer = await self._servers.answer(client.caller, arguments)
        if isinstance(answer, RefusedOperation):
            said = {"caller": client.caller.id, "operation": answer.operation}
            self._guard.tallies.count_refused(door=client.door, why=answer.reason.value, **said)
            return tool_refusal(definitions.SERVERS, answer.reason, answer.where)
        if "lines" in answer:
            method = f"{definitions.SERVERS} {ServerOperation.TAIL_LOG}"
            self._guard.tallies.count_disclosure(**disclosed_fields(client, method, [answer["name"]]))
        return tool_result(answer)

    async def _variant(self, exchange: Exchange, params: Mapping[str, Any], arguments: Json) -> Json:
        given = read(VariantArguments, arguments)
        variant, scope = definitions.VARIANTS[params["name"]], exchange.client.caller.scope
        return await self._made(exchange, params, by_variant(self._guard.catalog, scope, variant, given))

    async def _call(self, exchange: Exchange, params: Mapping[str, Any], arguments: Json) -> Json:
        return await self._made(exchange, params, by_name(read(CallToolArguments, arguments)))

    async def _made(self, exchange: Exchange, params: Mapping[str, Any], wanted: WantedCall) -> Json:
        own = {**params, "name": wanted.capability.name, "arguments": dict(wanted.arguments)}
        call = call_request(exchange, "tools/call", wanted.capability, own, stated=wanted.stated)
        ended = await self._make(exchange, call)
        if ended.result is None:
            return refused_result(refusal(ended), structured=True)
        return with_call_id(self._reading.first_page(exchange.client, call, ended, ended.result), ended.call)

    async def _more(self, exchange: Exchange, _: Mapping[str, Any], arguments: Json) -> Json:
        page = self._reading.next_page(exchange.client, read(ReadMoreArguments, arguments))
        ended = await self._make(exchange, page.to_call_request(exchange))
        if ended.result is None:
            return refused_result(refusal(ended), structured=True)
        return with_call_id(ended.result, ended.call)


def _names(tools: Iterable[Mapping[str, Any]]) -> list[str]:
    return [each["name"] for each in tools]
