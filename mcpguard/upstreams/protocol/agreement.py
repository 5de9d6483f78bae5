"""What the guard says when it agrees on a revision with a server, and what the server calls itself."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from mcpguard.domain.asks import AskKind
from mcpguard.text.visible import visible
from mcpguard.upstreams.protocol.negotiation import Us

_SAID: Final[Mapping[AskKind, Mapping[str, Any]]] = {
    AskKind.ROOTS: {"listChanged": True},
    AskKind.ELICITATION: {"form": {}},
}
"""What a handshake says of a kind. It is said once for all clients, so it is what the most of them can do."""


def us(info: Mapping[str, Any], may_ask: Collection[AskKind]) -> Us:
    """What is said in a handshake with a server that may ask for this."""
    return Us(info, {kind.value: dict(_SAID.get(kind, {})) for kind in sorted(may_ask)})


def called(server: Mapping[str, Any]) -> str:
    """What a server calls itself."""
    said = (server.get(key) for key in ("name", "version"))
    return visible(" ".join(text[:100] for text in said if isinstance(text, str)).strip())
