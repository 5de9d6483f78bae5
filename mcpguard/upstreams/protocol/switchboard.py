"""Routes unsolicited messages from a server to the call that they belong to.

Rules kept here:
1. Progress is delivered only to the call whose token it names. Tokens are random, so no server can guess one.
2. A message that belongs to a call is delivered to that call's client. One that cannot be attributed is delivered to no
   client.
3. A request from a server is refused unless it is a ping, or a question to the client of the call that it belongs to;
   the call's `Counterpart` decides whether the client is asked. If a server that may ask questions asks one that could
   belong to several calls, it gets only one call at a time from then on.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import structlog

from mcpguard.codec.envelope import PROGRESS
from mcpguard.domain.asks import KINDS, Ask, QuestionDeclined
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.reasons import Reason
from mcpguard.upstreams.exchange.conversation import (
    DENIED,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Origin,
    Params,
    RefusedRequest,
    StandingRequest,
)
from mcpguard.upstreams.protocol.calls_in_flight import CallSlots, InFlight

_LIST_CHANGED: Final[Mapping[str, frozenset[CapabilityKind]]] = {
    "notifications/tools/list_changed": frozenset({CapabilityKind.TOOL}),
    "notifications/resources/list_changed": frozenset({CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE}),
    "notifications/prompts/list_changed": frozenset({CapabilityKind.PROMPT}),
}
_CODES = {Reason.CLIENT_UNABLE: METHOD_NOT_FOUND, Reason.CLIENT_UNANSWERED: INTERNAL_ERROR}
_NAMELESS = ""
log = structlog.get_logger("mcpguard.upstreams")


class Switchboard:
    """Handles the incoming messages of one connection. `calls` holds the calls in progress on it."""

    def __init__(
        self,
        server: str,
        turns: CallSlots,
        on_list_changed: Callable[[frozenset[CapabilityKind]], None],
        on_updated: Callable[[object], None] = lambda _: None,
        on_unclear: Callable[[], None] = lambda: None,
        *,
        may_ask: bool = False,
    ) -> None:
        self._server = server
        self.turns = turns
        self._may_ask = may_ask
        self._on_list_changed = on_list_changed
        self._on_updated = on_updated
        self._on_unclear = on_unclear
        self.calls: dict[object, InFlight] = {}
        self._unattributed: set[str] = set()

    async def idle(self) -> None:
        """Return once no call is in progress."""
        while self.calls:
            await next(iter(self.calls.values())).wait_until_over()

    def take_notification(self, method: str, params: Params, origin: Origin | None) -> None:
        """Handle a notification of the server."""
        if method in _LIST_CHANGED:
            self._on_list_changed(_LIST_CHANGED[method])
        # Any text: whether somebody has subscribed to this resource is decided in `watching`.
        elif method == "notifications/resources/updated":
            self._on_updated((params or {}).get("uri"))
        elif method == "notifications/subscriptions/acknowledged" and isinstance(origin, StandingRequest):
            origin.acknowledge(params)
        elif method == "notifications/progress":
            self._progress(params or {})
        # A log message that belongs to no running call is dropped: it could contain another caller's data.
        elif method == "notifications/message" and (call := self._running(origin)) is not None:
            call.counterpart.log(params or {})

    async def answer_request(self, method: str, params: Params, origin: Origin | None) -> dict[str, Any]:
        """Answer a request of the server. Raises RefusedRequest."""
        if method == "ping":
            return {}
        if method not in KINDS:
            raise RefusedRequest({"code": METHOD_NOT_FOUND, "message": "method not found"})
        # Refused even with one caller: a question without a call could be answered by a user who did not start
        # anything.
        if (call := self._running(origin)) is None:
            if self._may_ask and self.calls:
                self.turns.limit(1)  # with one call at a time, the next question can be attributed
                self._on_unclear()
            if method not in self._unattributed:  # logged once: a server may repeat it without end
                self._unattributed.add(method)
                log.info("upstream.unattributed", server=self._server, asks=method)
            raise RefusedRequest({"code": DENIED, "message": "this request cannot be attributed to a call"})
        try:
            return (await call.ask({_NAMELESS: Ask(method, params or {})}))[_NAMELESS]
        except QuestionDeclined as declined:
            code = _CODES.get(declined.reason, DENIED)
            raise RefusedRequest(declined.error or {"code": code, "message": str(declined)}) from declined

    def _running(self, origin: Origin | None) -> InFlight | None:
        return self.calls.get(origin.key) if isinstance(origin, InFlight) else None

    def _progress(self, params: dict[str, Any]) -> None:
        token = params.get(PROGRESS)
        call = self.calls.get(token) if isinstance(token, str) else None
        if call is not None:
            # Without the token: it belongs to this connection, and the client has one of its own.
            call.counterpart.progress({key: value for key, value in params.items() if key != PROGRESS})
