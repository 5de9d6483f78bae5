"""The `proxy` tool: everything behind the guard through one tool, for programs that take one (docs/proxy.md).

Rules kept here:
1. Names, URIs and definitions are those of the direct face. A call is a call like any other, whatever is called: judged
   once and recorded. A list or a definition that is shown leaves a `disclosed` record.
2. Every failure is reported as the result of a tool.
3. The guard's own tools are not called through this one, so it never calls itself.
4. The operations of a batch are done one after the other, each as if it were requested alone. So a batch has one call
   in progress, and every rule holds for each of them. How one ends keeps no other from being done.
"""

import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from anyio import to_thread

from mcpguard.catalog.catalog import Catalog
from mcpguard.codec.envelope import BY_GUARD, BY_SERVER, SPEAKER, meta, with_meta
from mcpguard.codec.names import SEPARATORS
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.json import Json
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.listings import KEYS
from mcpguard.gateway.client_request import RESPONSES, Exchange, call_request
from mcpguard.gateway.clients import Client
from mcpguard.gateway.contents import rename_contents
from mcpguard.gateway.faces.direct import DirectFace
from mcpguard.gateway.lists import ShownLists
from mcpguard.gateway.tools import names
from mcpguard.gateway.tools.answers import tool_refusal, unusable_arguments, with_call_id
from mcpguard.gateway.tools.arguments import LONGEST_NAME, UnusableArguments
from mcpguard.gateway.validation import validate
from mcpguard.gateway.wire import INTERNAL_ERROR, RequestRejected, ServerAnsweredError, own_error, refused_result
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.calls.request import CallRequest, CallResult
from mcpguard.guard.guard import Guard
from mcpguard.policy.scopes import is_in_scope
from mcpguard.proxy import envelope
from mcpguard.proxy.batches import FULL, BatchResults
from mcpguard.proxy.filtering import ORIGIN
from mcpguard.proxy.operations import Action, Batch, InvalidOperation, ProxyOperation, ProxyType, read

Make = Callable[[Exchange, CallRequest], Awaitable[CallResult]]
KINDS = {
    ProxyType.TOOL: (CapabilityKind.TOOL,),
    ProxyType.RESOURCE: names.RESOURCES,
    ProxyType.PROMPT: (CapabilityKind.PROMPT,),
}
METHODS = {ProxyType.TOOL: "tools/call", ProxyType.RESOURCE: "resources/read", ProxyType.PROMPT: "prompts/get"}
log = structlog.get_logger("mcpguard.gateway")
LARGE = 32 * 1024
"""Bytes; a smaller reply is put into its form at once, because a thread costs more than that."""


@dataclass(frozen=True, slots=True)
class ClientView:
    """What clients may see: of the catalog, in lists, and from when on."""

    seen: Callable[[Client], Catalog]
    settled: Callable[[Client], Awaitable[None]]
    """Waits until what is starting has listed what it offers. Raises RequestRejected for who is no caller any more."""
    lists: ShownLists


class ProxyTool:
    """Answers for one guard. `own` has the names of the guard's tools."""

    def __init__(self, guard: Guard, make: Make, seeing: ClientView, own: Collection[str]) -> None:
        self._guard = guard
        self._make = make
        self._seen = seeing.seen
        self._settled = seeing.settled
        self._lists = seeing.lists
        self._own = own
        self._name = guard.settings.proxy.name
        self._separator = guard.settings.separator
        self._faces = {each: DirectFace(each) for each in SEPARATORS}

    async def answer(self, exchange: Exchange, params: Mapping[str, Any], arguments: Json) -> Json:
        """Return the tool's result. Raises UnusableArguments."""
        try:
            wanted = read(arguments)
        except InvalidOperation as error:
            raise UnusableArguments(str(error)) from None
        if isinstance(wanted, Batch):
            return await self._in_turn(exchange, params, wanted)
        return await self._done(exchange, params, wanted)

    async def _in_turn(self, exchange: Exchange, params: Mapping[str, Any], batch: Batch) -> Json:
        """Do the operations of a batch, one after the other. Raises UnusableArguments."""
        if RESPONSES in params:  # to which of the calls they are an answer nobody could tell
            raise UnusableArguments(f"{RESPONSES}: not allowed in a batch; answer each question when it is asked")
        exchange.several = True
        results = BatchResults()
        for operation in batch.operations:
            result = self._unusable(exchange.client, FULL) if results.is_full else None
            await to_thread.run_sync(results.add, result or await self._item(exchange, params, operation))
        return _with_speaker(results.answer())

    async def _item(self, exchange: Exchange, params: Mapping[str, Any], operation: ProxyOperation) -> Json:
        """Do one operation of a batch and return its result, also when it fails."""
        try:
            return await self._done(exchange, params, operation)
        except UnusableArguments as error:
            return self._unusable(exchange.client, str(error))
        except Exception:
            log.exception("gateway.failed", method=f"proxy {operation.action} {operation.type}")
            return _with_speaker(
                envelope.error_answer(operation, own_error(INTERNAL_ERROR, Reason.GUARD_ERROR.sentence))
            )

    def _unusable(self, client: Client, sentence: str) -> Json:
        self._guard.tallies.count_refused(door=client.door, why="arguments")
        return unusable_arguments(self._name, sentence)

    async def _done(self, exchange: Exchange, params: Mapping[str, Any], operation: ProxyOperation) -> Json:
        """Do one operation. Raises UnusableArguments."""
        try:
            match operation.action:
                case Action.LIST:
                    return await self._list(exchange.client, operation)
                case Action.INFO:
                    return await self._info(exchange.client, operation)
                case Action.CALL:
                    return await self._call(exchange, params, operation)
        except (InvalidOperation, RequestRejected) as error:
            raise UnusableArguments(str(error)) from None
        except InvalidName as error:
            raise UnusableArguments(f"path: {error}") from None

    async def _list(self, client: Client, operation: ProxyOperation) -> Json:
        await self._settled(client)
        catalog, scope, direct = self._seen(client), client.caller.scope, self._direct(client)
        shown = [
            (entry, str(entry[KEYS[kind]]))
            for kind in KINDS[operation.type]
            for entry in self._lists.entries(direct, kind, scope, catalog)
            if operation.server in ("", entry["_meta"][ORIGIN]["server"]) and operation.filter.wants(entry)
        ]
        part = shown[operation.offset : operation.offset + operation.limit]
        told, given = envelope.list_answer(operation, [entry for entry, _ in part], len(shown))
        self._disclosed(client, operation, [name for _, name in part[:given]])
        return _with_speaker(told)

    async def _info(self, client: Client, operation: ProxyOperation) -> Json:
        await self._settled(client)
        catalog, scope = self._seen(client), client.caller.scope
        if operation.type is ProxyType.RESOURCE:
            found = names.find_listed(self._direct(client), catalog, scope, operation.path)
        else:
            found = self._named(client, operation)
        pinned = catalog.find(found.server, found.kind, found.name) if found else None
        if found is None or pinned is None or not is_in_scope(scope, found):
            return self._absent(client, found)
        definition = self._direct(client).shown_definition(pinned)
        self._disclosed(client, operation, [str(definition[KEYS[found.kind]])])
        is_template = found.kind is CapabilityKind.TEMPLATE
        return _with_speaker(envelope.definition_answer(operation, definition, template=is_template))

    async def _call(self, exchange: Exchange, params: Mapping[str, Any], operation: ProxyOperation) -> Json:
        method = METHODS[operation.type]
        call = self._asked(exchange, method, params, operation)
        try:
            ended = await self._make(exchange, call)
        except ServerAnsweredError as passed:
            return with_meta(envelope.error_answer(operation, passed.error), BY_SERVER)
        if ended.result is None:
            return refused_result(refusal(ended), structured=True)
        reply, result = ended.outcome.reply, ended.result
        if operation.type is ProxyType.RESOURCE:
            at = partial(self._direct(exchange.client).uri, call.capability.server)
            result = rename_contents(result, call.capability.name, operation.path, at)
        form = partial(envelope.call_answer, operation, result)
        is_large = reply is not None and reply.size > LARGE
        answer = await to_thread.run_sync(form, abandon_on_cancel=True) if is_large else form()
        return with_call_id(_with_speaker(answer), ended.call)

    def _asked(
        self, exchange: Exchange, method: str, params: Mapping[str, Any], operation: ProxyOperation
    ) -> CallRequest:
        client, arguments = exchange.client, dict(operation.arguments)
        own = {"_meta": params["_meta"]} if "_meta" in params else {}
        if operation.type is ProxyType.RESOURCE:
            meant = names.find_resource(self._direct(client), self._seen(client), client.caller.scope, operation.path)
            if arguments:
                raise InvalidOperation("args: a resource takes no arguments; put variables into its URI")
            wanted = {**own, "uri": meant.capability.name}
            return call_request(exchange, method, meant.capability, wanted, pinned=meant.pinned)
        named = self._named(client, operation)
        wanted = {**own, "name": named.name, "arguments": arguments}
        validate(method, client.version, wanted)
        return call_request(exchange, method, named, wanted)

    def _named(self, client: Client, operation: ProxyOperation) -> Capability:
        """Return the tool or the prompt that is meant."""
        if operation.type is ProxyType.TOOL and operation.path in self._own:
            raise InvalidOperation("path: call the guard's own tools directly, not through this one")
        if len(operation.path) > LONGEST_NAME:
            raise InvalidOperation(f"path: the name of a {operation.type} has at most {LONGEST_NAME} characters")
        (kind,) = KINDS[operation.type]
        catalog = self._seen(client)
        found = names.find_named(catalog, client.caller.scope, kind, operation.path)
        return found or self._direct(client).named_capability(catalog, kind, operation.path)

    def _direct(self, client: Client) -> DirectFace:
        """Return the direct face with the separator that this client sees."""
        face = client.face
        return self._faces[face.separator if isinstance(face, DirectFace) else self._separator]

    def _absent(self, client: Client, found: Capability | None) -> Json:
        """Say why there is no definition to show, as a refused call would be told. Unknown and out of scope look the
        same.
        """
        said = self._guard.explain(client.caller, found) if found else {}
        reason = said.get("reason", Reason.CAPABILITY_UNKNOWN.value)
        self._guard.tallies.count_refused(door=client.door, why=reason, caller=client.caller.id)
        if "reason" not in said:
            return tool_refusal(self._name, Reason.CAPABILITY_UNKNOWN)
        told = {name: value for name, value in said.items() if name != "answer"}
        return refused_result({"status": "refused", "executed": "no", **told}, structured=True)

    def _disclosed(self, client: Client, operation: ProxyOperation, names: Sequence[str]) -> None:
        self._guard.tallies.count_disclosure(
            caller=client.caller.id,
            face=client.face.word.value,
            method=f"proxy {operation.action} {operation.type}",
            names=len(names),
            digest=hashlib.sha256("\0".join(names).encode()).hexdigest(),
        )


def _with_speaker(answer: Json) -> Json:
    """Mark an answer as the guard's unless a server speaks in it."""
    return answer if SPEAKER in meta(answer) else with_meta(answer, BY_GUARD)
