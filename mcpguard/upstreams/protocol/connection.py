"""A server that has been connected to and agreed with: what can be asked of it.

Rules kept here:
1. Every request goes out in the revision that was agreed on.
2. Where arguments are repeated in headers, a tool whose schema asks for that in a way that cannot be followed is not
   offered at all: the protocol wants it so, as the two could be made to say different things.
3. A server that answers with questions to the client gets the answers, and no more often than a few times; whether they
   are asked is the counterpart's to decide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import structlog
from anyio import to_thread
from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map

from mcpguard.codec import envelope
from mcpguard.domain.asks import Declined
from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from mcpguard.domain.servers.listings import Listing
from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.conversation import INTERNAL_ERROR, Conversation, ServerError, StandingRequest
from mcpguard.upstreams.exchange.endings import Unsent
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.calls_in_flight import InFlight, Overdue
from mcpguard.upstreams.protocol.listing import ListingBounds, listing
from mcpguard.upstreams.protocol.negotiation import Greeting, stamped
from mcpguard.upstreams.protocol.questions import MOST_ROUNDS, STATE, questions
from mcpguard.upstreams.protocol.switchboard import Switchboard

LISTS = ("tools", "prompts", "resources")
HeaderMap = dict[tuple[str, ...], str]
log = structlog.get_logger("mcpguard.upstreams")


class Connection:
    """One upstream, connected. `in_headers`: whether its transport has headers to repeat arguments in."""

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
        """Ask on somebody's behalf. `params` carry nothing of their own leg; nor does what is returned.

        Raises ServerError with the server's error, Declined for what the client was asked, Overdue, or TransportEnded.
        """
        with self._switchboard.in_flight(counterpart, seconds) as call:
            return await (self._rounds if self.modern else self._handshaken)(method, params, call)
        raise Overdue

    async def _handshaken(self, method: str, params: Mapping[str, Any], call: InFlight) -> dict[str, Any]:
        await self._log_for(call)
        said = {envelope.PROGRESS: call.token} if call.counterpart.wants_progress else {}
        return await self._conversation.request(method, envelope.with_meta(params, said), call)

    async def _rounds(self, method: str, params: Mapping[str, Any], call: InFlight) -> dict[str, Any]:
        """The server may answer with questions; then the same is asked again, with the client's answers."""
        said = params
        for more in reversed(range(MOST_ROUNDS)):
            dressed = self._dressed(said, call)
            try:
                answer = await self._conversation.request(method, dressed, call, self._headers(method, params))
            except Unsent as error:
                if said is params:
                    raise
                raise TransportEnded(str(error)) from error  # this round was not sent, an earlier one was
            if answer.get("resultType") != "input_required":
                return envelope.bare_result(answer)
            if not more:
                break
            said = {**params, **await self._answered(method, answer, call)}
        raise Declined(Reason.UPSTREAM_REQUEST_EXCESSIVE)

    async def _answered(self, method: str, wanted: Mapping[str, Any], call: InFlight) -> dict[str, Any]:
        """What the next round carries more than the first."""
        asks = questions(method, wanted)
        if asks is None:
            raise ServerError({"code": INTERNAL_ERROR, "message": "the server asked in a way that nobody can answer"})
        more: dict[str, Any] = {"inputResponses": await call.ask(asks)} if asks else {}
        return more | ({STATE: wanted[STATE]} if STATE in wanted else {})

    def _dressed(self, params: Mapping[str, Any], call: InFlight) -> dict[str, Any]:
        counterpart = call.counterpart
        said: dict[str, Any] = {envelope.CAPABILITIES: dict(counterpart.capabilities)}
        if counterpart.wants_progress:
            said[envelope.PROGRESS] = call.token
        if counterpart.log_level is not None:
            said[envelope.LOG_LEVEL] = counterpart.log_level
        us = {**self._us, "name": f"{counterpart.name}-through-proxy"} if counterpart.name else self._us
        return stamped(params, self.greeting.version, us, **said)

    async def _log_for(self, call: InFlight) -> None:
        """A handshake's level holds for everyone who uses the connection: it is lowered for whoever wants to see more.

        What the others did not want is kept from them further on.
        """
        level = call.counterpart.log_level
        if level is None or "logging" not in self.greeting.capabilities or not envelope.less_severe(level, self._level):
            return
        self._level = level
        try:
            await self._conversation.request("logging/setLevel", {"level": level}, call)
        except ServerError as error:
            log.debug("upstream.level_refused", why=str(error))

    async def listed(self, bounds: ListingBounds) -> Listing:
        """Everything the server offers now."""
        found = replace(await listing(self._ask, self.greeting, bounds), artifact=self._conversation.artifact)
        if not self._in_headers:
            return found
        followed, mirrored = await to_thread.run_sync(_in_headers, found.tools, abandon_on_cancel=True)
        tools = tuple(compress(found.tools, followed))
        if len(tools) < len(found.tools):
            first = visible(_name(found.tools[followed.index(False)])[:100])
            log.warning("upstream.left_out", tools=len(found.tools) - len(tools), first=first, why="x-mcp-header")
        self._mirrored = mirrored
        return replace(found, tools=tools)

    @property
    def tells(self) -> bool:
        """Whether it tells of changes to those who have asked for it. Before the modern revisions it told anyway."""
        return self.modern and bool(self._wanted())

    async def listen(self, standing: StandingRequest) -> None:
        """Be told of changes, until the server ends that. Raises what asking raises."""
        params = stamped({"notifications": self._wanted()}, self.greeting.version, self._us)
        await self._conversation.request("subscriptions/listen", params, standing)

    @property
    def subscribes(self) -> bool:
        """Whether it offers to tell of changes to a resource."""
        resources = self.greeting.capabilities.get("resources")
        return isinstance(resources, dict) and resources.get("subscribe") is True

    async def subscribe(self, uri: str) -> None:
        """Up to 2025-11-25. Raises what asking raises."""
        await self._ask("resources/subscribe", {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        await self._ask("resources/unsubscribe", {"uri": uri})

    async def watch(self, uris: Sequence[str], standing: StandingRequest) -> None:
        """From 2026-07-28 on: be told of changes to these, until the server ends that. Raises what asking raises."""
        params = stamped({"notifications": {"resourceSubscriptions": [*uris]}}, self.greeting.version, self._us)
        await self._conversation.request("subscriptions/listen", params, standing)

    def _wanted(self) -> dict[str, bool]:
        has = self.greeting.capabilities
        said = {kind: has[kind].get("listChanged") for kind in LISTS if isinstance(has.get(kind), dict)}
        return {f"{kind}ListChanged": True for kind in LISTS if said.get(kind) is True}

    async def roots_changed(self) -> None:
        """Say that a client has other roots now, where the server can be told. Raises TransportEnded."""
        if not self.modern:
            await self._conversation.notify("notifications/roots/list_changed")

    @property
    def in_doubt(self) -> bool:
        """Whether the server may still be at a call that was taken back."""
        return self._conversation.in_doubt

    async def is_there(self) -> None:
        """Returns when the server has shown that it lives. Raises what asking raises."""
        await self._ask("server/discover" if self.modern else "ping", {})

    async def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if self.modern:
            params = stamped(params, self.greeting.version, self._us)
        return await self._conversation.request(method, dict(params) or None)

    def _headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str] | None:
        mirrored = self._mirrored.get(_name(params)) if method == "tools/call" else None
        arguments = params.get("arguments")
        return mcp_param_headers(mirrored, arguments) if mirrored and isinstance(arguments, dict) else None


def _name(said: Mapping[str, Any]) -> str:
    """Of a tool; empty where it has none that could be one."""
    name = said.get("name")
    return name if isinstance(name, str) else ""


def _in_headers(tools: Sequence[Mapping[str, Any]]) -> tuple[list[bool], dict[str, HeaderMap]]:
    """Which of them ask for it in a way that can be followed, and how. Where schemas are large it takes long."""
    followed = [find_invalid_x_mcp_header(tool.get("inputSchema")) is None for tool in tools]
    maps = ((tool, x_mcp_header_map(tool.get("inputSchema"))) for tool in compress(tools, followed))
    return followed, {_name(tool): headers for tool, headers in maps if headers}
