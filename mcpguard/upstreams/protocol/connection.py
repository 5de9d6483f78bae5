"""A connected server with a negotiated protocol revision, and the requests that can be made to it.

Rules kept here:
1. Every request is sent in the negotiated revision.
2. Where arguments are repeated in headers, a tool whose schema declares this in an invalid way is not offered at all,
   as the protocol requires: otherwise header and body could be made to disagree.
3. If a server responds with questions to the client, it gets the client's answers, for a limited number of rounds. The
   `Counterpart` decides whether the client is asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import structlog
from anyio import to_thread

from mcpguard.codec import envelope
from mcpguard.codec.headers.mirrored_arguments import HeaderMap, argument_headers, mirrored_arguments
from mcpguard.domain.asks import QuestionDeclined
from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from mcpguard.domain.servers.listings import Listing
from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.conversation import INTERNAL_ERROR, Conversation, ServerError, StandingRequest
from mcpguard.upstreams.exchange.endings import Unsent
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.calls_in_flight import InFlight
from mcpguard.upstreams.protocol.listing import ListingBounds, list_everything
from mcpguard.upstreams.protocol.negotiation import Greeting, with_envelope
from mcpguard.upstreams.protocol.questions import MOST_ROUNDS, STATE, questions
from mcpguard.upstreams.protocol.switchboard import Switchboard

LISTS = ("tools", "prompts", "resources")
log = structlog.get_logger("mcpguard.upstreams")


class Connection:
    """The connection to one server. `in_headers`: whether its transport has headers to repeat arguments in."""

    def __init__(
        self,
        conversation: Conversation,
        switchboard: Switchboard,
        greeting: Greeting,
        us: Mapping[str, Any],
        *,
        in_headers: bool = False,
    ) -> None:
        self.greeting = greeting
        self._conversation = conversation
        self._switchboard = switchboard
        self._us = us
        self.modern = greeting.era is Era.MODERN
        self._in_headers = in_headers and self.modern
        self._mirrored: dict[str, HeaderMap] = {}
        self._level: str | None = None

    async def call(
        self, method: str, params: Mapping[str, Any], counterpart: Counterpart, seconds: float
    ) -> dict[str, Any]:
        """Make a request for a caller. Neither `params` nor the result carry metadata of this connection.

        Raises ServerError, QuestionDeclined where the client was not or could not be asked, Overdue, or TransportEnded.
        """
        with InFlight(counterpart, seconds, self._switchboard.turns, self._switchboard.calls) as call:
            if not self.modern:
                if (level := counterpart.log_level) is not None:
                    await self._log_for(call, level)
                said = {envelope.PROGRESS: call.token} if call.token else {}
                return await self._conversation.request(method, envelope.with_meta(params, said), call)
            headers = self._headers(method, params) if self._mirrored else None
            answer = await self._conversation.request(method, self._dressed(params, call), call, headers)
            if answer.get("resultType") == "input_required":
                answer = await self._further_rounds(method, params, answer, call)
            # Without the metadata of this connection, such as the server's name for itself.
            return envelope.bare_result(answer)

    async def _further_rounds(
        self, method: str, params: Mapping[str, Any], answer: Mapping[str, Any], call: InFlight
    ) -> dict[str, Any]:
        """Make a request again with the client's answers, for as long as the server answers it with questions."""
        for _ in range(MOST_ROUNDS - 1):
            dressed = self._dressed({**params, **await self._answered(method, answer, call)}, call)
            try:
                answer = await self._conversation.request(method, dressed, call, self._headers(method, params))
            except Unsent as error:
                # This round was not sent, but an earlier one was: the call may be executed, so it is no `Unsent`.
                raise TransportEnded(str(error)) from error
            if answer.get("resultType") != "input_required":
                return answer
        raise QuestionDeclined(Reason.UPSTREAM_REQUEST_EXCESSIVE)

    async def _answered(self, method: str, wanted: Mapping[str, Any], call: InFlight) -> dict[str, Any]:
        """Return what the next round adds to the parameters: the client's answers and the server's state."""
        asks = questions(method, wanted)
        if asks is None:
            raise ServerError({"code": INTERNAL_ERROR, "message": "the server sent malformed input requests"})
        more: dict[str, Any] = {"inputResponses": await call.ask(asks)} if asks else {}
        return more | ({STATE: wanted[STATE]} if STATE in wanted else {})

    def _dressed(self, params: Mapping[str, Any], call: InFlight) -> dict[str, Any]:
        counterpart = call.counterpart
        name = counterpart.name
        said: dict[str, Any] = {
            envelope.PROTOCOL: self.greeting.version,
            envelope.CLIENT: {**self._us, "name": f"{name}-through-proxy"} if name else dict(self._us),
            envelope.CAPABILITIES: dict(counterpart.capabilities),
        }
        if call.token:
            said[envelope.PROGRESS] = call.token
        if (level := counterpart.log_level) is not None:
            said[envelope.LOG_LEVEL] = level
        return envelope.with_meta(params, said)

    async def _log_for(self, call: InFlight, level: str) -> None:
        """Lower the server's log level if this call wants more. In this era the level holds for the whole connection.

        Callers with a higher level do not get the additional messages: the guard filters those later.
        """
        if "logging" not in self.greeting.capabilities or not envelope.less_severe(level, self._level):
            return
        # Noted before the answer: a second call meanwhile need not lower it again.
        self._level = level
        try:
            await self._conversation.request("logging/setLevel", {"level": level}, call)
        except ServerError as error:
            log.debug("upstream.level_refused", why=str(error))

    async def list_everything(self, bounds: ListingBounds) -> Listing:
        """Return everything that the server offers now."""
        found = replace(await list_everything(self._ask, self.greeting, bounds), artifact=self._conversation.artifact)
        if not self._in_headers:
            return found
        followed, mirrored = await to_thread.run_sync(_in_headers, found.tools, abandon_on_cancel=True)
        # Left out whole: a tool whose header and body can differ could be approved as one thing and run as another.
        tools = tuple(compress(found.tools, followed))
        if len(tools) < len(found.tools):
            first = visible(_name(found.tools[followed.index(False)])[:100])
            log.warning("upstream.left_out", tools=len(found.tools) - len(tools), first=first, why="x-mcp-header")
        # Replaced as a whole, with the listing that it came from.
        self._mirrored = mirrored
        return replace(found, tools=tools)

    @property
    def tells(self) -> bool:
        """Whether the server reports list changes on request. Before the modern revisions it does so without one."""
        return self.modern and bool(self._wanted())

    async def listen(self, standing: StandingRequest) -> None:
        """Listen for list changes until the server ends that. Raises ServerError or TransportEnded."""
        params = with_envelope({"notifications": self._wanted()}, self.greeting.version, self._us)
        await self._conversation.request("subscriptions/listen", params, standing)

    @property
    def subscribes(self) -> bool:
        """Whether the server offers subscriptions to resources."""
        resources = self.greeting.capabilities.get("resources")
        return isinstance(resources, dict) and resources.get("subscribe") is True

    async def subscribe(self, uri: str) -> None:
        """Subscribe to a resource, up to revision 2025-11-25. Raises ServerError or TransportEnded."""
        await self._ask("resources/subscribe", {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        await self._ask("resources/unsubscribe", {"uri": uri})

    async def watch(self, uris: Sequence[str], standing: StandingRequest) -> None:
        """Listen for changes to resources until the server ends that, from revision 2026-07-28 on.

        Raises ServerError or TransportEnded.
        """
        params = with_envelope({"notifications": {"resourceSubscriptions": [*uris]}}, self.greeting.version, self._us)
        await self._conversation.request("subscriptions/listen", params, standing)

    def _wanted(self) -> dict[str, bool]:
        has = self.greeting.capabilities
        said = {kind: has[kind].get("listChanged") for kind in LISTS if isinstance(has.get(kind), dict)}
        return {f"{kind}ListChanged": True for kind in LISTS if said.get(kind) is True}

    async def roots_changed(self) -> None:
        """Tell the server that a client's roots changed, where the era has such a message. Raises TransportEnded."""
        if not self.modern:
            await self._conversation.notify("notifications/roots/list_changed")

    @property
    def in_doubt(self) -> bool:
        """Whether the server may still be working on a cancelled call."""
        return self._conversation.in_doubt

    async def is_there(self) -> None:
        """Ping the server. Raises ServerError or TransportEnded."""
        await self._ask("server/discover" if self.modern else "ping", {})

    async def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if self.modern:
            params = with_envelope(params, self.greeting.version, self._us)
        return await self._conversation.request(method, dict(params) or None)

    def _headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str] | None:
        mirrored = self._mirrored.get(_name(params)) if method == "tools/call" else None
        arguments = params.get("arguments")
        return argument_headers(mirrored, arguments) if mirrored and isinstance(arguments, dict) else None


def _name(said: Mapping[str, Any]) -> str:
    """Return the name of a tool; empty where it has none, or one that is no text."""
    name = said.get("name")
    return name if isinstance(name, str) else ""


def _in_headers(tools: Sequence[Mapping[str, Any]]) -> tuple[list[bool], dict[str, HeaderMap]]:
    """Return which tools have a valid header mapping, and the mappings. Slow for large schemas: call it in a thread."""
    maps = [mirrored_arguments(tool.get("inputSchema")) for tool in tools]
    return [each is not None for each in maps], {
        _name(tool): each for tool, each in zip(tools, maps, strict=True) if each
    }
