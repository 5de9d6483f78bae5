"""What a server sends without being asked, and whom it reaches.

Rules kept here:
1. Progress reaches the call whose token it names, and no other; the token is ours, so no server can guess another's.
2. What belongs to a call reaches that call's client. Where it cannot be known to which call it belongs, nobody gets it.
3. A request of a server is refused unless it asks whether we are there.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcpguard.codec.envelope import PROGRESS
from mcpguard.domain.counterpart import Counterpart
from mcpguard.domain.reasons import Reason
from mcpguard.upstreams.conversation import METHOD_NOT_FOUND, Origin, Params, Refused, Standing

DENIED = -31010
_SERVERS_ASK = frozenset({"roots/list", "sampling/createMessage", "elicitation/create"})
_LIST_CHANGED = frozenset(f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts"))


@dataclass(frozen=True, slots=True, eq=False)
class InFlight:
    """A call that a server is working on."""

    counterpart: Counterpart
    token: str = field(default_factory=lambda: secrets.token_urlsafe(12))


class Switchboard:
    """The incoming side of one connection."""

    def __init__(
        self, on_list_changed: Callable[[], None], on_updated: Callable[[object], None] = lambda _: None
    ) -> None:
        self._on_list_changed = on_list_changed
        self._on_updated = on_updated
        self._calls: dict[str, InFlight] = {}

    def begin(self, counterpart: Counterpart) -> InFlight:
        call = InFlight(counterpart)
        self._calls[call.token] = call
        return call

    def end(self, call: InFlight) -> None:
        self._calls.pop(call.token, None)

    def told(self, method: str, params: Params, origin: Origin | None) -> None:
        """A notification."""
        if method in _LIST_CHANGED:
            self._on_list_changed()
        elif method == "notifications/resources/updated":
            self._on_updated((params or {}).get("uri"))
        elif method == "notifications/subscriptions/acknowledged" and isinstance(origin, Standing):
            origin.acknowledge(params)
        elif method == "notifications/progress":
            self._progress(params or {})
        elif method == "notifications/message" and isinstance(origin, InFlight) and origin.token in self._calls:
            origin.counterpart.log(params or {})

    async def asked(self, method: str, _params: Params, _origin: Origin | None) -> dict[str, Any]:
        """A request."""
        if method == "ping":
            return {}
        if method in _SERVERS_ASK:
            raise Refused(DENIED, Reason.UPSTREAM_REQUEST_DENIED.sentence)
        raise Refused(METHOD_NOT_FOUND, "there is no such method here")

    def _progress(self, params: dict[str, Any]) -> None:
        token = params.get(PROGRESS)
        call = self._calls.get(token) if isinstance(token, str) else None
        if call is not None:
            call.counterpart.progress({key: value for key, value in params.items() if key != PROGRESS})
