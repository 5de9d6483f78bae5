"""Which of the guard face's tools answers what.

Rules kept here:
1. What calls a server's tool is a call like any other: judged once, recorded, and answered as the server answers.
2. A reply that is long is cut, and what is left of it is read page by page. Each page is a call again.
3. What shows what there is leaves a `disclosed` record, tallied, with a digest of the names that were shown, and with
   what was looked for.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from mcpguard.domain.json import Json
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.disclosure import shown
from mcpguard.gateway.faces.face import Meant
from mcpguard.gateway.requested_call import asked
from mcpguard.gateway.tools import definitions
from mcpguard.gateway.tools.answers import of_call, refused, told, unusable
from mcpguard.gateway.tools.arguments import (
    CallToolArguments,
    Describe,
    More,
    Retrieve,
    UnusableArguments,
    Variant,
    read,
)
from mcpguard.gateway.tools.calling import WantedCall, by_name, by_variant
from mcpguard.gateway.tools.declarations import ServerOperation
from mcpguard.gateway.tools.find_tools import FindTools
from mcpguard.gateway.tools.proxy import Proxying, Seeing
from mcpguard.gateway.tools.reply_pages import Reading
from mcpguard.gateway.tools.servers import RefusedOperation, ServersTool
from mcpguard.gateway.wire import refused_result
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.calls.request import CallRequest, CallResult
from mcpguard.guard.guard import Guard

Make = Callable[[Exchange, CallRequest], Awaitable[CallResult]]
Answer = Callable[[Exchange, Mapping[str, Any], Json], Awaitable[Json]]


class Tools:
    """Answers calls of them. `make` carries out the call of a server's tool; `seeing`: what clients may know of."""

    def __init__(self, guard: Guard, make: Make, seeing: Seeing) -> None:
        self._guard = guard
        self._make = make
        self._finding = FindTools(guard)
        self._servers = ServersTool(guard)
        self._reading = Reading(guard.clock, guard.settings.replies)
        self._table: dict[str, Answer] = {
            definitions.RETRIEVE: self._retrieve,
            definitions.DESCRIBE: self._describe,
            definitions.CALL: self._call,
            definitions.MORE: self._more,
            definitions.SERVERS: self._upstream_servers,
            **dict.fromkeys(definitions.VARIANTS, self._variant),
        }
        proxy = guard.settings.proxy
        if proxy.enabled:
            own = {*self._table, proxy.name}
            self._table |= {proxy.name: Proxying(guard, make, seeing, own).answer}

    def lost(self, caller: str) -> None:
        """This one is no caller any more."""
        self._reading.replies.lost(caller)

    def left(self, session: str) -> None:
        """Nobody comes back to this stream."""
        self._reading.replies.left(session)

    async def call(self, exchange: Exchange, params: Mapping[str, Any]) -> Json:
        """The answer of the tool that `params` name. It is one of ours."""
        try:
            return await self._table[params["name"]](exchange, params, params.get("arguments") or {})
        except UnusableArguments as error:
            self._guard.tallies.turned_away(door=exchange.client.door, why="arguments")
            return unusable(params["name"], str(error))

    async def _retrieve(self, exchange: Exchange, _: Mapping[str, Any], arguments: Json) -> Json:
        answer = self._finding.retrieve(exchange.client.caller, read(Retrieve, arguments))
        disclosed = shown(exchange.client, definitions.RETRIEVE, _names(answer["tools"]))
        self._guard.tallies.disclosed(query=answer["query"], **disclosed)
        return told(answer)

    async def _describe(self, exchange: Exchange, _: Mapping[str, Any], arguments: Json) -> Json:
        client = exchange.client
        answer = self._finding.describe(client.caller, read(Describe, arguments))
        self._guard.tallies.disclosed(**shown(client, definitions.DESCRIBE, _names(answer["tools"])))
        return told(answer)

    async def _upstream_servers(self, exchange: Exchange, _: Mapping[str, Any], arguments: Json) -> Json:
        client = exchange.client
        answer = await self._servers.answer(client.caller, arguments)
        if isinstance(answer, RefusedOperation):
            said = {"caller": client.caller.id, "operation": answer.operation}
            self._guard.tallies.turned_away(door=client.door, why=answer.reason.value, **said)
            return refused(definitions.SERVERS, answer.reason, answer.where)
        if "lines" in answer:
            method = f"{definitions.SERVERS} {ServerOperation.TAIL_LOG}"
            self._guard.tallies.disclosed(**shown(client, method, [answer["name"]]))
        return told(answer)

    async def _variant(self, exchange: Exchange, params: Mapping[str, Any], arguments: Json) -> Json:
        given = read(Variant, arguments)
        variant, scope = definitions.VARIANTS[params["name"]], exchange.client.caller.scope
        return await self._made(exchange, params, by_variant(self._guard.catalog, scope, variant, given))

    async def _call(self, exchange: Exchange, params: Mapping[str, Any], arguments: Json) -> Json:
        return await self._made(exchange, params, by_name(read(CallToolArguments, arguments)))

    async def _made(self, exchange: Exchange, params: Mapping[str, Any], wanted: WantedCall) -> Json:
        own = {**params, "name": wanted.capability.name, "arguments": dict(wanted.arguments)}
        call = asked(exchange, "tools/call", Meant(wanted.capability), own, stated=wanted.stated)
        ended = await self._make(exchange, call)
        if ended.result is None:
            return refused_result(refusal(ended), structured=True)
        return of_call(self._reading.first(exchange.client, call, ended, ended.result), ended.call)

    async def _more(self, exchange: Exchange, _: Mapping[str, Any], arguments: Json) -> Json:
        page = self._reading.on(exchange.client, read(More, arguments))
        ended = await self._make(exchange, page.asked(exchange))
        if ended.result is None:
            return refused_result(refusal(ended), structured=True)
        return of_call(ended.result, ended.call)


def _names(tools: Iterable[Mapping[str, Any]]) -> list[str]:
    return [each["name"] for each in tools]
