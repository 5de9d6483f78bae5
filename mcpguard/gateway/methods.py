"""What clients can ask of a face: one table of methods, for every transport and both eras.

Rules kept here:
1. A method that the client's revision does not have is unknown, and parameters that it forbids are refused, before
   anything is looked up.
2. Whatever is forwarded is a call (`guard.calls`), whether it is a tool, a resource, a prompt or a completion.
3. A list is answered from the catalog; no server is asked, so none can delay it.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import structlog

from mcpguard.catalog.catalog import Catalog
from mcpguard.codec import envelope
from mcpguard.codec.members import ALWAYS_KNOWN
from mcpguard.codec.messages import Failure, Request, Result
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.client_request import STATE, Exchange, call_request
from mcpguard.gateway.clients import OF_ONE_REQUEST, Client, can_do, client_name
from mcpguard.gateway.contents import rename_contents
from mcpguard.gateway.disclosure import count_list
from mcpguard.gateway.faces.face import NamedCapability
from mcpguard.gateway.greeting import GatewayGreeting
from mcpguard.gateway.input_required import PARKED, ParkedCalls, unknown_state
from mcpguard.gateway.lists import KINDS, ShownLists
from mcpguard.gateway.subscriptions.listen import ListenRequests
from mcpguard.gateway.subscriptions.subscribe import ResourceSubscriber
from mcpguard.gateway.tools.proxy import ClientView
from mcpguard.gateway.tools.tools import Tools
from mcpguard.gateway.validation import (
    FORMS,
    LONGEST_NAME,
    fitting_name,
    invalid_parameters,
    resolve_uri,
    too_long_name,
    unknown_method,
    validate,
)
from mcpguard.gateway.views import CatalogViews, NamedTool
from mcpguard.gateway.wire import (
    INTERNAL_ERROR,
    REFUSED,
    US,
    BudgetSpent,
    RequestRejected,
    ServerAnsweredError,
    own_error,
    refused_error,
    refused_result,
)
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.calls.request import CallRequest, CallResult
from mcpguard.guard.guard import Guard
from mcpguard.text.visible import visible

Params = Mapping[str, Any]
log = structlog.get_logger("mcpguard.gateway")
Method = Callable[[Exchange, Params], Awaitable[dict[str, Any]]]


class Methods:
    """Answers the requests of clients."""

    def __init__(self, guard: Guard) -> None:
        self.parking = ParkedCalls()
        self._guard = guard
        self._lists = ShownLists(guard.settings.limits.page)
        self._publisher = guard.servers.publisher
        self._greeting = GatewayGreeting(guard.tallies, self._settled, self._seen_by)
        self._views = CatalogViews()
        subscribing = ResourceSubscriber(guard, self._meant)
        self._listening = ListenRequests(guard, subscribing)
        self._tools = Tools(guard, self._carried_out, ClientView(self._seen_by, self._settled, self._lists))
        self._table: dict[str, Method] = {
            "server/discover": self._discover,
            "ping": self._nothing,
            "shutdown": self._nothing,
            "logging/setLevel": self._set_level,
            "tools/call": self._call_tool,
            "resources/read": self._read,
            "prompts/get": self._get_prompt,
            "resources/subscribe": subscribing.subscribe,
            "resources/unsubscribe": subscribing.unsubscribe,
            "completion/complete": self._complete,
            "subscriptions/listen": self._listening.answer,
            **{method: partial(self._list, method) for method in KINDS},
        }

    def reply(self, exchange: Exchange, request: Request) -> Awaitable[Result | Failure]:
        """Return the answer to a request. A modern client may be answered with questions first."""
        if exchange.client.era is Era.MODERN and request.method in PARKED:
            if (request.params or {}).get(STATE) is not None:
                return self._resume(exchange, request)
            askable = exchange.client.askable
            if askable and self._guard.servers.asked_for & askable:
                return self.parking.begin(exchange, request, partial(self._work, request))
        return self._work(request, exchange)

    async def _resume(self, exchange: Exchange, request: Request) -> Result | Failure:
        return await self.parking.resume(exchange, request) or self._rejected(exchange.client, request, unknown_state())

    async def _work(self, request: Request, exchange: Exchange) -> Result | Failure:
        client, method, params = exchange.client, request.method, request.params or {}
        try:
            answer = self._table.get(method)
            if answer is None:
                raise unknown_method()  # noqa: TRY301 - as it is refused for everything else
            if FORMS.check is None:
                await FORMS.load()
            is_plain = (
                client.is_checked
                and method == "tools/call"
                and params.keys() <= ALWAYS_KNOWN[method]
                and isinstance(params.get("name"), str)
                and isinstance(params.get("arguments", {}), dict)
                and params["_meta"].keys().isdisjoint(OF_ONE_REQUEST)
            )
            if not is_plain:
                validate(method, client.version, params)
                client.is_checked |= client.era is Era.MODERN and method == "tools/call"
            result = await answer(exchange, params)
            if client.era is Era.MODERN:
                result = envelope.modern_result(method, result, US)
            return Result(request.id, result)
        except ServerAnsweredError as passed:
            return Failure(request.id, passed.error)
        except RequestRejected as rejected:
            return self._rejected(client, request, rejected)
        except Exception:
            log.exception("gateway.failed", method=visible(request.method[:100]))
            return Failure(request.id, own_error(INTERNAL_ERROR, Reason.GUARD_ERROR.sentence))

    async def initialize(self, client: Client, request: Request) -> Result | Failure:
        """Return the answer to a handshake. If that is a result, `client` is filled in from it. Raises BudgetSpent."""
        params = request.params or {}
        try:
            if FORMS.check is None:
                await FORMS.load()
            validate("initialize", envelope.HANDSHAKE[-1], params)
            if wait := self._guard.calls.count_handshake(client.caller):
                raise BudgetSpent(wait)  # noqa: TRY301 - the door answers it in its own way
            greeting = await self._greeting.greet(client, "initialize")
        except BudgetSpent:
            raise
        except RequestRejected as rejected:
            return self._rejected(client, request, rejected)
        requested = params["protocolVersion"]
        client.version = requested if requested in envelope.HANDSHAKE else envelope.HANDSHAKE[-1]
        client.name = client_name(params["clientInfo"])
        client.capabilities = can_do(params["capabilities"])
        return Result(request.id, {"protocolVersion": client.version, **greeting})

    def take_notification(self, client: Client, method: str) -> None:
        """Act on a client's notification, if it concerns the servers."""
        if method == "notifications/roots/list_changed":
            self._guard.servers.roots_changed(client.caller.scope)

    def count_stray_answer(self, client: Client) -> None:
        """Count an answer to a question that nobody asked."""
        self._guard.tallies.count_refused(door=client.door, why="answer")

    def _rejected(self, client: Client, request: Request, rejected: RequestRejected) -> Failure:
        if rejected.why:
            self._guard.tallies.count_refused(door=client.door, why=rejected.why)
        return Failure(request.id, rejected.error)

    def tool(self, client: Client, name: str) -> NamedTool:
        """Return what a client means by the name of a tool, with its entry if it is offered to the client."""
        views, catalog, scope = self._views, self._publisher.catalog, client.caller.scope
        if views.of is catalog:
            named = views.tools.get((scope.servers, scope.tools, client.face.key, name))
            if named is not None:
                return named
        return views.look_up(catalog, scope, client.face, name)

    def close(self) -> None:
        """Answer every request that would otherwise stay open for long."""
        self._listening.close()
        self._guard.calls.stop_asking()

    def end_caller(self, caller: str) -> None:
        """End what stays open in the name of a caller that was revoked."""
        self._listening.end_caller(caller)
        self.parking.end_caller(caller)
        self._tools.end_caller(caller)

    def end_session(self, session: str) -> None:
        """Drop what is kept for a session or stream that has ended."""
        self.parking.end_session(session)
        self._tools.end_session(session)

    def _seen_by(self, client: Client) -> Catalog:
        return self._views.in_scope(self._publisher.catalog, client.caller.scope).catalog

    async def _settled(self, client: Client) -> None:
        await self._guard.servers.wait_until_settled()
        if not self._guard.callers.holds(client.caller):
            raise RequestRejected(REFUSED, Reason.CALLER_REVOKED.sentence, "credential")

    async def _discover(self, exchange: Exchange, _params: Params) -> dict[str, Any]:
        return {
            "supportedVersions": list(envelope.MODERN),
            **await self._greeting.greet(exchange.client, "server/discover"),
        }

    async def _nothing(self, _exchange: Exchange, _params: Params) -> dict[str, Any]:
        return {}

    async def _set_level(self, exchange: Exchange, params: Params) -> dict[str, Any]:
        if params["level"] not in envelope.LEVELS:
            raise invalid_parameters(f"level must be one of {', '.join(envelope.LEVELS)}")
        exchange.client.log_level = params["level"]
        return {}

    async def _list(self, method: str, exchange: Exchange, params: Params) -> dict[str, Any]:
        client = exchange.client
        await self._settled(client)
        result, names = self._lists.page(client.face, client.caller.scope, self._seen_by(client), method, params)
        count_list(self._guard, client, method, names, result)
        return result

    def _call_tool(self, exchange: Exchange, params: Params) -> Awaitable[dict[str, Any]]:
        client, name = exchange.client, params["name"]
        if client.face.own and any(own["name"] == name for own in client.face.own):
            return self._tools.call(exchange, params)
        if len(name) > LONGEST_NAME:
            raise too_long_name()
        capability, _ = self.tool(client, name)
        return self._make(exchange, "tools/call", capability, {**params, "name": capability.name})

    def _get_prompt(self, exchange: Exchange, params: Params) -> Awaitable[dict[str, Any]]:
        client = exchange.client
        capability = client.face.named_capability(
            self._seen_by(client), CapabilityKind.PROMPT, fitting_name(params["name"])
        )
        return self._make(exchange, "prompts/get", capability, {**params, "name": capability.name})

    async def _read(self, exchange: Exchange, params: Params) -> dict[str, Any]:
        words, face = params["uri"], exchange.client.face
        meant = self._meant(exchange.client, words)
        own = meant.capability.name
        params = {**params, "uri": own}
        result = await self._make(exchange, "resources/read", meant.capability, params, pinned=meant.pinned, uri=words)
        return rename_contents(result, own, words, partial(face.uri, meant.capability.server))

    def _meant(self, client: Client, uri: str) -> NamedCapability:
        return resolve_uri(client.face.resource, self._seen_by(client), uri)

    async def _complete(self, exchange: Exchange, params: Params) -> dict[str, Any]:
        face, catalog, ref = exchange.client.face, self._seen_by(exchange.client), params["ref"]
        if ref["type"] == "ref/prompt":
            capability = face.named_capability(catalog, CapabilityKind.PROMPT, fitting_name(ref["name"]))
            own = {**ref, "name": capability.name}
        else:
            capability = resolve_uri(face.template, catalog, ref["uri"])
            own = {**ref, "uri": capability.name}
        return await self._make(exchange, "completion/complete", capability, {**params, "ref": own})

    async def _make(
        self,
        exchange: Exchange,
        method: str,
        named: Capability,
        params: Params,
        *,
        pinned: Capability | None = None,
        uri: str | None = None,
    ) -> dict[str, Any]:
        """Make a call and return the server's answer. `uri` is the client's name for a resource. Raises
        RequestRejected or ServerAnsweredError.
        """
        exchange.server = named.server
        asked = call_request(exchange, method, named, params, pinned=pinned)
        told = await self._guard.calls.handle(asked, exchange)
        if told.result is not None:
            return told.result
        _passed_on(told)
        said = refusal(told)
        if method == "tools/call":
            view = self._views.in_scope(self._publisher.catalog, exchange.client.caller.scope)
            return refused_result(said, structured=view.is_free(named))
        raise refused_error(said, exchange.client.era, uri)

    async def _carried_out(self, exchange: Exchange, wanted: CallRequest) -> CallResult:
        """Make a call and return its result or refusal. Raises ServerAnsweredError with a server's own error."""
        exchange.server = wanted.capability.server
        return _passed_on(await self._guard.calls.handle(wanted, exchange))


def _passed_on(told: CallResult) -> CallResult:
    """Return a result or a refusal. Raises ServerAnsweredError with a server's own error."""
    if told.error is not None:
        raise ServerAnsweredError(told.error)
    return told
